// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "feedrate/machine/energy.hpp"
#include "feedrate/train/cpu/make_step.hpp"
#include "feedrate/tune/objective/objectives.hpp"
#include "plan/plan_against.hpp"
#include "plan/plan_gpu.hpp"
#include "request/applicable.hpp"
#include "request/constraints.hpp"
#include "request/search_options.hpp"

namespace feedrate {
namespace {

/// 0, 1, 2, 4, ... up to and with the number of CPUs.
std::vector<int> default_workers(int cpus) {
  std::vector<int> workers = {0};
  for (int n = 1; n < cpus; n *= 2) workers.push_back(n);
  workers.push_back(cpus);
  return workers;
}

std::vector<int> default_step_threads(int cpus) {
  return cpus == 1 ? std::vector<int>{1} : std::vector<int>{cpus / 2, cpus};
}

/// An objective needs what it is made of.
void check_objective(const std::string& objective, const TuneRequest& request,
                     const TrainingDevice& device) {
  const Needs needs = objective_named(objective).needs;
  if (needs == Needs::peak && !request.measure_card && !device.gpu) {
    throw Error(Fault::usage, "--objective " + objective +
                                  " compares with the machine card: leave --no-card out.");
  }
  if (needs != Needs::energy) return;
  const EnergyMeter meter = device.gpu ? gpu_energy(device.gpu->facts.uuid) : cpu_energy();
  if (meter.works()) return;
  throw Error(Fault::usage, "--objective " + objective + " can't be measured here, " +
                                meter.why_not + ": choose another objective.");
}

/// The values of --allow numerics where none are given, else the reference's own.
std::vector<Precision> default_precisions(const TuneOptions& plan) {
  if (!contains(plan.allowed, Tier::numerics)) return {plan.reference.precision};
  return {Precision::fp32, Precision::bf16};
}

void plan_axes(TuneOptions& plan, const TuneRequest& request, int cpus,
               const std::vector<int>& batches) {
  Space& space = plan.space;
  const std::optional<int> most = request.constraints.max_workers;
  space.workers = default_workers(most.value_or(cpus));
  space.prefetch = {1, 4};
  space.step_threads = default_step_threads(cpus);
  space.precision = default_precisions(plan);
  space.batch =
      may_change_batch(plan) && !batches.empty() ? batches : std::vector{plan.reference.batch};
  space.workers_may_grow = !request.axes.has(&Config::workers) && !most;
  request.axes.put_into(space);
}

void plan_cpu(TuneOptions& plan) {
  keep_defaults(plan, [](const auto& axis) { return axis.not_on_cpu; });
  keep_applicable(plan, "precision", plan.space.precision, "the cpu device has fp32 and bf16",
                  cpu_supports);
}

void drop_beyond_dataset(TuneOptions& plan, std::size_t samples, std::size_t left_out) {
  const std::string count = std::to_string(samples);
  const std::string why =
      left_out == 0
          ? "the dataset has " + count + " samples"
          : "the trials use " + count + " of the dataset's " + std::to_string(samples + left_out) +
                " samples: those that were read in 10 s, or fit into half of the free memory";
  keep_applicable(plan, "batch", plan.space.batch, why,
                  [&](int batch) { return static_cast<std::size_t>(batch) <= samples; });
}

/// On a GPU the rows of a batch's activations are counted in 31 bits.
void drop_beyond_step(TuneOptions& plan, std::size_t most) {
  keep_applicable(
      plan, "batch", plan.space.batch,
      "a step of this model on the GPU takes batches of up to " + std::to_string(most) + " samples",
      [&](int batch) { return static_cast<std::size_t>(batch) <= most; });
}

/// An emulated device knows the time of one batch, and nothing of threads and number formats.
void plan_emulated(TuneOptions& plan, const TuneRequest& request, const Accelerator& accelerator) {
  Space& space = plan.space;
  const Needs needs = objective_named(plan.objective).needs;
  if (needs == Needs::peak || needs == Needs::energy) {
    throw Error(Fault::usage,
                "An emulated device computes nothing and uses no energy: choose "
                "--objective utilization, throughput or busy.");
  }
  if (!request.axes.has(&Config::batch)) space.batch = {accelerator.batch};
  if (!request.axes.has(&Config::step_threads)) space.step_threads = {1};
  if (!request.axes.has(&Config::precision)) space.precision = {Precision::fp32};
  keep_applicable(
      plan, "batch", space.batch,
      "the emulated step is known for batches of " + std::to_string(accelerator.batch) + " alone",
      [&](int batch) { return batch == accelerator.batch; });
  keep_defaults(plan, [](const auto& axis) { return axis.not_emulated; });
  plan.reference.batch = accelerator.batch;
}

/// What the device can do, and does by default.
void plan_device(TuneOptions& plan, const TuneRequest& request, const TrainingDevice& device,
                 const PlannedWorkload& workload) {
  keep_defaults(plan, [](const auto& axis) { return axis.not_built_in; });
  if (device.accelerator) return plan_emulated(plan, request, *device.accelerator);
  if (!device.gpu) return plan_cpu(plan);
  plan_gpu(plan, request, device.gpu->facts, workload);
  if (!request.axes.has(&Config::batch) && may_change_batch(plan) && !workload.batches.empty()) {
    plan.space.batch = thinned_batches(workload.batches, plan.reference.batch);
  }
}

/// What gains are measured against without --against: what frameworks do when told nothing, and
/// what the user fixed to one value, but no workers and no prefetch even then.
void plan_reference(TuneOptions& plan, const TuneRequest& request, bool is_cpu, int cpus) {
  Config& reference = plan.reference;
  const auto [workers, prefetch] = std::pair(reference.workers, reference.prefetch);
  if (is_cpu) reference.step_threads = cpus;
  for_each_axis_of(plan.space, [&](const auto& axis, const auto& values) {
    const bool is_fixed = request.axes.has(axis.field) && values.size() == 1;
    if (is_fixed) reference.*axis.field = values.front();
  });
  reference.workers = workers;
  reference.prefetch = prefetch;
  if (plan.space.effective_batch > 0) {
    reference.accumulate = plan.space.effective_batch / reference.batch;
  }
}

/// All that does not depend on the device.
TuneOptions search_of(const TuneRequest& request, const Limits& limits) {
  const SearchRequest& search = request.search;
  TuneOptions plan;
  plan.allowed = search.allowed.value_or(plan.allowed);
  plan.objective = search.objective;
  plan.wider_gain = search.wider_gain.value_or(plan.wider_gain);
  plan.search = search.strategy.value_or(plan.search);
  plan.budget_s = budget_or(search.budget_s, plan.budget_s, 0.05,
                            "shorter than one trial, which takes 50ms at least");
  plan.seed = search.seed;
  plan.cores = limits.cpus.cores();
  return plan;
}

void refuse_device_memory(const TuneRequest& request, const TrainingDevice& device) {
  if (!request.constraints.max_device_memory_bytes || device.gpu) return;
  throw Error(Fault::usage,
              "--max-device-memory is about a GPU's memory, and none trains here: leave it out, or "
              "write --max-memory.");
}

}  // namespace

TuneOptions plan_sweep(const TuneRequest& request, const Limits& limits,
                       const TrainingDevice& device, const PlannedWorkload& workload) {
  const int cpus = limits.cpus.usable;
  const Constraints& constraints = request.constraints;
  TuneOptions plan = search_of(request, limits);
  refuse_device_memory(request, device);
  plan.space.effective_batch = constraints.effective_batch.value_or(0);
  plan.reference.batch =
      reference_batch(constraints, plan.reference.batch, workload.samples.value_or(most_batch));
  const auto against = reference_against(request, limits, device, workload);
  plan.reference = against.value_or(plan.reference);
  plan_axes(plan, request, cpus, workload.batches);
  if (against) keep_against(plan, constraints);
  if (device.gpu) {
    limit_device_memory(plan, constraints.max_device_memory_bytes, workload.device_free_bytes);
  }
  plan_device(plan, request, device, workload);
  check_objective(plan.objective, request, device);
  if (device.gpu) drop_beyond_step(plan, workload.largest_batch);
  if (workload.samples) drop_beyond_dataset(plan, *workload.samples, workload.left_out);
  constrain(plan, constraints);
  if (limits.memory.free_bytes > 0) {
    plan.max_memory_bytes = std::min(plan.max_memory_bytes, limits.memory.free_bytes);
  }
  plan_reference(plan, request, device.is_cpu(), cpus);
  plan.reference = against.value_or(plan.reference);
  drop_forbidden(plan);
  if (device.gpu && !request.axes.has(&Config::workers)) thin_workers(plan);
  return plan;
}

void add_peaks(TuneOptions& plan, const std::map<Precision, double>& flops_per_s) {
  if (objective_named(plan.objective).needs != Needs::peak) return;
  plan.peak_flops_per_s = flops_per_s;
  const auto known = [&](Precision precision) { return plan.peak_flops_per_s.contains(precision); };
  keep_applicable(plan, "precision", plan.space.precision,
                  "no product rate was measured to compare with", known);
  if (known(plan.reference.precision)) return;
  throw Error(Fault::usage, "--objective " + plan.objective + " has no product rate of " +
                                std::string(name_of(plan.reference.precision)) +
                                " to compare the reference with: choose another objective.");
}

}  // namespace feedrate
