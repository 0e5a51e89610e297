// SPDX-License-Identifier: Apache-2.0
// What `doctor --require` may name: values of the machine and its card. They are best rates and
// counts, without an interval.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "doctor/finding.hpp"
#include "feedrate/card/machine_facts.hpp"
#include "feedrate/report/gate/requirements.hpp"

namespace feedrate {

struct DoctorMetric : MetricKind {
  std::optional<double> (*of)(const Facts&, const std::vector<Finding>&);
};

namespace detail {

inline std::optional<double> known_rate(const Rate& rate) {
  return rate.known() ? std::optional(rate.per_s) : std::nullopt;
}

template <Precision precision>
std::optional<double> product_rate(const Facts& facts, const std::vector<Finding>&) {
  for (const ProductRate& product : facts.card.products) {
    if (product.precision == precision) return known_rate(product.flops.all);
  }
  return std::nullopt;
}

template <Status status>
std::optional<double> count_of(const Facts&, const std::vector<Finding>& findings) {
  return static_cast<double>(std::count_if(findings.begin(), findings.end(),
                                           [](const Finding& f) { return f.status == status; }));
}

}  // namespace detail

inline constexpr std::array<DoctorMetric, 11> doctor_metrics = {{
    {{"read_bytes_per_s", "bytes/s"},
     [](const Facts& facts, const auto&) { return detail::known_rate(facts.card.read.cold); }},
    {{"cached_read_bytes_per_s", "bytes/s"},
     [](const Facts& facts, const auto&) { return detail::known_rate(facts.card.read.cached); }},
    {{"decode_images_per_s", "images/s"},
     [](const Facts& facts, const auto&) {
       return detail::known_rate(facts.card.decode.images.all);
     }},
    {{"copy_bytes_per_s", "bytes/s"},
     [](const Facts& facts, const auto&) { return detail::known_rate(facts.card.copy.all); }},
    {{"fp32_flops_per_s", "FLOP/s"}, detail::product_rate<Precision::fp32>},
    {{"bf16_flops_per_s", "FLOP/s"}, detail::product_rate<Precision::bf16>},
    {{"cpus", "1"},
     [](const Facts& facts, const auto&) -> std::optional<double> {
       return facts.card.machine.limits.cpus.cores();
     }},
    {{"memory_bytes", "bytes"},
     [](const Facts& facts, const auto&) -> std::optional<double> {
       return static_cast<double>(facts.card.machine.limits.memory.usable_bytes);
     }},
    {{"gpus", "1"},
     [](const Facts& facts, const auto&) -> std::optional<double> {
       return static_cast<double>(facts.card.machine.gpus.list.size());
     }},
    {{"problems", "1", false}, detail::count_of<Status::problem>},
    {{"warnings", "1", false}, detail::count_of<Status::warning>},
}};

/// Those that were measured.
inline std::vector<GateMetric> metrics_of(const Facts& facts,
                                          const std::vector<Finding>& findings) {
  std::vector<GateMetric> metrics;
  for (const DoctorMetric& metric : doctor_metrics) {
    if (const auto value = metric.of(facts, findings)) {
      metrics.push_back(measured_metric(metric, {*value, *value, *value}));
    }
  }
  return metrics;
}

}  // namespace feedrate
