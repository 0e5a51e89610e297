// SPDX-License-Identifier: Apache-2.0
// Tuning in the user's own program: its dataset and its step, in this process.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/machine/limits.hpp"
#include "feedrate/machine/machine.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "feedrate/measure/warm.hpp"
#include "feedrate/tune/program/program.hpp"
#include "feedrate/tune/program/program_plan.hpp"
#include "feedrate/tune/program/remember.hpp"
#include "feedrate/tune/tuner.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// A step takes a batch, or a batch and the config under trial.
template <class S>
concept StepOfBatch = std::is_invocable_v<S&, const Batch&>;
template <class S>
concept StepOfConfig = std::is_invocable_v<S&, const Batch&, const Config&>;

/// A Source as it is, or made of a dataset by value or by shared_ptr.
template <class D>
std::shared_ptr<const Source> source_of(D dataset) {
  if constexpr (std::is_convertible_v<D, std::shared_ptr<const Source>>) {
    return dataset;
  } else {
    return make_source(std::move(dataset));
  }
}

/// What makes the steps, and whether they look at their config.
struct MakeStep {
  std::function<TrainStep(const Config&)> make;
  bool sees_config = false;
};

/// One and the same step for all configs; it must outlive the workload.
template <class S>
MakeStep steps_of(S& step) {
  if constexpr (StepOfConfig<S>) {
    return {[&step](const Config& config) -> TrainStep {
              return [&step, config](const Batch& batch) { step(batch, config); };
            },
            true};
  } else {
    return {[&step](const Config&) -> TrainStep {
              return [&step](const Batch& batch) { step(batch); };
            },
            false};
  }
}

/// Runs `work` between saving and putting back; puts back also when `work` throws.
template <class Work>
auto with_state_kept(const ProgramOptions& options, Work&& work) {
  const auto restore = options.save_state ? options.save_state() : std::function<void()>([] {});
  if (!restore) {
    throw Error(Fault::usage,
                "save_state returned nothing to call: let it return a callable that "
                "puts the state back.");
  }
  std::invoke_result_t<Work&> result;
  try {
    result = work();
  } catch (...) {
    restore();
    throw;
  }
  restore();
  return result;
}

/// Where nothing was chosen before an interruption, the reference stays.
inline Choice choice_of(const Outcome& outcome) {
  if (outcome.tiers.empty()) return {outcome.trials[outcome.reference].config};
  const TierChoice& choice = outcome.choice();
  const Trial& trial = outcome.recommended();
  return {trial.config, choice.standing, choice.speedup.estimate, trial.samples_per_s().estimate};
}

/// By what was remembered.
inline Tuned tuned_by(const Choice& choice, const ProgramOptions& options) {
  Tuned tuned;
  tuned.config = choice.config;
  tuned.standing = choice.standing;
  tuned.speedup = choice.speedup;
  tuned.samples_per_s = choice.samples_per_s;
  tuned.remembered = true;
  tuned.order = options.order;
  tuned.max_skips = options.max_skips;
  tuned.stall_s = options.stall_s;
  return tuned;
}

/// By what was measured.
inline Tuned tuned_by(Outcome outcome, const ProgramOptions& options) {
  Tuned tuned = tuned_by(choice_of(outcome), options);
  tuned.remembered = false;
  tuned.outcome = std::move(outcome);
  return tuned;
}

/// Saves the choice. If that fails, `tuned` still has it, and says why it was not kept.
inline void keep(Tuned& tuned, const ChoiceFile& file, const ChoiceKey& key) try {
  if (tuned.outcome->interrupted) {
    throw Error(Fault::interrupted, "Tuning was stopped, so nothing is remembered.");
  }
  if (tuned.standing == Confidence::unresolved) {
    throw Error(
        Fault::trials,
        "The measurements are inconclusive, so nothing is remembered: raise budget_s or use "
        "an idle machine.");
  }
  file.keep(key, {tuned.config, tuned.standing, tuned.speedup, tuned.samples_per_s});
} catch (const Error& error) {
  tuned.not_kept = error.what();
}

