// SPDX-License-Identifier: Apache-2.0
// The report of a simulation as a short table.
#pragma once

#include <cstdio>
#include <string>

#include "report.hpp"

namespace feedrate::simulate {
inline std::string shown(const Json& value, double times = 1, const char* format = "%8.2f") {
  if (value.is_null()) return "       -";
  char text[32];
  std::snprintf(text, sizeof text, format, times * value.get<double>());
  return text;
}

inline void print_group(const char* name, const Json& group) {
  const Json &regret = group["regret"], &rounds = group["rounds"];
  const Json& recommended = group["recommended"];
  const auto wrong = [&](const char* what) {
    return std::to_string(group[what]["wrong"].get<int>()) + "/" +
           std::to_string(group[what]["said"].get<int>());
  };
  std::printf(
      "%-20s %6d %s %s %s %s %s %s %s %s %9s %11s %9s %s\n", name, group["machines"].get<int>(),
      shown(regret["share_within_2_percent"], 100).c_str(),
      shown(regret["share_within_5_percent"], 100).c_str(), shown(regret["p50"], 100).c_str(),
      shown(regret["p95"], 100).c_str(), shown(recommended["changes_share"], 100).c_str(),
      shown(recommended["slower_share"], 100).c_str(), shown(rounds["p50"], 1, "%6.0f").c_str(),
      shown(group["virtual_s"]["p50"], 1, "%6.1f").c_str(), wrong("gains_over_reference").c_str(),
      wrong("pair_intervals").c_str(), wrong("verified_intervals").c_str(),
      shown(group["model_error"]["over_configs"]["p50"], 100).c_str());
}

/// How good the answer would be if the truth had chosen it among what a phase left.
inline void print_losses(const Json& group) {
  if (!group.contains("regret_if_the_truth_chose")) return;
  for (const auto& [among, regret] : group["regret_if_the_truth_chose"].items()) {
    std::printf("if the truth chose %-14s within 2 %%: %s %%  within 5 %%: %s %%\n", among.c_str(),
                shown(regret["share_within_2_percent"], 100).c_str(),
                shown(regret["share_within_5_percent"], 100).c_str());
  }
}

inline void print(const Json& report) {
  std::printf("%-20s %6s %8s %8s %8s %8s %8s %8s %6s %6s %9s %11s %9s %8s\n", "", "n", "<=2 %",
              "<=5 %", "p50 %", "p95 %", "change %", "harm %", "rounds", "s", "bad gain",
              "pair missed", "proof", "model %");
  for (const char* name : {"all", "accelerators", "cpu_devices", "throttled_meanwhile", "steady"}) {
    print_group(name, report["groups"][name]);
  }
  for (const auto& [name, tier] : report["groups"]["all"]["tiers"].items()) {
    std::printf("tier %-10s within 2 %%: %s %%  p95 %s %%  %s\n", name.c_str(),
                shown(tier["regret"]["share_within_2_percent"], 100).c_str(),
                shown(tier["regret"]["p95"], 100).c_str(), tier["standing"].dump().c_str());
  }
  print_losses(report["groups"]["all"]);
  std::printf("rounds by phase: %s\n",
              report["groups"]["all"]["rounds_by_phase_mean"].dump().c_str());
  std::printf("seconds by phase: %s\n",
              report["groups"]["all"]["seconds_by_phase_mean"].dump().c_str());
  std::printf("%.0f machines per minute\n", report["machines_per_minute"].get<double>());
  if (!report["groups"]["all"]["errors"].empty()) {
    std::printf("errors: %s\n", report["groups"]["all"]["errors"].dump().c_str());
  }
  if (!report.contains("rivals")) return;
  for (const auto& [rival, by_bin] : report["rivals"].items()) {
    for (const auto& [bin, duel] : by_bin.items()) {
      if (!duel.contains("our_rounds")) continue;
      std::printf("%-14s tied %-11s n %5d  ours %s rounds at %s %%  theirs %s: %s times\n",
                  rival.c_str(), bin.c_str(), duel["machines"].get<int>(),
                  shown(duel["our_rounds"], 1, "%6.0f").c_str(),
                  shown(duel["our_regret_p95"], 100).c_str(),
                  shown(duel["rounds_at_equal_regret"], 1, "%6.0f").c_str(),
                  duel["times_our_rounds"].is_null()
                      ? ("> " + shown(duel["times_our_rounds_more_than"])).c_str()
                      : shown(duel["times_our_rounds"]).c_str());
    }
  }
}

}  // namespace feedrate::simulate
