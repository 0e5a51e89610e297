// SPDX-License-Identifier: Apache-2.0
// Reads from a report: the race, the recommendation, the diagnoses and the confirmation.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "feedrate/report/json/diagnoses_json.hpp"
#include "feedrate/report/json/outcome_from_json.hpp"
#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline void read_race(const Json& json, Outcome& outcome) {
  read_all(json, "passes", outcome.passes, "noise", outcome.noise, "pairs", outcome.pairs);
  if (member(json, "stopped_because").is_null()) return;
  read_enum(json, "stopped_because", RaceEnd::all_failed, outcome.race_end.emplace());
}

inline TierChoice read_tier(const Json& json, Tier tier) {
  TierChoice choice;
  choice.tier = tier;
  read_enum(json, "standing", Confidence::close, choice.standing);
  read_all(json, "trial", choice.trial, "speedup", choice.speedup, "tie_set", choice.tie_set);
  read_newer(json, "open_gain", choice.gain_upper_bound, "promising", choice.promising);
  read_if_told(json, "promise", choice.promise);
  return choice;
}

/// The tier of the recommendation: older reports don't name it.
inline Tier read_headline(const Json& json, const std::vector<TierChoice>& tiers) {
  if (json.contains("tier")) {
    std::size_t tier = 0;
    read_by(json, "tier", [&](const Json& name) { tier = index_of(tier_names, name); });
    return static_cast<Tier>(tier);
  }
  const Json &trial = member(json, "trial"), &status = member(json, "status");
  const auto found = std::find_if(tiers.begin(), tiers.end(), [&](const TierChoice& choice) {
    return choice.trial == trial && Json(name_of(choice.standing)) == status;
  });
  if (found == tiers.end()) throw Misread("trial", "no tier recommends this trial");
  return found->tier;
}

inline void read_recommendation(const Json& json, Report& report) {
  if (json.is_null()) return;
  Outcome& outcome = report.outcome;
  read_by(json, "tiers", [&](const Json& tiers) {
    for (const auto& choice : tiers.items()) {
      at_place(choice.key(), [&] {
        const auto tier = static_cast<Tier>(index_of(tier_names, choice.key()));
        outcome.tiers.push_back(read_tier(choice.value(), tier));
        read_newer(choice.value(), "caveats", report.sentences.caveats.emplace_back());
      });
    }
    if (tiers.empty()) throw Misread("", "no tier is there");
  });
  outcome.headline = read_headline(json, outcome.tiers);
  read_all(json, "verified", outcome.verified, "verified_rounds", outcome.verified_rounds);
}

inline void read_pareto(const Json& json, std::vector<std::size_t>& pareto) {
  for (const Json& point : json) read(point, "trial", pareto.emplace_back());
}

/// Older reports have no summary: their whole evidence is one.
inline CauseText read_cause_text(const Json& json) {
  CauseText text;
  std::string evidence;
  read_all(json, "evidence", evidence, "remedy", text.remedy);
  text.summary = evidence;
  read_if_told(json, "summary", text.summary);
  if (evidence.size() > text.summary.size())
    text.details = evidence.substr(text.summary.size() + 1);
  return text;
}

inline void read_numbers(const Json& json, CauseNumbers& numbers) {
  for (const auto& [name, number] : cause_numbers) {
    read_if_told(json, std::string(name).c_str(), numbers.*number);
  }
}

inline Diagnosis read_diagnosis(const Json& json) {
  Diagnosis diagnosis;
  read_enum(json, "cause", Cause::precision_not_used, diagnosis.cause);
  read_all(json, "share_of_gap", diagnosis.share_of_gap, "gain", diagnosis.gain);
  diagnosis.measured = member(json, "how") == "measured";
  read_newer_by(json, "numbers", [&](const Json& all) { read_numbers(all, diagnosis.numbers); });
  if (json.contains("where") && !json.at("where").is_null()) {
    read_enum(json, "where", Where::lock, diagnosis.where);
  }
  return diagnosis;
}

inline void read_diagnoses(const Json& json, Report& report) {
  for (std::size_t d = 0; d < json.size(); ++d) {
    at_place(std::to_string(d), [&] {
      report.outcome.diagnoses.push_back(read_diagnosis(json[d]));
      report.sentences.causes.push_back(read_cause_text(json[d]));
    });
  }
}

inline void read_launched(const Json& json, const std::string& which, LaunchedGpu& gpu) {
  const auto told = [&](const char* key, auto& field) {
    read_if_told(json, (which + key).c_str(), field);
  };
  told("_nvml_busy", gpu.nvml_busy);
  told("_gpm", gpu.gpm);
  told("_device_bytes", gpu.memory_bytes);
}

}  // namespace detail

/// A launch that failed has but its failure.
inline void from_json(const Json& json, Confirmation& confirmation) {
  using namespace detail;
  read(json, "failure", confirmation.failure);
  if (json.contains("config")) read_older_config(json, "config", confirmation.config);
  if (!confirmation.failure.empty()) return;
  read_all(json, "pairs", confirmation.pairs, "as_is_samples_per_s",
           confirmation.as_is_samples_per_s, "as_is_first_batch_s",
           confirmation.as_is_first_batch_s);
  read_if_told(json, "speedup", confirmation.speedup);
  read_if_told(json, "recommended_samples_per_s", confirmation.recommended_samples_per_s);
  read_if_told(json, "recommended_first_batch_s", confirmation.recommended_first_batch_s);
  read_launched(json, "as_is", confirmation.as_is_gpu);
  read_launched(json, "recommended", confirmation.recommended_gpu);
  read_if_told(json, "outside_share", confirmation.outside_share);
}

}  // namespace feedrate::inline v0
