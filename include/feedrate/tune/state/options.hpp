// SPDX-License-Identifier: Apache-2.0
// The options of a sweep, and its progress.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/machine/environment.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {

/// What a sweep is doing now.
struct Progress {
  std::string_view phase;          ///< calibrate, explore, race, verify, ceilings
  const Config* config = nullptr;  ///< of the round
  const Round* round = nullptr;    ///< the round that just ended, if one did
  std::string failure;             ///< why it did not end well
  const Config* best = nullptr;    ///< so far
  double best_samples_per_s = 0;   ///< of it
  double elapsed_s = 0;            ///< since the sweep began
  double budget_s = 0;             ///< of the sweep
};

/// How to sweep.
struct TuneOptions {
  Space space;
  Config reference;  ///< what gains are measured against
  std::vector<Tier> allowed = {Tier::safe, Tier::numerics, Tier::training};
  Tier headline = Tier::training;  ///< choices of wider tiers are shown, and not recommended
  double wider_gain = 0.05;  ///< a wider tier is recommended where it is shown to gain this on top
  std::string objective = "utilization";  ///< a name in objectives.hpp
  std::string search = default_search;    ///< a name in strategies.hpp
  double budget_s = 60;
  double round_s = 0;  ///< of a round, at least; 0: a part of the budget
  int max_rounds = 0;  ///< of search and race; 0: the budget decides. Ceilings come on top
  std::uint64_t max_memory_bytes = ~std::uint64_t{0};         ///< for slots and step
  std::uint64_t max_device_memory_bytes = ~std::uint64_t{0};  ///< of a device of its own
  std::map<Precision, double> peak_flops_per_s;               ///< for the objective mfu
  double cores = 1;  ///< that loader and step share on the cpu device
  std::uint64_t seed = 0;
  std::vector<NotApplicable> not_applicable;
  Environment environment;                   ///< what a diagnosis may know beside the measurements
  const std::atomic<bool>* stop = nullptr;   ///< ends the sweep after the round in progress
  const std::atomic<bool>* abort = nullptr;  ///< ends that round too
  std::function<void(const Progress&)> observe;
  std::function<void(const Outcome&)> save;  ///< called after each round with what is known
};

/// The widest tier whose choice may be recommended; wider ones are offers.
inline Tier widest_recommended(const TuneOptions& options) {
  Tier widest = options.allowed.front();
  for (const Tier tier : options.allowed) {
    if (tier <= options.headline) widest = std::max(widest, tier);
  }
  return widest;
}

}  // namespace feedrate::inline v0
