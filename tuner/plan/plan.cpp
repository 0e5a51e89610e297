// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "feedrate/machine/energy.hpp"
#include "feedrate/train/cpu/make_step.hpp"
#include "plan/plan_gpu.hpp"
#include "request/against.hpp"
#include "request/applicable.hpp"
#include "request/axes.hpp"
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
void check_objective(Objective objective, const SweepOptions& options,
                     const TrainingDevice& device) {
  if (objective == Objective::mfu && options.no_card && !device.gpu) {
    throw Error(Fault::usage,
                "--objective mfu compares with the machine card: leave --no-card out.");
  }
  if (objective != Objective::samples_per_joule) return;
  const EnergyMeter meter = device.gpu ? gpu_energy(device.gpu->facts.uuid) : cpu_energy();
  if (meter.works()) return;
  throw Error(Fault::usage, "--objective samples_per_joule can't be measured here, " +
                                meter.why_not + ": choose another objective.");
}

/// The values of --allow numerics where nothing was written, else the reference's own.
std::vector<Precision> default_precisions(const TuneOptions& plan) {
  if (!contains(plan.allowed, Tier::numerics)) return {plan.reference.precision};
  return {Precision::fp32, Precision::bf16};
}

void plan_axes(TuneOptions& plan, const SweepOptions& options, const Constraints& constraints,
               int cpus, const std::vector<int>& batches) {
  Space& space = plan.space;
  const int most = constraints.max_workers;
  space.workers = default_workers(most > 0 ? most : cpus);
  space.prefetch = {1, 4};
  space.step_threads = default_step_threads(cpus);
  space.precision = default_precisions(plan);
  space.batch = may_change_batch(plan) ? batches : std::vector{plan.reference.batch};
  space.workers_may_grow = options.axes[&Config::workers].empty() && most == 0;
  read_values(options.axes, space);
}

void plan_cpu(TuneOptions& plan) {
  keep_defaults(plan, [](const auto& axis) { return axis.not_on_cpu; });
  keep_applicable(plan, "precision", plan.space.precision, "the cpu device has fp32 and bf16",
                  cpu_supports);
}

