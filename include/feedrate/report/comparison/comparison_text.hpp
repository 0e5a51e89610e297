// SPDX-License-Identifier: Apache-2.0
// A comparison of reports as text: a row per report, what it recommends and where it ran.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/core/axes.hpp"
#include "feedrate/report/comparison/comparison_notes.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/choice_text.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Cuts the front of a name that is too long: "...node7/r.json".
inline std::string shortened(std::string name, std::size_t columns) {
  if (columns_of(name) <= columns) return name;
  const std::size_t kept = columns > 3 ? columns - 3 : 1;
  while (columns_of(name) > kept) {
    do name.erase(0, 1);
    while (!name.empty() && (static_cast<unsigned char>(name[0]) & 0xC0) == 0x80);
  }
  return "..." + name;
}

/// "1,234 ±1.2 %", "-".
inline std::string rate_text(const std::optional<Interval>& rate) {
  if (!rate) return "-";
  const std::string error = format_error(rate->relative_error());
  return format_number(rate->estimate) + (error.empty() ? "" : " " + error);
}

/// "92 ±1.5 %": the half of the width in points.
inline std::string share_text(const std::optional<Interval>& share) {
  if (!share || !std::isfinite(share->estimate)) return "-";
  const double half = (share->high - share->low) / 2;
  const int decimals = std::abs(share->estimate) < 0.0995 ? 1 : 0;
  return fixed(100 * share->estimate, decimals) +
         (std::isfinite(half) ? " ±" + fixed(100 * half, 1) : "") + " %";
}

/// "1.90x (1.80 to 2.00)", or that nothing changes.
inline std::string gain_text(const Report& report) {
  const Outcome& outcome = report.outcome;
  if (outcome.tiers.empty()) return "-";
  if (outcome.choice().trial == outcome.reference) return "no change";
  return speedup_text(*metric_of(report, "speedup"));
}

inline std::string machine_text(const Machine& machine) {
  std::string text = describe_cpus(machine.limits.cpus);
  if (!machine.cpu_model.empty()) text += ", " + machine.cpu_model;
  if (!machine.gpus.list.empty()) {
    text += ", " + std::to_string(machine.gpus.list.size()) + " x " + machine.gpus.list[0].name;
  }
  return text + " (" + machine.fingerprint.substr(0, 8) + ")";
}

/// Writes row after row.
class ComparisonText {
 public:
  ComparisonText(const ReportComparison& comparison, std::size_t width)
      : comparison_(comparison), width_(std::max<std::size_t>(width, 24)) {
    for (const NamedReport& one : comparison.reports) {
      names_ = std::max(names_, columns_of(clean_text(one.file)));
    }
    names_ = std::min(names_, width_ - std::min(width_ - 8, figures));
  }

  std::string text() {
    if (is_wide()) header();
    for (const NamedReport& one : comparison_.reports) {
      is_wide() ? row(one) : block(one);
      details(one.report);
    }
    text_ += "\n";
    line(not_ranked_sentence(comparison_));
    for (const std::string& sentence : result_sentences(comparison_)) line(sentence);
    for (const std::string& note : comparison_notes(comparison_)) line(note);
    return text_;
  }

 private:
  static constexpr std::size_t figures = 16 + 12 + 12 + 24;

  bool is_wide() const noexcept { return width_ >= figures + 12; }

  void header() {
    text_ += std::string(names_, ' ') + right_aligned("samples/s", 16) + right_aligned("fed", 12) +
             right_aligned("busy", 12) + "  speed-up\n";
  }

  void row(const NamedReport& one) {
    text_ += left_aligned(shortened(clean_text(one.file), names_), names_) +
             right_aligned(rate_text(metric_of(one.report, "samples_per_s")), 16) +
             right_aligned(share_text(metric_of(one.report, "fed")), 12) +
             right_aligned(share_text(metric_of(one.report, "busy")), 12) + "  " +
             gain_text(one.report) + "\n";
  }

  void block(const NamedReport& one) {
    text_ += shortened(clean_text(one.file), width_) + "\n";
    detail(rate_text(metric_of(one.report, "samples_per_s")) + " samples/s");
    detail("fed " + share_text(metric_of(one.report, "fed")) + ", busy " +
           share_text(metric_of(one.report, "busy")));
    detail("speed-up " + gain_text(one.report));
  }

  void details(const Report& report) {
    const Trial* trial = recommended_trial(report);
    if (trial) detail(title_of(trial->config));
    detail(machine_text(report.machine));
    detail("commit " + report.tool.commit + ", " + report.tool.started_at);
  }

  void detail(const std::string& what) { text_ += labelled("", what, 2, width_); }

  void line(const std::string& sentence) {
    if (!sentence.empty()) text_ += labelled("", sentence, 0, width_);
  }

  const ReportComparison& comparison_;
  std::size_t width_;
  std::size_t names_ = 0;
  std::string text_;
};

}  // namespace detail

/// At most `width` columns wide, each line ended.
inline std::string comparison_text(const ReportComparison& comparison, std::size_t width = 80) {
  return detail::ComparisonText(comparison, width).text();
}

}  // namespace feedrate::inline v0
