// SPDX-License-Identifier: Apache-2.0
// Diagnoses as JSON: the causes, their sentences, and the numbers behind them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

#include "feedrate/report/json/trial_json.hpp"
#include "feedrate/report/text/causes.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// A number of a cause, by the name that it has in reports.
struct CauseNumber {
  std::string_view name;
  double CauseNumbers::*number;
};

inline constexpr std::array<CauseNumber, 43> cause_numbers = {{
    {"loader_samples_per_s", &CauseNumbers::loader_samples_per_s},
    {"one_worker_samples_per_s", &CauseNumbers::one_worker_samples_per_s},
    {"copy_samples_per_s", &CauseNumbers::copy_samples_per_s},
    {"better_copy_samples_per_s", &CauseNumbers::better_copy_samples_per_s},
    {"device_samples_per_s", &CauseNumbers::device_samples_per_s},
    {"smaller_batch_samples_per_s", &CauseNumbers::smaller_batch_samples_per_s},
    {"cores_samples_per_s", &CauseNumbers::cores_samples_per_s},
    {"coupled_samples_per_s", &CauseNumbers::coupled_samples_per_s},
    {"storage_samples_per_s", &CauseNumbers::storage_samples_per_s},
    {"storage_bytes_per_s", &CauseNumbers::storage_bytes_per_s},
    {"cached_bytes_per_s", &CauseNumbers::cached_bytes_per_s},
    {"load_s", &CauseNumbers::load_s},
    {"load_cpu_s", &CauseNumbers::load_cpu_s},
    {"part_share", &CauseNumbers::part_share},
    {"waiting_share", &CauseNumbers::waiting_share},
    {"below_ceiling_share", &CauseNumbers::below_ceiling_share},
    {"cores", &CauseNumbers::cores},
    {"cores_used", &CauseNumbers::cores_used},
    {"has_core_share", &CauseNumbers::has_core_share},
    {"step_slowdown", &CauseNumbers::step_slowdown},
    {"cpu_inflation", &CauseNumbers::cpu_inflation},
    {"sigma", &CauseNumbers::sigma},
    {"quota_cpus", &CauseNumbers::quota_cpus},
    {"visible_cpus", &CauseNumbers::visible_cpus},
    {"pool_threads", &CauseNumbers::pool_threads},
    {"boundary_s", &CauseNumbers::boundary_s},
    {"boundary_share", &CauseNumbers::boundary_share},
    {"epoch_samples", &CauseNumbers::epoch_samples},
    {"step_fixed_s", &CauseNumbers::step_fixed_s},
    {"step_per_sample_s", &CauseNumbers::step_per_sample_s},
    {"step_fixed_share", &CauseNumbers::step_fixed_share},
    {"batch", &CauseNumbers::batch},
    {"largest_batch", &CauseNumbers::largest_batch},
    {"memory_used_bytes", &CauseNumbers::memory_used_bytes},
    {"memory_bytes", &CauseNumbers::memory_bytes},
    {"graph_speedup", &CauseNumbers::graph_speedup},
    {"graph_step_speedup", &CauseNumbers::graph_step_speedup},
    {"step_speedup", &CauseNumbers::step_speedup},
    {"speedup_if_free", &CauseNumbers::speedup_if_free},
    {"clock_hz", &CauseNumbers::clock_hz},
    {"max_clock_hz", &CauseNumbers::max_clock_hz},
    {"other_processes", &CauseNumbers::other_processes},
    {"other_busy_share", &CauseNumbers::other_busy_share},
}};

/// Those that the cause has.
inline Json numbers_json(const CauseNumbers& numbers) {
  Json json = Json::object();
  for (const auto& [name, number] : cause_numbers) {
    if (std::isfinite(numbers.*number)) json[std::string(name)] = numbers.*number;
  }
  return json;
}

inline Json diagnosis_json(const Diagnosis& diagnosis, const CauseText& text) {
  return {{"cause", name_of(diagnosis.cause)},
          {"share_of_gap", diagnosis.share_of_gap},
          {"summary", text.summary},
          {"evidence", text.evidence()},
          {"remedy", text.remedy},
          {"numbers", numbers_json(diagnosis.numbers)},
          {"gain", or_null(diagnosis.gain)},
          {"how", !diagnosis.gain      ? Json(nullptr)
                  : diagnosis.measured ? "measured"
                                       : "modelled"},
          {"where", or_null(std::string(name_of(diagnosis.where)))}};
}

}  // namespace detail

/// One object for each cause, in their order.
inline Json diagnoses_json(const Report& report) {
  Json json = Json::array();
  const auto& diagnoses = report.outcome.diagnoses;
  for (std::size_t d = 0; d < diagnoses.size(); ++d) {
    json.push_back(detail::diagnosis_json(diagnoses[d], cause_text(report, d)));
  }
  return json;
}

}  // namespace feedrate::inline v0