/// The data within the page cache as far as they fit, and the step. A part has a batch for each
/// rank at least. Of data that a sampler chooses from it is all: its indices are of the whole.
inline Workload workload_of(const std::shared_ptr<const Source>& source, MakeStep make_step,
                            const ProgramOptions& options, const MemoryLimits& memory,
                            int largest_batch) {
  const auto batch = static_cast<std::size_t>(largest_batch);
  const auto world = static_cast<std::size_t>(options.order.shard.world);
  Workload workload;
  workload.name = "program";
  workload.source =
      warmed(source, {.bytes = memory.free_bytes / 2,
                      .seconds = options.budget_s / 5,
                      .seed = options.seed,
                      .stop = options.stop,
                      .least = batch,
                      .part = options.order.sampler ? source->size() : batch * world});
  workload.make_step = std::move(make_step.make);
  workload.step_sees_config = make_step.sees_config;
  workload.joules = options.joules;
  workload.order = options.order;
  workload.max_skips = options.max_skips;
  workload.stall_s = options.stall_s;
  workload.loading_threads = read_limits().cpus.usable;
  workload.memory_bytes = memory.free_bytes / 2;
  return workload;
}

inline Outcome measure(const std::shared_ptr<const Source>& source, const MakeStep& make_step,
                       const TuneOptions& plan, const ProgramOptions& options,
                       const MemoryLimits& memory) {
  const int largest = std::max(plan.reference.batch,
                               *std::max_element(plan.space.batch.begin(), plan.space.batch.end()));
  return with_state_kept(options, [&] {
    Pipeline pipeline(workload_of(source, make_step, options, memory, largest), largest,
                      CacheMode::warm);
    return feedrate::tune(pipeline, plan);
  });
}

inline Tuned tune_source(const std::shared_ptr<const Source>& source, const MakeStep& make_step,
                         const ProgramOptions& options) {
  refuse_training(options);
  refuse_unmetered(options);
  const Limits limits = read_limits();
  const TuneOptions plan = plan_of(options, limits, source->size());
  refuse_untried(plan.space, make_step.sees_config);
  refuse_nonsense(plan);
  refuse_unloadable(plan, options, source->size());
  if (options.remember.empty()) {
    return tuned_by(measure(source, make_step, plan, options, limits.memory), options);
  }
  const ChoiceFile file(options.remember);
  const ChoiceKey key{read_machine("/").fingerprint,
                      dataset_key(source->size(), source->layout(), options.remember_key),
                      space_key(plan)};
  if (const auto known = file.find(key)) return tuned_by(*known, options);
  file.require_usable();
  Tuned tuned = tuned_by(measure(source, make_step, plan, options, limits.memory), options);
  keep(tuned, file, key);
  return tuned;
}

}  // namespace detail

/// Finds out how to load `dataset` for `step`, by running both here. `dataset` is a Dataset by
/// value or a shared_ptr to one; `step(batch)` or `step(batch, config)` trains on a batch and
/// returns when that is done: on a GPU it synchronises.
///
/// Everything runs in this process, unsupervised: a step that crashes or hangs takes the program
/// with it. The samples are read into the page cache first, as far as they fit. Blocks for about
/// `budget_s`, or returns at once what `remember` holds for this machine, dataset and space. What
/// the measurements left unresolved is not remembered.
///
/// Throws Error(usage) on invalid options, before anything is measured; Error(trials)
/// when every config failed; and what save_state throws.
template <class D, class S>
Tuned tune(D dataset, S&& step, const ProgramOptions& options) {
  static_assert(detail::StepOfBatch<S> || detail::StepOfConfig<S>,
                "feedrate: a step takes a batch, const feedrate::Batch&, and may take the config "
                "under trial, const feedrate::Config&, after it");
  return detail::tune_source(detail::source_of(std::move(dataset)), detail::steps_of(step),
                             options);
}

}  // namespace feedrate::inline v0
