// SPDX-License-Identifier: Apache-2.0
// Summaries of many contests: distributions, shares, and rounds needed for equal regret.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contest.hpp"

namespace feedrate::simulate {

using Json = nlohmann::ordered_json;

/// The records of one contender.
using Records = std::vector<const Record*>;

/// The value below which the share `p` of the values lies; linear between neighbours.
inline double quantile(std::vector<double> values, double p) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  const double place = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, values.size() - 1);
  const double part = place - static_cast<double>(below);
  return part > 0 ? values[below] + part * (values[above] - values[below]) : values[below];
}

template <class What>
std::vector<double> values_of(const Records& records, What&& what) {
  std::vector<double> values;
  for (const Record* record : records) {
    if (const std::optional<double> value = what(*record)) values.push_back(*value);
  }
  return values;
}

/// Regret in the widest tier that was allowed; no answer is infinite regret.
inline std::optional<double> final_regret(const Record& record) {
  for (std::size_t tier = record.regret.size(); tier-- > 0;) {
    if (record.regret[tier]) return record.regret[tier];
  }
  return infinity;
}

/// Regret of the fastest that was named there; no answer is infinite regret.
inline std::optional<double> leader_regret(const Record& record) {
  return record.leader_regret.value_or(infinity);
}

namespace detail {

inline double rounded(double value) {
  return std::round(value * 1e5) / 1e5;
}

inline Json distribution(const std::vector<double>& values) {
  Json json;
  json["count"] = values.size();
  constexpr std::array<std::pair<const char*, double>, 7> points = {{{"p05", 0.05},
                                                                     {"p25", 0.25},
                                                                     {"p50", 0.5},
                                                                     {"p75", 0.75},
                                                                     {"p90", 0.9},
                                                                     {"p95", 0.95},
                                                                     {"p99", 0.99}}};
  for (const auto& [name, p] : points) {
    const double value = quantile(values, p);
    json[name] = std::isfinite(value) ? Json(rounded(value)) : Json(nullptr);
  }
  return json;
}

inline double share_within(const std::vector<double>& values, double limit) {
  const auto within =
      std::count_if(values.begin(), values.end(), [&](double v) { return v <= limit; });
  return static_cast<double>(within) / static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

inline Json regret_of(const std::vector<double>& values) {
  Json json = distribution(values);
  json["share_within_2_percent"] = rounded(share_within(values, 0.02));
  json["share_within_5_percent"] = rounded(share_within(values, 0.05));
  return json;
}

/// `which(record)` is a tally.
template <class Which>
Json tally_of(const Records& records, Which&& which) {
  Tally sum;
  int affected = 0;
  for (const Record* record : records) {
    const Tally& tally = std::invoke(which, *record);
    sum.said += tally.said;
    sum.right += tally.right;
    affected += tally.right < tally.said;
  }
  Json json;
  json["said"] = sum.said;
  json["wrong"] = sum.said - sum.right;
  if (sum.said) json["wrong_share"] = rounded(1 - double(sum.right) / sum.said);
  json["machines_with_a_wrong_one"] = affected;
  return json;
}

inline Json standings_of(const Records& records, std::size_t tier) {
  std::map<std::string, int> counts;
  for (const Record* record : records) {
    if (record->standing[tier]) ++counts[std::string(name_of(*record->standing[tier]))];
  }
  return counts;
}

template <class Number>
Json phases_of(const Records& records, std::map<std::string, Number> Record::*which) {
  std::map<std::string, double> sums;
  for (const Record* record : records) {
    for (const auto& [phase, amount] : record->*which) sums[phase] += amount;
  }
  Json json;
  for (const auto& [phase, sum] : sums) json[phase] = rounded(sum / double(records.size()));
  return json;
}

inline Json errors_of(const Records& records) {
  std::map<std::string, int> counts;
  for (const Record* record : records) {
    if (!record->error.empty()) ++counts[record->error];
  }
  return counts;
}

/// Rounds over the promise: the larger of 3 % of the grid, which is five rounds each, and 60.
inline std::optional<double> cost_over_promise(const Record& record) {
  return record.rounds / std::max(0.03 * 5 * static_cast<double>(record.space), 60.0);
}

inline Json model_errors_of(const Records& records) {
  std::vector<double> all, medians;
  for (const Record* record : records) {
    std::vector<double> errors;
    for (const double error : record->model_errors) errors.push_back(std::abs(std::expm1(error)));
    all.insert(all.end(), errors.begin(), errors.end());
    if (!errors.empty()) medians.push_back(quantile(errors, 0.5));
  }
  return {{"over_configs", distribution(all)}, {"medians_of_machines", distribution(medians)}};
}

/// How often a change is recommended, and how often that is slower than the reference by 1 % or
/// more.
inline Json recommended_of(const Records& records) {
  const auto count = [&](auto&& is) {
    return std::count_if(records.begin(), records.end(), [&](const Record* r) { return is(*r); });
  };
  const auto share = [&](auto&& is) {
    return rounded(double(count(is)) / double(std::max<std::size_t>(records.size(), 1)));
  };
  return {{"changes_share", share([](const Record& r) { return r.changes; })},
          {"slower_share", share([](const Record& r) { return r.recommended_gain <= -0.01; })},
          {"gain", distribution(values_of(records, [](const Record& r) {
             return r.changes ? std::optional(r.recommended_gain) : std::nullopt;
           }))}};
}

inline Json tiers_of(const Records& records) {
  Json json = Json::object();
  for (std::size_t tier = 0; tier < tier_names.size(); ++tier) {
    const auto regrets = values_of(records, [&](const Record& r) { return r.regret[tier]; });
    if (regrets.empty()) continue;
    json[std::string(tier_names[tier])] = {{"regret", regret_of(regrets)},
                                           {"standing", standings_of(records, tier)}};
  }
  return json;
}

}  // namespace detail

/// All that can be said of one contender over these machines.
inline Json summary_of(const Records& records) {
  using namespace detail;
  Json json;
  json["machines"] = records.size();
  json["regret"] = regret_of(values_of(records, final_regret));
  const auto measured = values_of(records, [](const Record& r) { return r.measured_regret; });
  const auto raced = values_of(records, [](const Record& r) { return r.raced_regret; });
  if (!measured.empty()) {
    json["regret_if_the_truth_chose"] = {{"among_measured", regret_of(measured)},
                                         {"among_raced", regret_of(raced)}};
  }
  json["rounds"] = distribution(
      values_of(records, [](const Record& r) { return std::optional<double>(r.rounds); }));
  json["rounds_to_answer"] = distribution(
      values_of(records, [](const Record& r) { return std::optional<double>(r.answer_rounds); }));
  json["share_of_grid"] = distribution(values_of(records, [](const Record& r) {
    return std::optional<double>(r.rounds / (5.0 * double(r.space)));
  }));
  json["cost_over_promise"] = distribution(values_of(records, cost_over_promise));
  json["rounds_by_phase_mean"] = phases_of(records, &Record::phases);
  json["seconds_by_phase_mean"] = phases_of(records, &Record::phase_s);
  json["tiers"] = tiers_of(records);
  json["recommended"] = recommended_of(records);
  const std::array<const char*, 3> bins = {"below_3_percent", "3_to_20_percent",
                                           "above_20_percent"};
  for (std::size_t b = 0; b < bins.size(); ++b) {
    json["verdicts_by_distance"][bins[b]] =
        tally_of(records, [b](const Record& r) { return r.verdicts[b]; });
  }
  json["gains_over_reference"] = tally_of(records, &Record::gains);
  json["resolved"] = tally_of(records, &Record::resolved);
  json["open_gains"] = tally_of(records, &Record::open_gains);
  json["open_gains_of_sure_answers_in_the_whole_space"] = tally_of(records, &Record::space_gains);
  json["pair_intervals"] = tally_of(records, &Record::pair_intervals);
  json["verified_intervals"] = tally_of(records, &Record::verified);
  json["model_error"] = model_errors_of(records);
  json["virtual_s"] = distribution(
      values_of(records, [](const Record& r) { return std::optional<double>(r.virtual_s); }));
  json["wall_ms"] = distribution(
      values_of(records, [](const Record& r) { return std::optional<double>(1e3 * r.wall_s); }));
  json["errors"] = errors_of(records);
  return json;
}

/// The rounds at which a rival's 95 % quantile of regret falls to `regret`: between two allowances
/// by its logarithm. Empty where none of them was enough.
///
/// `ladder` holds (median rounds used, quantile of regret), fewest rounds first.
inline std::optional<double> rounds_at(const std::vector<std::pair<double, double>>& ladder,
                                       double regret) {
  for (std::size_t step = 0; step < ladder.size(); ++step) {
    const auto [rounds, reached] = ladder[step];
    if (reached > regret) continue;
    if (step == 0) return rounds;
    const auto [fewer, worse] = ladder[step - 1];
    if (!std::isfinite(worse) || worse <= reached) return rounds;
    const double part = (worse - regret) / (worse - reached);
    return std::exp(std::log(fewer) + part * (std::log(rounds) - std::log(fewer)));
  }
  return std::nullopt;
}

}  // namespace feedrate::simulate
