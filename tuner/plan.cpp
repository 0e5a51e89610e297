// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "applicable.hpp"
#include "axes.hpp"
#include "constraints.hpp"
#include "device.hpp"
#include "feedrate/measure/energy.hpp"
#include "feedrate/train/make_step.hpp"
#include "wishes.hpp"

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
void check_objective(Objective objective, const SweepOptions& options) {
  if (objective == Objective::mfu && options.no_card) {
    throw Error(Fault::usage,
                "--objective mfu compares with the machine card: leave --no-card out.");
  }
  if (objective != Objective::samples_per_joule) return;
  const EnergyMeter meter = cpu_energy();
  if (meter.works()) return;
  throw Error(Fault::usage, "--objective samples_per_joule can't be measured here, " +
                                meter.why_not + ": choose another objective.");
}

/// Whether other batches than the reference's may be recommended.
bool may_change_batch(const TuneOptions& plan) {
  const bool accumulates = plan.space.effective_batch > 0;
  return contains(plan.allowed, accumulates ? Tier::numerics : Tier::training) ||
         contains(plan.allowed, Tier::training);
}

/// The one value that the user fixed, else what frameworks do when told nothing.
template <class T>
T reference_value(const std::vector<T>& values, bool given, T framework_default) {
  return given && values.size() == 1 ? values.front() : framework_default;
}

void plan_axes(TuneOptions& plan, const SweepOptions& options, const Constraints& constraints,
               int cpus, const std::vector<int>& batches) {
  Space& space = plan.space;
  const int most = constraints.max_workers;
  space.workers =
      integers_or("--workers", options.workers, 0, 1024, default_workers(most > 0 ? most : cpus));
  space.prefetch = integers_or("--prefetch", options.prefetch, 1, 1024, {1, 4});
  space.batch = integers_or("--batch", options.batch, 1, 1 << 20,
                            may_change_batch(plan) ? batches : std::vector{plan.reference.batch});
  space.step_threads =
      integers_or("--step-threads", options.step_threads, 1, 1024, default_step_threads(cpus));
  space.workers_may_grow = options.workers.empty() && most == 0;
  const std::string precisions = contains(plan.allowed, Tier::numerics) ? "fp32,bf16" : "fp32";
  space.precision =
      parse_precisions("--precision", options.precision.empty() ? precisions : options.precision);
  space.pinned = parse_switches("--pinned", options.pinned.empty() ? "off" : options.pinned);
}

void drop_inapplicable(TuneOptions& plan, std::size_t samples) {
  Space& space = plan.space;
  keep_applicable(plan, "pinned", space.pinned, "the cpu device reads batches where they lie",
                  [](bool pinned) { return !pinned; });
  keep_applicable(plan, "precision", space.precision, "the cpu device has fp32 and bf16",
                  cpu_supports);
  keep_applicable(plan, "batch", space.batch,
                  "the dataset has " + std::to_string(samples) + " samples",
                  [&](int batch) { return static_cast<std::size_t>(batch) <= samples; });
}

/// An emulated device knows the time of one batch, and nothing of threads and number formats.
void plan_emulated(TuneOptions& plan, const SweepOptions& options, const Accelerator& accelerator) {
  Space& space = plan.space;
  if (plan.objective == Objective::mfu || plan.objective == Objective::samples_per_joule) {
    throw Error(Fault::usage,
                "An emulated device computes nothing and uses no energy: choose "
                "--objective utilization, throughput or busy.");
  }
  if (options.batch.empty()) space.batch = {accelerator.batch};
  if (options.step_threads.empty()) space.step_threads = {1};
  if (options.precision.empty()) space.precision = {Precision::fp32};
  keep_applicable(
      plan, "batch", space.batch,
      "the emulated step is known for batches of " + std::to_string(accelerator.batch) + " alone",
      [&](int batch) { return batch == accelerator.batch; });
  keep_applicable(plan, "step_threads", space.step_threads,
                  "an emulated step uses no thread of this host",
                  [](int threads) { return threads == 1; });
  keep_applicable(plan, "precision", space.precision,
                  "an emulated step has no number format, fp32 stands for it",
                  [](Precision precision) { return precision == Precision::fp32; });
  keep_applicable(plan, "pinned", space.pinned, "an emulated device copies nothing",
                  [](bool pinned) { return !pinned; });
  plan.reference.batch = accelerator.batch;
}

