// SPDX-License-Identifier: Apache-2.0
// What-ifs as a small table: if you fixed only this.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/report/levers.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/tune/state/outcome.hpp"

namespace feedrate::inline v0 {
namespace detail {

inline std::string what_if_name(std::string_view name) {
  if (name == "decoded") return "decoding free";
  if (name == "unaugmented") return "augmentation free";
  if (name == "no_copy") return "no copy";
  if (name == "device_infinite") return "step free";
  if (name == "loader_infinite") return "loading free";
  if (const StepLever* lever = step_lever_named(name)) return std::string(lever->title);
  if (name == cpp_loader.name) return std::string(cpp_loader.title);
  return std::string(name);
}

/// "   2.31x (2.20 to 2.43)"; with one pair of rounds there is no interval.
inline std::string what_if_gain(const Interval& speedup) {
  const std::string gain = right_aligned(format_number(speedup.estimate) + "x", 9);
  if (!std::isfinite(speedup.high)) return gain;
  return gain + "  (" + format_number(speedup.low) + " to " + format_number(speedup.high) + ")";
}

inline std::string what_if_row(const WhatIf& row, std::size_t indent, std::size_t width) {
  const std::string name =
      std::string(indent, ' ') + left_aligned(what_if_name(row.name), width < 60 ? 17 : 20);
  if (width < 60) return name + right_aligned(format_number(row.speedup.estimate) + "x", 9) + "\n";
  return name + right_aligned(format_number(row.samples_per_s), 10) + what_if_gain(row.speedup) +
         "\n";
}

/// Why rows are missing: "not measured: augmentation free (these samples are not augmented)".
inline std::string what_ifs_left_out(const Outcome& outcome) {
  std::string text;
  for (const NotApplicable& value : outcome.not_applicable) {
    if (value.axis != "what_if") continue;
    text += (text.empty() ? "not measured: " : "; ") + what_if_name(value.value) + " (" +
            value.why + ")";
  }
  return text;
}

}  // namespace detail

/// What is taken away, a phrase; of a script's step, what to write.
inline std::string what_if_meaning(std::string_view name) {
  if (name == "decoded") return "every sample is already read and decoded";
  if (name == "unaugmented") return "nothing is resized or mirrored";
  if (name == "no_copy") return "batches need no copy to the device";
  if (name == "device_infinite") return "the step takes no time";
  if (name == "loader_infinite") return "samples cost nothing";
  if (const StepLever* lever = step_lever_named(name)) return std::string(lever->line);
  if (name == cpp_loader.name) return std::string(cpp_loader.line);
  return std::string(name);
}

/// The table as lines of at most `width` columns, each ended, or why there is none; empty where
/// none was asked for. The configs are told apart as the reference and what is recommended. A
/// change of a script's step shows the rate of its loop with what is recommended.
inline std::string what_if_text(const Outcome& outcome, std::size_t indent = 6,
                                std::size_t width = 80) {
  std::vector<WhatIf> rows = outcome.what_if;
  std::erase_if(rows, [](const WhatIf& row) { return row.name == cpp_loader.name; });
  const std::string left_out = detail::what_ifs_left_out(outcome);
  if (rows.empty()) return left_out.empty() ? "" : labelled("IF", left_out, indent, width);
  const Config& reference = outcome.trials[outcome.reference].config;
  const std::string columns = width < 60 ? "gain" : "samples/s, gain";
  const bool of_step = step_lever_named(rows.front().name) != nullptr;
  const std::string what =
      of_step ? "only the step were changed: rate of the loop (" : "only one cost were removed (";
  std::string text = labelled("IF", what + columns + ")", indent, width);
  std::string_view head;
  for (const WhatIf& row : rows) {
    const std::string_view of = row.config == reference ? "now:" : "recommended:";
    if (!of_step && std::exchange(head, of) != of) text += labelled("", of, indent, width);
    text += detail::what_if_row(row, indent + 2, width);
  }
  if (!left_out.empty()) text += labelled("", left_out, indent, width);
  if (of_step) text += labelled("", "none is recommended: check that it converges", indent, width);
  return text;
}

/// What another loader brought in the script's own loop, as lines like those of the table; empty
/// where none was tried.
inline std::string other_loader_text(const Outcome& outcome, std::size_t indent = 6,
                                     std::size_t width = 80) {
  for (const WhatIf& row : outcome.what_if) {
    if (row.name != cpp_loader.name) continue;
    const Interval& gain = row.speedup;
    return labelled("IF",
                    std::string(cpp_loader.title) +
                        " read this dataset: " + format_number(row.samples_per_s) + " samples/s, " +
                        format_number(gain.estimate) + "x as fast as recommended (" +
                        format_number(gain.low) + " to " + format_number(gain.high) + ")",
                    indent, width) +
           labelled("", "-> " + std::string(cpp_loader.line) + "   (docs/python.md)", indent,
                    width);
  }
  return {};
}

}  // namespace feedrate::inline v0
