// SPDX-License-Identifier: Apache-2.0
// A gate as text: the verdict, a table of the metrics, a line for each failure, and the command
// that repeats the run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/gate/gate_sentences.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Rows of the table and lines of failures; with all else, the usual case fits 24 lines.
inline constexpr std::size_t most_rows = 8, most_failures = 4;

/// The text, cut with "..." where it is longer.
inline std::string fitted(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return left_aligned(text, columns);
  std::string cut;
  while (columns_of(cut) + 3 < columns) {
    const std::size_t length = std::max<std::size_t>(utf8_length(text), 1);
    cut += text.substr(0, length);
    text.remove_prefix(length);
  }
  return cut + "...";
}

/// "name   now   change   95 % interval   conclusion" in columns.
inline std::string metric_row(const GateMetric& metric, std::size_t name_columns) {
  const Interval nothing{};
  const Interval& ratio = metric.speed_ratio.value_or(nothing);
  const std::string change = metric.speed_ratio ? change_text(ratio.estimate) : "";
  const std::string bounds =
      metric.speed_ratio ? change_bounds_text(ratio)
                         : bounds_text(metric.value, [&](double v) { return format_number(v); });
  const std::string conclusion = metric.conclusion ? words_of(*metric.conclusion) : "";
  std::string row = fitted(clean_text(metric.name), name_columns) + " " +
                    right_aligned(value_text(metric.value.estimate, metric.unit), 17) + " " +
                    right_aligned(change, 7) + "  " + left_aligned(bounds, 18) + " " + conclusion;
  return row.erase(row.find_last_not_of(' ') + 1) + "\n";
}

/// A row per metric; on a narrow terminal, a wrapped sentence per metric.
inline std::string metrics_text(const Gate& gate, std::size_t width) {
  constexpr std::size_t others = 17 + 1 + 7 + 2 + 18 + 1 + 14 + 1;
  const std::size_t name_columns = std::min<std::size_t>(width - std::min(width, others), 40);
  const bool wide = name_columns >= 16;
  const auto metrics = worst_first(gate);
  std::string text = metrics.empty() ? "" : "\n";
  if (wide && !metrics.empty()) {
    text += left_aligned("", name_columns) + " " + right_aligned("now", 17) + " " +
            right_aligned("speed", 7) + "  95 % interval\n";
  }
  for (std::size_t i = 0; i < std::min(metrics.size(), most_rows); ++i) {
    text += wide ? metric_row(*metrics[i], name_columns)
                 : labelled("", sentence_of(*metrics[i]), 2, width);
  }
  if (metrics.size() > most_rows) {
    text += "and " + format_count(metrics.size() - most_rows) + " more (--json shows all)\n";
  }
  return text;
}

}  // namespace detail

/// The verdict and a line per failure: what, how much, interval, reason.
inline std::string gate_verdict_text(const Gate& gate, std::size_t width) {
  std::string text = labelled("", verdict_of(gate), 0, width);
  const std::vector<Failure> failures = failures_of(gate);
  for (std::size_t i = 0; i < std::min(failures.size(), detail::most_failures); ++i) {
    text += labelled("-", failures[i].kind + ": " + failures[i].sentence, 2, width);
  }
  if (failures.size() > detail::most_failures) {
    text += "- and " + format_count(failures.size() - detail::most_failures) + " more\n";
  }
  return text;
}

/// The screen. Only the command that repeats the run may be wider than `width`: it is to be pasted.
inline std::string gate_text(const Gate& gate, std::size_t width) {
  std::string text =
      labelled("", "autotune " + gate.verb + " · " + clean_text(gate.subject), 0, width);
  text += gate_verdict_text(gate, width) + detail::metrics_text(gate, width);
  if (!gate.notes.empty()) text += "\n";
  for (const std::string& note : gate.notes) text += labelled("", clean_text(note), 0, width);
  if (gate.conclusion() != Conclusion::pass && !gate.tool.command_line.empty()) {
    text += "\nrepeat: " + clean_text(gate.tool.command_line) + "\n";
  }
  return text;
}

}  // namespace feedrate::inline v0
