// SPDX-License-Identifier: Apache-2.0
// The report of a simulation: contenders by groups of machines, and comparisons at equal regret.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/report/json/trial_json.hpp"
#include "options.hpp"
#include "summary.hpp"

namespace feedrate::simulate {
inline Records of_contender(const std::vector<std::vector<Record>>& all, std::size_t contender) {
  Records records;
  for (const auto& machine : all) records.push_back(&machine[contender]);
  return records;
}

template <class Keep>
Records those(const Records& records, Keep&& keep) {
  Records kept;
  std::copy_if(records.begin(), records.end(), std::back_inserter(kept),
               [&](const Record* record) { return keep(*record); });
  return kept;
}

struct Bin {
  const char* name;
  double low, high;  ///< tied share of the space
};
inline constexpr std::array<Bin, 5> bins = {{{"all", 0, 1.1},
                                             {"below 1 %", 0, 0.01},
                                             {"1 to 5 %", 0.01, 0.05},
                                             {"5 to 20 %", 0.05, 0.2},
                                             {"above 20 %", 0.2, 1.1}}};

inline Records in_bin(const Records& records, const Bin& bin) {
  return those(records, [&](const Record& record) {
    return record.tied_share >= bin.low && record.tied_share < bin.high;
  });
}

inline double median_of(const Records& records, int Record::*what) {
  return quantile(
      values_of(records, [&](const Record& r) { return std::optional<double>(r.*what); }), 0.5);
}

inline double late_regret(const Records& records) {
  return quantile(values_of(records, leader_regret), 0.95);
}

/// One rival in one bin: its ladder, and the rounds at which it is as good as the first contender,
/// where both name the fastest they know of. What is measured behind the answer, to report and
/// verify it, counts for nobody.
inline Json duel(const Options& options, const std::vector<std::vector<Record>>& all,
                 std::size_t first, const Bin& bin) {
  const Records ours = in_bin(of_contender(all, 0), bin);
  Json json{{"machines", ours.size()}};
  if (ours.empty()) return json;
  std::vector<std::pair<double, double>> ladder;
  for (std::size_t step = 0; step < options.ladder.size(); ++step) {
    const Records theirs = in_bin(of_contender(all, first + step), bin);
    ladder.emplace_back(median_of(theirs, &Record::answer_rounds), late_regret(theirs));
    const double regret = ladder.back().second;
    const double within = detail::share_within(values_of(theirs, leader_regret), 0.02);
    json["ladder"].push_back({{"rounds", ladder.back().first},
                              {"regret_p95", std::isfinite(regret) ? Json(regret) : Json(nullptr)},
                              {"share_within_2_percent", within}});
  }
  const auto rounds = rounds_at(ladder, late_regret(ours));
  const double our_rounds = median_of(ours, &Record::answer_rounds);
  json["our_rounds"] = our_rounds;
  json["our_regret_p95"] = late_regret(ours);
  json["rounds_at_equal_regret"] = rounds ? Json(*rounds) : Json(nullptr);
  json["times_our_rounds"] = rounds ? Json(*rounds / our_rounds) : Json(nullptr);
  if (!rounds) json["times_our_rounds_more_than"] = ladder.back().first / our_rounds;
  return json;
}

inline Json duels(const Options& options, const std::vector<std::vector<Record>>& all) {
  Json json = Json::object();
  for (std::size_t r = 0; r < options.rivals.size(); ++r) {
    for (const Bin& bin : bins) {
      json[options.rivals[r]][bin.name] = duel(options, all, 1 + r * options.ladder.size(), bin);
    }
  }
  return json;
}

inline Json row_of(const Record& record) {
  const double regret = *final_regret(record);
  return {{"seed", record.seed},
          {"accelerator", record.accelerator},
          {"throttled", record.throttled},
          {"space", record.space},
          {"tied_share", record.tied_share},
          {"regret", std::isfinite(regret) ? Json(regret) : Json(nullptr)},
          {"rounds", record.rounds},
          {"choice", to_json(record.choice)},
          {"best", to_json(record.best)},
          {"virtual_s", record.virtual_s},
          {"changes", record.changes},
          {"recommended_gain", record.recommended_gain},
          {"error", record.error}};
}

inline Json groups_of(const Records& records) {
  Json json{{"all", summary_of(records)}};
  json["accelerators"] = summary_of(those(records, [](const Record& r) { return r.accelerator; }));
  json["cpu_devices"] = summary_of(those(records, [](const Record& r) { return !r.accelerator; }));
  json["throttled_meanwhile"] =
      summary_of(those(records, [](const Record& r) { return r.throttled; }));
  json["steady"] = summary_of(those(records, [](const Record& r) { return !r.throttled; }));
  for (const Bin& bin : bins) {
    if (bin.low == 0 && bin.high > 1) continue;
    const Records binned = in_bin(records, bin);
    json["by_tied_share"][bin.name] = {
        {"machines", binned.size()},
        {"regret", detail::regret_of(values_of(binned, final_regret))},
        {"rounds_p50", binned.empty() ? Json(nullptr) : Json(median_of(binned, &Record::rounds))}};
  }
  return json;
}

inline Json report(const Options& options, const std::vector<std::vector<Record>>& all,
                   double wall_s) {
  const Records ours = of_contender(all, 0);
  Json json;
  json["what"] = "simulated machines whose best config is known";
  json["options"] = {{"machines", options.machines},
                     {"seed", options.seed},
                     {"search", options.search},
                     {"rounds", options.rounds},
                     {"budget_s", options.budget_s},
                     {"tiers", options.tiers},
                     {"space", {options.size.least, options.size.most}},
                     {"noise", options.noise},
                     {"throttling", options.throttling},
                     {"null_machines", options.null_machines},
                     {"knows_memory", options.knows_memory}};
  json["wall_s"] = detail::rounded(wall_s);
  json["machines_per_minute"] = detail::rounded(60 * options.machines / wall_s);
  json["groups"] = groups_of(ours);
  if (!options.rivals.empty()) json["rivals"] = duels(options, all);
  if (options.rows) {
    for (const Record* record : ours) json["rows"].push_back(row_of(*record));
  }
  return json;
}

}  // namespace feedrate::simulate
