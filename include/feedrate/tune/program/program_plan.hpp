// SPDX-License-Identifier: Apache-2.0
// Turns a program's options into a plan for this machine, and refuses invalid ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/tune/objective/objectives.hpp"
#include "feedrate/tune/program/program.hpp"

namespace feedrate::inline v0 {

/// Workers 0, 1, 2, 4, ... up to the usable CPUs and on while they gain; prefetch 1, 2 and 4; one
/// batch.
inline Space default_space(int batch, int usable_cpus) {
  Space space{.workers = {0}, .prefetch = {1, 2, 4}, .batch = {batch}, .workers_may_grow = true};
  for (int n = 1; n < usable_cpus; n *= 2) space.workers.push_back(n);
  space.workers.push_back(usable_cpus);
  return space;
}

namespace detail {

template <class T>
bool has_choice(const std::vector<T>& values, T only) {
  return std::any_of(values.begin(), values.end(), [&](T value) { return value != only; });
}

inline void refuse_untried(const Space& space, bool takes_config) {
  if (has_choice(space.pinned, false)) {
    throw Error(Fault::usage,
                "Batches in a program's own tuning lie in plain memory: take 'pinned' "
                "out of the space.");
  }
  for_each_axis_of(space, [](const auto& axis, const auto& values) {
    if (!has_choice(values, Config{}.*axis.field)) return;
    const std::string name(axis.name);
    if (axis.built_in) {
      throw Error(Fault::usage,
                  "How a program's own step is launched, and where it makes floats of bytes, is "
                  "its own: take '" +
                      name + "' out of the space.");
    }
    if (axis.not_built_in.empty()) return;
    throw Error(Fault::usage, "In a program " + std::string(axis.not_built_in) + ": take '" + name +
                                  "' out of the space.");
  });
  const Config usual;
  const bool needs_config = has_choice(space.precision, usual.precision) ||
                            has_choice(space.step_threads, usual.step_threads) ||
                            space.effective_batch > 0;
  if (!needs_config || takes_config) return;
  throw Error(Fault::usage,
              "The space varies precision, step threads or accumulation, which a step "
              "of a batch alone can't follow: give the step a second parameter, "
              "const feedrate::Config&.");
}

inline void refuse_training(const ProgramOptions& options) {
  if (options.save_state || options.may_train) return;
  throw Error(Fault::usage,
              "Tuning runs the step, which trains your model: give save_state, which "
              "is put back at the end, or say may_train = true.");
}

[[noreturn]] inline void refuse_batch(int batch, const std::string& why) {
  throw Error(Fault::usage,
              "A batch of " + std::to_string(batch) + " can't be tried: " + why + ".");
}

/// A config that the loader or a step could make nothing of.
inline void refuse_config(const Config& config, std::size_t samples) {
  if (config.batch < 1 || static_cast<std::size_t>(config.batch) > samples) {
    refuse_batch(config.batch, "the dataset has " + std::to_string(samples) + " samples");
  }
  if (config.workers < 0 || config.prefetch < 0) {
    throw Error(Fault::usage, "Workers and prefetch can't be negative: ask for 0 or more.");
  }
  if (config.step_threads < 1 || config.accumulate < 1) {
    throw Error(Fault::usage, "Step threads and accumulation count from 1: ask for 1 or more.");
  }
}

inline void refuse_space(const Space& space, std::size_t samples) {
  for_each_axis_of(space, [](const auto&, const auto& values) {
    if (!values.empty()) return;
    throw Error(Fault::usage, "An axis of the space has no values: give each at least one.");
  });
  for_each_axis_of(space, [&](const auto& axis, const auto& values) {
    Config config{.batch = 1};
    for (const auto value : values) {
      config.*axis.field = value;
      refuse_config(config, samples);
    }
  });
  for (const int batch : space.batch) {
    if (space.effective_batch % batch != 0) {
      refuse_batch(batch, "it doesn't divide the effective batch of " +
                              std::to_string(space.effective_batch));
    }
  }
}

/// Where the reference has a value that no allowed change leads away from, nothing is tried. Told
/// by the config that is closest to it.
inline void refuse_unreachable(const TuneOptions& plan) {
  if (plan.allowed.empty()) return;
  const Config& own = plan.reference;
  const Tier widest = plan.allowed.back();
  const std::vector<Config> configs = configs_of(plan.space);
  const auto reaches = [&](const Config& config) { return within_tier(own, config, widest); };
  if (std::any_of(configs.begin(), configs.end(), reaches)) return;
  const auto is_forbidden = [&](const auto& axis, const Config& config) {
    return axis.tier > widest && own.*axis.field != config.*axis.field;
  };
  const auto count = [&](const Config& config) {
    int sum = 0;
    for_each_axis([&](const auto& axis) { sum += is_forbidden(axis, config) ? 1 : 0; });
    return sum;
  };
  const Config& closest =
      *std::min_element(configs.begin(), configs.end(),
                        [&](const Config& a, const Config& b) { return count(a) < count(b); });
  for_each_axis([&](const auto& axis) {
    if (!is_forbidden(axis, closest)) return;
    const std::string name(axis.name), tier(tier_names[static_cast<std::size_t>(axis.tier)]);
    throw Error(Fault::usage, "The reference's " + name + " is " + value_text(own.*axis.field) +
                                  ", and configs with " + name + " " +
                                  value_text(closest.*axis.field) +
                                  " are tried: set it to that, or allow tier '" + tier + "'.");
  });
}

/// Tiers build on each other: a change of one that is not allowed would come along with a wider
/// one.
inline void refuse_left_out(const TuneOptions& plan) {
  const auto& allowed = plan.allowed;
  for_each_axis_of(plan.space, [&](const auto& axis, const auto& values) {
    const bool is_told = axis.tier == Tier::safe || allowed.empty() || axis.tier > allowed.back() ||
                         std::find(allowed.begin(), allowed.end(), axis.tier) != allowed.end();
    const auto own = plan.reference.*axis.field;
    if (is_told || std::all_of(values.begin(), values.end(), [&](auto v) { return v == own; })) {
      return;
    }
    const std::string name(axis.name), tier(tier_names[static_cast<std::size_t>(axis.tier)]);
    throw Error(Fault::usage, "The space varies '" + name + "', which is of tier '" + tier +
                                  "'. That tier is not allowed, but a wider one is: allow it, or "
                                  "take '" +
                                  name + "' out of the space.");
  });
}

inline TuneOptions plan_of(const ProgramOptions& options, const Limits& limits,
                           std::size_t samples) {
  const int cpus = limits.cpus.usable;
  TuneOptions plan;
  plan.space = options.space.value_or(default_space(options.batch, cpus));
  refuse_space(plan.space, samples);
  plan.reference.batch = plan.space.batch.front();
  plan.reference.precision = plan.space.precision.front();
  plan.reference.step_threads = plan.space.step_threads.front();
  if (plan.space.effective_batch > 0) {
    plan.reference.accumulate = plan.space.effective_batch / plan.reference.batch;
  }
  plan.reference = options.reference.value_or(plan.reference);
  refuse_config(plan.reference, samples);
  plan.allowed = options.allowed;
  refuse_unreachable(plan);
  refuse_left_out(plan);
  plan.max_memory_bytes = options.max_memory_bytes;
  plan.objective = options.objective;
  plan.budget_s = options.budget_s;
  plan.seed = options.seed;
  plan.cores = std::min<double>(limits.cpus.quota.value_or(cpus), cpus);
  plan.stop = options.stop;
  plan.observe = options.observe;
  return plan;
}

/// What a loader of any of the batches would refuse.
inline void refuse_unloadable(const TuneOptions& plan, const ProgramOptions& options,
                              std::size_t samples) {
  std::vector<int> batches = plan.space.batch;
  batches.push_back(plan.reference.batch);
  for (const int batch : batches) {
    LoaderOptions loader{.batch = batch, .order = options.order};
    loader.stall_s = options.stall_s;
    checked(loader);
    Order(samples, static_cast<std::size_t>(batch), loader.order);
  }
}

inline void refuse_unmetered(const ProgramOptions& options) {
  const Needs needs = objective_named(options.objective).needs;
  if (needs == Needs::peak) {
    throw Error(Fault::usage, "The objective " + options.objective +
                                  " needs the step's operations and the device's peak, "
                                  "which are not known here: ask for throughput.");
  }
  if (needs == Needs::energy && !options.joules) {
    throw Error(Fault::usage, "The objective " + options.objective +
                                  " needs a meter: give joules, such as "
                                  "feedrate::cpu_energy().joules; where that is empty, its "
                                  "why_not says what is missing.");
  }
}

}  // namespace detail
}  // namespace feedrate::inline v0
