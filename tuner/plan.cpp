// SPDX-License-Identifier: Apache-2.0
#include "plan.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "axes.hpp"
#include "feedrate/report/words.hpp"
#include "feedrate/train/make_step.hpp"

namespace feedrate {
namespace {

void check_device(const std::string& device) {
  if (device == "cpu") return;
  if (device.starts_with("cuda")) {
    throw Error(Fault::device, "Device '" + device +
                                   "' is not to be had: this build trains on the cpu only; leave "
                                   "--device out.");
  }
  throw Error(Fault::usage, "There is no device '" + device + "': the only one so far is cpu.");
}

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

bool allows(const TuneOptions& plan, Tier tier) {
  return std::find(plan.allowed.begin(), plan.allowed.end(), tier) != plan.allowed.end();
}

std::vector<Tier> parse_tiers(const std::string& text) {
  std::vector<Tier> tiers;
  for (const std::size_t index :
       parse_names("--allow", text, {tier_names.begin(), tier_names.end()})) {
    tiers.push_back(static_cast<Tier>(index));
  }
  return tiers;
}

Objective parse_objective(const std::string& text) {
  const auto names =
      parse_names("--objective", text, {objective_names.begin(), objective_names.end()});
  if (names.size() != 1) throw Error(Fault::usage, "--objective takes one name.");
  return static_cast<Objective>(names.front());
}

/// Takes out the values that `fits` refuses and says so; at least one must be left.
template <class T, class Fits>
void keep_applicable(TuneOptions& plan, const std::string& axis, std::vector<T>& values,
                     const std::string& why, Fits&& fits) {
  std::vector<T> kept;
  for (const T value : values) {
    if (fits(value)) {
      kept.push_back(value);
    } else {
      plan.not_applicable.push_back({axis, value_text(value), why});
    }
  }
  values = kept;
  if (!values.empty()) return;
  throw Error(Fault::usage, "No value of --" + axis + " can be used: " + why + ".");
}

/// The one value that the user fixed, else what frameworks do when told nothing.
template <class T>
T reference_value(const std::vector<T>& values, bool given, T framework_default) {
  return given && values.size() == 1 ? values.front() : framework_default;
}

void plan_axes(TuneOptions& plan, const SweepOptions& options, int cpus,
               const std::vector<int>& batches) {
  Space& space = plan.space;
  const auto integers = [](const char* flag, const std::string& text, int least, int most,
                           std::vector<int> otherwise) {
    return text.empty() ? otherwise : parse_integers(flag, text, least, most);
  };
  space.workers = integers("--workers", options.workers, 0, 1024, default_workers(cpus));
  space.prefetch = integers("--prefetch", options.prefetch, 1, 1024, {1, 4});
  space.batch = integers("--batch", options.batch, 1, 1 << 20,
                         allows(plan, Tier::training) ? batches : std::vector<int>{32});
  space.step_threads =
      integers("--step-threads", options.step_threads, 1, 1024, default_step_threads(cpus));
  space.workers_may_grow = options.workers.empty();
  const std::string precisions = allows(plan, Tier::numerics) ? "fp32,bf16" : "fp32";
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

/// Values beyond the tiers that may change are left out, and that is said.
void drop_forbidden(TuneOptions& plan) {
  const Config& reference = plan.reference;
  Space& space = plan.space;
  if (!allows(plan, Tier::training)) {
    keep_applicable(plan, "batch", space.batch, "--allow leaves training out",
                    [&](int batch) { return batch == reference.batch; });
  }
  if (!allows(plan, Tier::numerics)) {
    keep_applicable(plan, "precision", space.precision, "--allow leaves numerics out",
                    [&](Precision precision) { return precision == reference.precision; });
  }
}

}  // namespace

TuneOptions plan_sweep(const SweepOptions& options, const Limits& limits,
                       const std::vector<int>& batches, std::size_t samples) {
  check_device(options.device);
  const int cpus = limits.cpus.usable;
  TuneOptions plan;
  plan.allowed = parse_tiers(options.allow);
  plan.objective = parse_objective(options.objective);
  plan.budget_s = parse_seconds("--budget", options.budget);
  if (plan.budget_s <= 0) throw Error(Fault::usage, "--budget must be more than 0, such as 60s.");
  plan.seed = options.seed;
  plan.cores = std::min<double>(limits.cpus.quota.value_or(cpus), cpus);
  plan_axes(plan, options, cpus, batches);
  drop_inapplicable(plan, samples);
  Config& reference = plan.reference;
  const int common = static_cast<int>(std::min<std::size_t>(reference.batch, samples));
  reference.step_threads =
      reference_value(plan.space.step_threads, !options.step_threads.empty(), cpus);
  reference.batch = reference_value(plan.space.batch, !options.batch.empty(), common);
  reference.precision =
      reference_value(plan.space.precision, !options.precision.empty(), Precision::fp32);
  drop_forbidden(plan);
  return plan;
}

void check_early(const SweepOptions& options, const Limits& limits) {
  constexpr std::size_t any_size = std::size_t{1} << 30;
  plan_sweep(options, limits, {32}, any_size);
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
