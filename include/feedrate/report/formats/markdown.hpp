// SPDX-License-Identifier: Apache-2.0
// A gate as Markdown, for the job summary of GitHub and for comments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "feedrate/report/formats/escapes.hpp"
#include "feedrate/report/gate/gate_text.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Rows of a table: GitHub refuses a summary of more than 1 MiB.
inline constexpr std::size_t most_markdown_rows = 200;

inline std::string markdown_row(const GateMetric& metric) {
  const auto cell = [](const std::string& text) { return " " + text + " |"; };
  const auto value = [&](double v) { return markdown_text(value_text(v, metric.unit)); };
  std::string row = "|" + cell(markdown_text(metric.name));
  row += cell(metric.conclusion ? words_of(*metric.conclusion) : "not judged");
  row += cell(metric.base ? value(metric.base->estimate) : "");
  row += cell(value(metric.value.estimate));
  row += cell(metric.speed_ratio ? change_text(metric.speed_ratio->estimate) : "");
  row += cell(metric.speed_ratio ? change_bounds_text(*metric.speed_ratio)
                                 : bounds_text(metric.value, value));
  return row + "\n";
}

inline std::string markdown_table(const Gate& gate) {
  if (gate.metrics.empty()) return {};
  std::string text =
      "| metric | conclusion | base | now | speed | 95 % interval |\n|---|---|--:|--:|--:|---|\n";
  const auto metrics = worst_first(gate);
  for (std::size_t i = 0; i < std::min(metrics.size(), most_markdown_rows); ++i) {
    text += markdown_row(*metrics[i]);
  }
  if (metrics.size() > most_markdown_rows) {
    text += "\nand " + format_count(metrics.size() - most_markdown_rows) + " more metrics\n";
  }
  return text + "\n";
}

/// "- fed >= 0.90: met".
inline std::string markdown_requirements(const Gate& gate) {
  std::string text;
  for (const GateRequirement& requirement : gate.requirements) {
    text += "- **" + words_of(requirement.fulfilment) +
            "**: " + markdown_text(sentence_of(gate, requirement)) + "\n";
  }
  return text.empty() ? text : text + "\n";
}

inline std::string markdown_reasons(const Gate& gate) {
  std::string text;
  const auto metrics = worst_first(gate);
  for (std::size_t i = 0; i < std::min(metrics.size(), most_markdown_rows); ++i) {
    if (metrics[i]->reason.empty()) continue;
    text +=
        "- " + markdown_text(metrics[i]->name) + ": " + markdown_text(metrics[i]->reason) + "\n";
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace detail

inline std::string markdown_document(const Gate& gate, Undecided) {
  std::string text = "### autotune " + gate.verb + ": " + verdict_of(gate) + "\n\n" +
                     markdown_text(gate.subject) + "\n\n";
  text += detail::markdown_table(gate) + detail::markdown_requirements(gate) +
          detail::markdown_reasons(gate);
  for (const std::string& note : gate.notes) text += markdown_text(note) + "\n\n";
  return text + "<details><summary>Repeat this run</summary>\n\n<pre>" +
         xml_text(gate.tool.command_line) + "</pre>\n\n</details>\n";
}

}  // namespace feedrate::inline v0