void drop_beyond_dataset(TuneOptions& plan, std::size_t samples) {
  keep_applicable(plan, "batch", plan.space.batch,
                  "the dataset has " + std::to_string(samples) + " samples",
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
void plan_emulated(TuneOptions& plan, const SweepOptions& options, const Accelerator& accelerator) {
  Space& space = plan.space;
  if (plan.objective == Objective::mfu || plan.objective == Objective::samples_per_joule) {
    throw Error(Fault::usage,
                "An emulated device computes nothing and uses no energy: choose "
                "--objective utilization, throughput or busy.");
  }
  if (options.axes[&Config::batch].empty()) space.batch = {accelerator.batch};
  if (options.axes[&Config::step_threads].empty()) space.step_threads = {1};
  if (options.axes[&Config::precision].empty()) space.precision = {Precision::fp32};
  keep_applicable(
      plan, "batch", space.batch,
      "the emulated step is known for batches of " + std::to_string(accelerator.batch) + " alone",
      [&](int batch) { return batch == accelerator.batch; });
  keep_defaults(plan, [](const auto& axis) { return axis.not_emulated; });
  plan.reference.batch = accelerator.batch;
}

/// What the device can do, and does by default.
void plan_device(TuneOptions& plan, const SweepOptions& options, const TrainingDevice& device,
                 const PlannedWorkload& workload) {
  if (device.accelerator) return plan_emulated(plan, options, *device.accelerator);
  if (!device.gpu) return plan_cpu(plan);
  plan_gpu(plan, options, device.gpu->facts, workload);
  if (options.axes[&Config::batch].empty() && may_change_batch(plan)) {
    plan.space.batch = thinned_batches(workload.batches, plan.reference.batch);
  }
}

/// What gains are measured against without --against: what frameworks do when told nothing, and
/// what the user fixed to one value, but no workers and no prefetch even then.
void plan_reference(TuneOptions& plan, const SweepOptions& options, bool is_cpu, int cpus) {
  Config& reference = plan.reference;
  const auto [workers, prefetch] = std::pair(reference.workers, reference.prefetch);
  if (is_cpu) reference.step_threads = cpus;
  for_each_axis_of(plan.space, [&](const auto& axis, const auto& values) {
    const bool is_fixed = !options.axes.at(axis.name).empty() && values.size() == 1;
    if (is_fixed) reference.*axis.field = values.front();
  });
  reference.workers = workers;
  reference.prefetch = prefetch;
  if (plan.space.effective_batch > 0) {
    reference.accumulate = plan.space.effective_batch / reference.batch;
  }
}

/// All that does not depend on the device.
TuneOptions wishes_of(const SweepOptions& options, const Limits& limits) {
  TuneOptions plan;
  plan.allowed = parse_tiers(options.allow, plan.allowed);
  plan.objective = parse_objective(options.objective);
  plan.wider_gain = parse_wider_gain(options.wider_gain, plan.wider_gain);
  plan.search = parse_search(options.search, plan.search);
  plan.budget_s = parse_budget(options.budget, plan.budget_s, 0.05,
                               "shorter than one trial, which takes 50ms at least");
  plan.seed = options.seed;
  plan.cores = limits.cpus.cores();
  return plan;
}

void refuse_device_memory(const SweepOptions& options, const TrainingDevice& device) {
  if (options.max_device_memory.empty() || device.gpu) return;
  throw Error(Fault::usage,
              "--max-device-memory is about a GPU's memory, and none trains here: leave it out, or "
              "write --max-memory.");
}

/// The reference that --against asks for, empty without it: that of a sweep over its values alone,
/// so that they are checked as every value is.
std::optional<Config> reference_against(const SweepOptions& options, const Limits& limits,
                                        const TrainingDevice& device,
                                        const PlannedWorkload& workload) {
  if (options.against.empty()) return std::nullopt;
  const Against against =
      parse_against(options.against, parse_constraints(options).effective_batch);
  try {
    Config reference = plan_sweep(fixed_to(against, options), limits, device, workload).reference;
    if (against.names("workers")) reference.workers = against.values.workers;
    if (against.names("prefetch")) reference.prefetch = against.values.prefetch;
    return reference;
  } catch (const NoneApplicable& error) {
    const NotApplicable& value = error.last();
    if (!against.names(value.axis)) throw;
    throw Error(Fault::usage, "--against " + value.axis + "=" + value.value +
                                  " can't be run: " + value.why + "; choose another value.");
  }
}

template <class T>
void add_value(std::vector<T>& values, T value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// What --allow leaves out keeps the value of --against, whatever its axis names.
void keep_against(TuneOptions& plan, const Constraints& constraints) {
  const int batch = plan.reference.batch;
  if (!contains(plan.allowed, Tier::numerics)) {
    add_value(plan.space.precision, plan.reference.precision);
  }
  if (may_change_batch(plan)) return;
  add_value(plan.space.batch, batch);
  if (constraints.max_batch == 0 || batch <= constraints.max_batch) return;
  throw Error(Fault::usage, "--max-batch " + std::to_string(constraints.max_batch) +
                                " is below the batch of --against, " + std::to_string(batch) +
                                ", which --allow keeps: raise it, or allow training.");
}

}  // namespace

TuneOptions plan_sweep(const SweepOptions& options, const Limits& limits,
                       const TrainingDevice& device, const PlannedWorkload& workload) {
  const int cpus = limits.cpus.usable;
  TuneOptions plan = wishes_of(options, limits);
  refuse_device_memory(options, device);
  const Constraints constraints = parse_constraints(options);
  plan.space.effective_batch = constraints.effective_batch;
  plan.reference.batch = reference_batch(constraints, plan.reference.batch, workload.samples);
  const auto against = reference_against(options, limits, device, workload);
  plan.reference = against.value_or(plan.reference);
  plan_axes(plan, options, constraints, cpus, workload.batches);
  if (against) keep_against(plan, constraints);
  if (device.gpu) {
    limit_device_memory(plan, constraints.max_device_memory_bytes, workload.device_free_bytes);
  }
  plan_device(plan, options, device, workload);
  check_objective(plan.objective, options, device);
  if (device.gpu) drop_beyond_step(plan, workload.largest_batch);
  drop_beyond_dataset(plan, workload.samples);
  constrain(plan, constraints);
  if (limits.memory.free_bytes > 0) {
    plan.max_memory_bytes = std::min(plan.max_memory_bytes, limits.memory.free_bytes);
  }
  plan_reference(plan, options, device.is_cpu(), cpus);
  plan.reference = against.value_or(plan.reference);
  drop_forbidden(plan);
  if (device.gpu && options.axes[&Config::workers].empty()) thin_workers(plan);
  return plan;
}

void add_peaks(TuneOptions& plan, const std::map<Precision, double>& flops_per_s) {
  if (plan.objective != Objective::mfu) return;
  plan.peak_flops_per_s = flops_per_s;
  const auto known = [&](Precision precision) { return plan.peak_flops_per_s.contains(precision); };
  keep_applicable(plan, "precision", plan.space.precision,
                  "no product rate was measured to compare with", known);
  if (known(plan.reference.precision)) return;
  throw Error(Fault::usage, "--objective mfu has no product rate of " +
                                std::string(name_of(plan.reference.precision)) +
                                " to compare the reference with: choose another objective.");
}

void check_early(const SweepOptions& options, const Limits& limits, const TrainingDevice& device) {
  PlannedWorkload any{.batches = {1}, .samples = std::size_t{1} << 30, .pixels = true};
  while (any.batches.back() < most_batch) any.batches.push_back(2 * any.batches.back());
  plan_sweep(options, limits, device, any);
  const bool images = !options.data.empty() || options.workload == "images";
  if (options.dct_scaling && !images) {
    throw Error(Fault::usage, "--dct-scaling goes with JPEG files: leave it out.");
  }
  if (options.sample_cost.empty() && options.cost.empty()) return;
  if (!options.data.empty() || options.workload != "tabular") {
    throw Error(Fault::usage,
                "--sample-cost and --cost go with --workload tabular: leave them out.");
  }
}

}  // namespace feedrate
