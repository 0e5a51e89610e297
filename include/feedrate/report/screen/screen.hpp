// SPDX-License-Identifier: Apache-2.0
// The report as one screen of text: what to set and how sure that is, why, what to paste, what
// next.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/report/gate/gate_sentences.hpp"
#include "feedrate/report/gate/of_report.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/screen/coverage.hpp"
#include "feedrate/report/screen/offers.hpp"
#include "feedrate/report/screen/rate_table.hpp"
#include "feedrate/report/screen/screen_options.hpp"
#include "feedrate/report/screen/verdict.hpp"
#include "feedrate/report/screen/why.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/emulation.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/price_text.hpp"
#include "feedrate/report/text/script_text.hpp"
#include "feedrate/report/text/what_if_text.hpp"
#include "feedrate/report/text/words.hpp"

namespace feedrate::inline v0 {

namespace detail {

/// Writes the screen piece by piece.
class Screen {
 public:
  Screen(const Report& report, const ScreenOptions& options) : report_(report), options_(options) {}

  std::string text() {
    title();
    if (outcome().tiers.empty()) {
      section("GATE", requirements());
      return text_ + "No config was measured; see the report.\n";
    }
    section("SET", verdict_lines(report_, options_));
    section("", offer_lines(outcome(), options_.verbose));
    section("GATE", requirements());
    text_ += rate_table(report_, options_) + "\n";
    section("WHY", why_lines(report_, options_.verbose));
    if (report_.price) section("COST", {price_text(report_)});
    emulation();
    what_ifs();
    text_ += "\n";
    paste();
    section("MORE", more());
    next();
    return text_;
  }

 private:
  const Outcome& outcome() const noexcept { return report_.outcome; }

  void title() {
    std::string line = "autotune · " + report_.workload.name + " · " + device_text(report_) +
                       " · " + describe_cpus(report_.machine.limits.cpus);
    if (const double share = others_share(outcome()); share > 0.1) {
      line += " · other processes took " + format_percent(share) + " of the CPUs";
    }
    if (report_.workload.kind == "builtin") line += " · built-in workload, not your data";
    if (outcome().interrupted) line += " · interrupted";
    for (const std::string& part : wrapped(line, options_.width)) text_ += part + "\n";
    text_ += "\n";
  }

  /// Lines behind a label.
  void section(std::string_view label, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) block(std::exchange(label, ""), line);
  }

  /// "not met: fed >= 0.90: fed is 0.712 (95 % interval: 0.690 to 0.734)."
  std::vector<std::string> requirements() const {
    const Gate gate = gate_of(report_);
    std::vector<std::string> lines;
    for (const GateRequirement& requirement : gate.requirements) {
      lines.push_back(words_of(requirement.fulfilment) + ": " + sentence_of(gate, requirement));
    }
    return lines;
  }

  void emulation() {
    if (!report_.accelerator) return;
    text_ += "\n" + emulation_text(emulation_of(outcome(), *report_.accelerator), screen_indent,
                                   options_.width);
  }

  void what_ifs() {
    for (const auto& table : {other_loader_text(outcome(), screen_indent, options_.width),
                              what_if_text(outcome(), screen_indent, options_.width)}) {
      if (!table.empty()) text_ += "\n" + table;
    }
  }

  void paste() {
    const bool keeps = outcome().choice().trial == outcome().reference;
    if (report_.settings.empty() || (keeps && !options_.verbose)) return;
    if (report_.workload.script) {
      text_ += "PASTE\n";
      for (const Setting& setting : report_.settings) change(setting.text);
      return;
    }
    std::string_view label = "PASTE";
    for (const Setting& setting : report_.settings) {
      block(std::exchange(label, ""), setting.framework + ": " + setting.text);
      if (options_.verbose && setting.measured_with != "feedrate") {
        block("", "(measured with " + setting.measured_with + ")");
      }
    }
  }

  /// A diff is pasted, not read: its lines stay whole.
  void change(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      text_ += std::string(text.substr(0, end)) + "\n";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  /// What went wrong and what was changed; beyond that, all that there is to know.
  std::vector<std::string> more() const {
    std::vector<std::string> lines;
    const auto add = [&](const std::vector<std::string>& some) {
      lines.insert(lines.end(), some.begin(), some.end());
    };
    if (options_.verbose && report_.workload.script) add(script_lines(report_));
    if (options_.verbose) {
      if (outcome().pareto.size() > 1) lines.push_back("Rate by memory: " + pareto_text(outcome()));
      add(coverage_lines(report_));
    }
    add(warning_lines(report_));
    if (options_.verbose) add(report_.notes);
    if (!report_.touched_files.empty()) lines.push_back(touched_text(report_.touched_files));
    return lines;
  }

  /// A command is never broken, so that it can be pasted: what is too long for a line has one of
  /// its own, however long, and the reason below it.
  void next() {
    std::string_view head = "NEXT";
    const std::size_t shown = options_.verbose ? report_.next.size() : 1;
    for (std::size_t n = 0; n < std::min(shown, report_.next.size()); ++n) {
      const NextStep& step = report_.next[n];
      text_ += left_aligned(std::exchange(head, ""), screen_indent) + step.command;
      const std::string why = "(" + step.why + ")";
      const bool fits = screen_indent + columns_of(step.command + " " + why) <= options_.width;
      text_ += fits ? " " + why + "\n" : "\n" + labelled("", why, screen_indent, options_.width);
    }
  }

  /// A remedy stands below its cause, indented behind its arrow.
  void block(std::string_view label, const std::string& what) {
    constexpr std::string_view arrow = "-> ";
    if (!what.starts_with(arrow)) {
      text_ += labelled(label, what, screen_indent, options_.width);
      return;
    }
    const std::string head = left_aligned(label, screen_indent) + std::string(arrow);
    text_ += labelled(head, what.substr(arrow.size()), head.size(), options_.width);
  }

  const Report& report_;
  ScreenOptions options_;
  std::string text_;
};

}  // namespace detail

/// The screen, each line ended by a newline.
inline std::string screen_text(const Report& report, const ScreenOptions& options = {}) {
  return detail::Screen(report, options).text();
}

}  // namespace feedrate::inline v0
