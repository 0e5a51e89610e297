// SPDX-License-Identifier: Apache-2.0
// The outcome of a sweep: every trial, the pairs, and what is recommended. Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/space.hpp"
#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/trial.hpp"
#include "feedrate/tune/model/demands.hpp"
#include "feedrate/tune/state/diagnosis.hpp"
#include "feedrate/tune/state/pair.hpp"

namespace feedrate::inline v0 {

/// How configs are chosen for measuring, unless something else is asked for.
inline constexpr const char* default_search = "model";

/// Why the race ended.
enum class RaceEnd : std::uint8_t {
  settled,      ///< what a rival may still be ahead by is little
  last_pass,    ///< as many passes as there may be
  budget,       ///< its share of the time is used
  interrupted,  ///< by the user
  all_failed,   ///< each finalist failed in it
};

inline constexpr std::array<std::string_view, 5> race_end_names = {"settled", "last_pass", "budget",
                                                                   "interrupted", "all_failed"};

constexpr std::string_view name_of(RaceEnd end) noexcept {
  return race_end_names[static_cast<std::size_t>(end)];
}

/// How sure a recommendation is. Files keep the numbers: new ones come last.
enum class Confidence : std::uint8_t {
  resolved,       ///< one config is shown to be faster than all other finalists
  tied,           ///< several are within half a percent of the fastest; the cheapest is named
  unresolved,     ///< the machine is too noisy, or the budget too short, to tell
  keep_current,   ///< nothing is faster than the reference
  not_confirmed,  ///< the reference stays: fresh processes did not confirm a gain
  close,          ///< one config leads, and not all other finalists are shown to be slower
};

inline constexpr std::array<std::string_view, 6> standing_names = {
    "resolved", "tied", "unresolved", "keep_current", "not_confirmed", "close"};

constexpr std::string_view name_of(Confidence standing) noexcept {
  return standing_names[static_cast<std::size_t>(standing)];
}

/// What is recommended when no axis beyond `tier` may change.
struct TierChoice {
  Tier tier = Tier::safe;
  Confidence standing = Confidence::unresolved;
  std::size_t trial = 0;
  Interval speedup{1, 1, 1};  ///< of the rate, against the reference: of the proof, 95 %
  std::vector<std::size_t> tie_set = {};  ///< trials, cheapest first; the choice is one of them
  double gain_upper_bound =
      0;  ///< by so much another finalist could still be faster, 95 %; 0.02 is 2 %
  std::optional<std::size_t> promising = {};  ///< trial that seemed better, and was not shown to be
  Interval promise{1, 1, 1};                  ///< the speed-up of that
  bool is_worth_its_price = false;            ///< to be recommended, were there no wider tier
};

/// One part of the pipeline measured alone.
struct Probe {
  Part part = Part::device;
  Config config;
  Variant variant = Variant::as_is;
  Round round;
};

/// What would be if only one thing were mended.
struct WhatIf {
  std::string name;  ///< a short name, stable: decoded, unaugmented, no_copy, device_infinite, ...
  Config config;
  double samples_per_s = 0;
  Interval speedup{1, 1, 1};  ///< against the same config as it is; paired rounds, 95 %
};

/// Device rate of one step, measured alone.
struct DeviceCeiling {
  Config config;
  double samples_per_s = 0;
};

/// All that a sweep found out.
struct Outcome {
  std::vector<Trial> trials;
  std::size_t reference = 0;  ///< trial: what frameworks do when told nothing
  std::vector<NotApplicable> not_applicable;
  std::vector<Probe> probes;      ///< of parts, in the order of measuring
  std::vector<Probe> disturbed;   ///< rounds of any part that were run again, and do not count
  Demands demands;                ///< what they say, as the model that predicts
  std::vector<TierChoice> tiers;  ///< of the allowed tiers, narrowest first
  std::vector<Pair> pairs;        ///< of the race
  double noise = 0;               ///< standard deviation of one paired log-ratio
  int passes = 0;                 ///< of the race
  int rounds = 0;                 ///< run in all, probes included
  std::string search = default_search;
  std::optional<Interval> verified;  ///< proven speed-up of the recommended config; empty: none
  int verified_rounds = 0;           ///< pairs behind it; without it: passes of the proof
  DeviceCeiling best_device;         ///< the fastest step in the space, measured alone
  std::optional<GpuState> gpu;       ///< right behind that, where a GPU steps
  std::vector<std::size_t> pareto;   ///< trials that no other beats in both rate and memory
  std::vector<WhatIf> what_if;
  std::vector<Diagnosis> diagnoses;
  double unexplained_share = 0;
  std::optional<RaceEnd> race_end;  ///< empty: there was no race
  bool interrupted = false;

  Tier headline = Tier::training;  ///< choices of wider tiers are shown, and not recommended

  /// The choice of the widest tier up to the headline. Needs a tier.
  const TierChoice& choice() const {
    auto choice = tiers.begin();
    while (choice + 1 != tiers.end() && (choice + 1)->tier <= headline) ++choice;
    return *choice;
  }
  const Trial& recommended() const { return trials[choice().trial]; }
};

/// Share of the machine that other processes took, by the time of all coupled rounds that know it;
/// 0 where none does.
inline double others_share(const Outcome& outcome) {
  double taken_s = 0, all_s = 0;
  for (const Trial& trial : outcome.trials) {
    for (const Round& round : trial.rounds) {
      if (round.others_share < 0) continue;
      taken_s += round.others_share * round.duration_s;
      all_s += round.duration_s;
    }
  }
  return all_s > 0 ? taken_s / all_s : 0;
}

}  // namespace feedrate::inline v0