/// Values beyond the tiers that may change are left out, and that is said.
void drop_forbidden(TuneOptions& plan) {
  const Config& reference = plan.reference;
  Space& space = plan.space;
  if (!may_change_batch(plan)) {
    const bool accumulates = space.effective_batch > 0;
    keep_applicable(plan, "batch", space.batch,
                    accumulates ? "--allow leaves numerics out" : "--allow leaves training out",
                    [&](int batch) { return batch == reference.batch; });
  }
  if (!contains(plan.allowed, Tier::numerics)) {
    keep_applicable(plan, "precision", space.precision, "--allow leaves numerics out",
                    [&](Precision precision) { return precision == reference.precision; });
  }
}

}  // namespace

TuneOptions plan_sweep(const SweepOptions& options, const Limits& limits,
                       const std::vector<int>& batches, std::size_t samples) {
  const auto accelerator = emulated_accelerator(options.device);
  const int cpus = limits.cpus.usable;
  TuneOptions plan;
  plan.allowed = parse_tiers(options.allow, plan.allowed);
  plan.objective = parse_objective(options.objective);
  plan.search = parse_search(options.search, plan.search);
  plan.budget_s = parse_budget(options.budget, plan.budget_s, 0.05,
                               "shorter than one trial, which takes 50ms at least");
  plan.seed = options.seed;
  plan.cores = limits.cpus.cores();
  const Constraints constraints = parse_constraints(options);
  plan.space.effective_batch = constraints.effective_batch;
  plan.reference.batch = reference_batch(constraints, plan.reference.batch, samples);
  plan_axes(plan, options, constraints, cpus, batches);
  if (accelerator) plan_emulated(plan, options, *accelerator);
  check_objective(plan.objective, options);
  drop_inapplicable(plan, samples);
  constrain(plan, constraints);
  Config& reference = plan.reference;
  reference.step_threads =
      reference_value(plan.space.step_threads, !options.step_threads.empty() || accelerator, cpus);
  reference.batch = reference_value(plan.space.batch, !options.batch.empty(), reference.batch);
  if (plan.space.effective_batch > 0) {
    reference.accumulate = plan.space.effective_batch / reference.batch;
  }
  reference.precision =
      reference_value(plan.space.precision, !options.precision.empty(), Precision::fp32);
  drop_forbidden(plan);
  return plan;
}

void add_peaks(TuneOptions& plan, const std::vector<ProductRate>& products) {
  if (plan.objective != Objective::mfu) return;
  for (const ProductRate& product : products) {
    if (product.flops.all.known()) {
      plan.peak_flops_per_s[product.precision] = product.flops.all.per_s;
    }
  }
  const auto known = [&](Precision precision) { return plan.peak_flops_per_s.contains(precision); };
  keep_applicable(plan, "precision", plan.space.precision,
                  "the machine card holds no product rate to compare with", known);
  if (known(plan.reference.precision)) return;
  throw Error(Fault::usage, "--objective mfu has no product rate of " +
                                std::string(name_of(plan.reference.precision)) +
                                " to compare the reference with: choose another objective.");
}

void check_early(const SweepOptions& options, const Limits& limits) {
  constexpr std::size_t any_size = std::size_t{1} << 30;
  std::vector<int> any_batch = {1};
  while (any_batch.back() < 1 << 20) any_batch.push_back(2 * any_batch.back());
  plan_sweep(options, limits, any_batch, any_size);
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
