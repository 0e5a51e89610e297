// SPDX-License-Identifier: Apache-2.0
// The race, the recommendation, and rate against memory, as JSON.
#pragma once

#include <string>

#include "feedrate/report/json/trial_json.hpp"
#include "feedrate/report/text/caveats.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Makes an array of what `make(item)` returns.
template <class Items, class Make>
Json json_array(const Items& items, Make&& make) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(make(item));
  return array;
}

inline Json race_json(const Outcome& outcome) {
  Json json = {{"passes", outcome.passes},
               {"noise", outcome.noise},
               {"stopped_because", outcome.race_end ? Json(name_of(*outcome.race_end)) : Json()}};
  json["pairs"] = json_array(outcome.pairs, [](const Pair& pair) -> Json {
    return {{"a", pair.a},
            {"b", pair.b},
            {"log_ratio", to_json(pair.log_ratio)},
            {"verdict", name_of(pair.verdict)},
            {"rounds", pair.rounds}};
  });
  return json;
}

inline Json tier_json(const Report& report, const TierChoice& choice) {
  const Outcome& outcome = report.outcome;
  return {{"standing", name_of(choice.standing)},
          {"config", to_json(outcome.trials[choice.trial].config)},
          {"trial", choice.trial},
          {"speedup", to_json(choice.speedup)},
          {"tie_set", choice.tie_set},
          {"open_gain", choice.gain_upper_bound},
          {"caveats", caveats_of(report, choice)},
          {"promising", choice.promising ? Json(*choice.promising) : Json(nullptr)},
          {"promise", choice.promising ? to_json(choice.promise) : Json(nullptr)}};
}

inline Json recommendation_json(const Report& report) {
  const Outcome& outcome = report.outcome;
  if (outcome.tiers.empty()) return nullptr;
  Json tiers = Json::object();
  for (const TierChoice& choice : outcome.tiers) {
    const auto name = tier_names[static_cast<std::size_t>(choice.tier)];
    tiers[std::string(name)] = tier_json(report, choice);
  }
  return {{"status", name_of(outcome.choice().standing)},
          {"tier", tier_names[static_cast<std::size_t>(outcome.choice().tier)]},
          {"config", to_json(outcome.recommended().config)},
          {"trial", outcome.choice().trial},
          {"tiers", tiers},
          {"verified", outcome.verified ? to_json(*outcome.verified) : Json(nullptr)},
          {"verified_rounds", outcome.verified_rounds}};
}

/// The trials that no other beats in both rate and memory.
inline Json pareto_json(const Outcome& outcome) {
  return json_array(outcome.pareto, [&](std::size_t index) -> Json {
    const Trial& trial = outcome.trials[index];
    return {{"trial", index},
            {"samples_per_s", trial.samples_per_s().estimate},
            {"memory_bytes", trial.memory_bytes}};
  });
}

}  // namespace detail
}  // namespace feedrate::inline v0
