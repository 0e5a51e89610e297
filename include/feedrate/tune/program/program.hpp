// SPDX-License-Identifier: Apache-2.0
// The options of a program that tunes its own dataset and step, and the result.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/load/options.hpp"
#include "feedrate/tune/state/options.hpp"

namespace feedrate::inline v0 {

/// How to tune in a program.
struct ProgramOptions {
  int batch = 32;                            ///< to train with; unused where `space` is given
  std::optional<Space> space = {};           ///< empty: see default_space
  std::optional<Config> reference = {};      ///< what gains are measured against; empty: no workers
  std::vector<Tier> allowed = {Tier::safe};  ///< what may change
  std::string objective = "throughput";      ///< a name in objectives.hpp
  double budget_s = 10;                      ///< seconds for all of it
  /// Saves what a step changes (weights, the optimizer's state) and returns what puts it back.
  std::function<std::function<void()>()> save_state = {};
  bool may_train = false;  ///< the steps of the measurement may stay trained
  std::uint64_t max_memory_bytes = ~std::uint64_t{0};  ///< that the batches of a config may take
  std::function<double()> joules = {};  ///< for samples_per_joule, such as cpu_energy().joules
  std::string remember = {};  ///< file that keeps the choice for the next start; empty: none
  /// Stands for what the fields and the number of samples don't show, such as the model or the
  /// version of the data: a choice is remembered for each.
  std::string remember_key = {};
  OrderOptions order = {};                  ///< as for the loader
  std::uint64_t max_skips = 0;              ///< as for the loader
  double stall_s = 60;                      ///< as for the loader
  std::uint64_t seed = 0;                   ///< of the search
  const std::atomic<bool>* stop = nullptr;  ///< ends the sweep after the round in progress
  std::function<void(const Progress&)> observe = {};  ///< is told of each round
};

/// What came of it.
struct Tuned {
  Config config;                                 ///< to train with
  Confidence standing = Confidence::unresolved;  ///< how sure that is
  double speedup = 1;                            ///< of the rate, against the reference
  double samples_per_s = 0;                      ///< measured with the config; 0: unknown
  bool remembered = false;                       ///< read from the file: nothing was measured now
  std::string not_kept;            ///< one sentence where the choice could not be written down
  std::optional<Outcome> outcome;  ///< all that was measured; empty when remembered
  OrderOptions order = {};         ///< those of the options
  std::uint64_t max_skips = 0;     ///< likewise
  double stall_s = 60;             ///< likewise

  /// Whether a rate that was measured today, in the same unit, is not that of the choice any more,
  /// by more than this share: then the step or the machine has changed, and so may have the best
  /// settings. False where none is known.
  bool is_outdated(double todays_samples_per_s, double tolerance = 0.25) const noexcept {
    return samples_per_s > 0 && std::abs(todays_samples_per_s / samples_per_s - 1) > tolerance;
  }

  /// Ready for a Loader over the same dataset.
  LoaderOptions loader_options() const {
    LoaderOptions options = feedrate::loader_options(config, order, max_skips);
    options.stall_s = stall_s;
    return options;
  }
};

}  // namespace feedrate::inline v0
