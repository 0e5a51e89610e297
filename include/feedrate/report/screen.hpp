// SPDX-License-Identifier: Apache-2.0
// The report as one screen of text: why, how fast, what to set, what to do next.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/report/card.hpp"
#include "feedrate/report/coverage.hpp"
#include "feedrate/report/emulation.hpp"
#include "feedrate/report/format.hpp"
#include "feedrate/report/rate_table.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/screen_options.hpp"
#include "feedrate/report/what_if_text.hpp"
#include "feedrate/report/words.hpp"

namespace feedrate {

namespace detail {

/// Writes the screen piece by piece.
class Screen {
 public:
  Screen(const Report& report, const ScreenOptions& options) : report_(report), options_(options) {}

  std::string text() {
    title();
    if (outcome().tiers.empty()) return text_ + "No config was measured; see the report.\n";
    why();
    table();
    ceilings();
    emulation();
    what_ifs();
    set();
    coverage();
    next();
    return text_;
  }

 private:
  const Outcome& outcome() const noexcept { return report_.outcome; }
  const Trial& reference() const { return outcome().trials[outcome().reference]; }

  void title() {
    std::string line = "autotune · " + report_.workload.name + " · " + report_.device + " · " +
                       describe_cpus(report_.machine.limits.cpus);
    if (report_.workload.kind == "builtin") line += " · built-in workload, not yours";
    if (outcome().interrupted) line += " · interrupted";
    block("", line);
    text_ += "\n";
  }

  void why() {
    if (!reference().ceilings) {
      block("WHY", not_examined());
    } else if (outcome().diagnoses.empty()) {
      block("WHY", no_cause());
    }
    causes();
    if (report_.workload.load) block("", parts());
    if (outcome().unexplained_share > 0.1) {
      block("", format_percent(outcome().unexplained_share) + " of the gap is unexplained.");
    }
    text_ += "\n";
  }

  /// No cause takes time worth naming. An emulated accelerator says itself what well fed is.
  std::string no_cause() const {
    const std::string waits =
        "it waits for data " + format_percent(reference().waiting()) + " of the time.";
    const auto& accelerator = report_.accelerator;
    const auto use = accelerator ? emulation_of(outcome(), *accelerator).reference : std::nullopt;
    if (use ? use->reaches(accelerator->wanted) : reference().waiting() <= 0.1) {
      return "As it is, the device is well fed: " + waits;
    }
    if (!use) return "No cause could be told, though " + waits;
    return "As it is, the device is used less than the " + format_percent(accelerator->wanted) +
           " wanted, and no cause could be told: " + waits;
  }

  std::string not_examined() const {
    const std::string& reason = reference().reason;
    if (reference().status == TrialStatus::infeasible) return "The reference " + reason + ".";
    if (reference().status == TrialStatus::failed) return "The reference failed: " + reason;
    return "The reference was not examined before the run ended.";
  }

  /// The first three causes; the report holds them all.
  void causes() {
    constexpr std::size_t most = 3;
    const auto& causes = outcome().diagnoses;
    std::string_view head = "WHY";
    for (std::size_t c = 0; c < std::min(causes.size(), most); ++c) {
      block(std::exchange(head, ""), causes[c].evidence + " " + causes[c].remedy + gain(causes[c]));
    }
    if (causes.size() > most) {
      block("", "The report names " + counted(causes.size() - most, "more cause") + ".");
    }
  }

  /// " (2.3x, measured)".
  static std::string gain(const Diagnosis& diagnosis) {
    if (!diagnosis.gain) return {};
    return " (" + format_number(*diagnosis.gain) + "x, " +
           (diagnosis.measured ? "measured)" : "modelled)");
  }

  /// "decode 71 %, augment 22 %, read 7 % of the time to load a sample".
  std::string parts() const {
    const LoadCosts& load = *report_.workload.load;
    std::string line;
    for (const auto& [name, seconds] : load_parts) {
      line += (line.empty() ? "" : ", ") + std::string(name) + " " +
              format_percent(load.*seconds / load.sum_s());
    }
    return line + " of the time to load a sample.";
  }

  void table() {
    text_ += rate_table(report_, options_);
    if (outcome().verified) verified(*outcome().verified);
  }

  void verified(const Interval& speedup) {
    block("", "re-run " + std::to_string(outcome().verified_rounds) +
                  " times in turn: " + format_number(speedup.estimate) + "x (" +
                  format_number(speedup.low) + " to " + format_number(speedup.high) + ")");
  }

  void ceilings() {
    if (reference().ceilings) ceilings_of("as it is", reference());
    const Trial& best = outcome().recommended();
    if (best.ceilings && best.config != reference().config) ceilings_of("recommended", best);
    text_ += "\n";
  }

  void ceilings_of(const std::string& label, const Trial& trial) {
    const Ceilings& ceilings = *trial.ceilings;
    std::string line = "ceilings (" + label + "): loader " + format_number(ceilings.loader);
    if (ceilings.copy) line += ", copy " + format_number(*ceilings.copy);
    line += ", device " + format_number(ceilings.device);
    if (ceilings.cores) line += ", shared cores " + format_number(*ceilings.cores);
    block("", line);
  }

  void set() {
    const TierChoice& choice = outcome().choice();
    const Config& config = outcome().trials[choice.trial].config;
    block("SET", options_.bold(config_text(config)));
    block("", "(" + describe(choice) + ")");
    for (const std::string& caveat : choice.caveats) block("", caveat + ".");
    if (outcome().pareto.size() > 1) block("", "rate against memory: " + pareto());
    for (const Setting& setting : report_.settings) {
      block("", setting.framework + ": " + setting.text);
      if (setting.measured_with != "feedrate") block("", "(" + setting.measured_with + ")");
    }
  }

  /// "970/s with 1.2 MiB, 1,410/s with 3.1 MiB": some points of the front, least memory first.
  std::string pareto() const {
    constexpr std::size_t most = 4;
    const auto& front = outcome().pareto;
    const std::size_t shown = std::min(front.size(), most);
    std::string text;
    for (std::size_t p = 0; p < shown; ++p) {
      const Trial& trial = outcome().trials[front[p * (front.size() - 1) / (shown - 1)]];
      text += (p > 0 ? ", " : "") + format_number(trial.samples_per_s().estimate) + "/s with " +
              format_bytes(trial.memory_bytes);
    }
    return text + ".";
  }

  /// "workers 2, prefetch 4, precision fp32": the axes in which configs of this space differ.
  std::string config_text(const Config& config) const {
    std::string text;
    for_each_axis([&](const auto& axis) {
      const auto value = config.*axis.field;
      const auto same = [&](const Trial& trial) { return trial.config.*axis.field == value; };
      const bool alike = std::all_of(outcome().trials.begin(), outcome().trials.end(), same);
      if (alike && !(axis.name == "accumulate" && config.accumulate > 1)) return;
      text += (text.empty() ? "" : ", ") + std::string(axis.name) + " " + value_text(value);
    });
    return text.empty() ? "nothing else: there was one config to try" : text;
  }

  void coverage() {
    for (const std::string& line : coverage_lines(report_)) block("", line);
  }

  void emulation() {
    if (!report_.accelerator) return;
    text_ += emulation_text(emulation_of(outcome(), *report_.accelerator), screen_indent,
                            options_.width) +
             "\n";
  }

  void what_ifs() {
    const std::string table = what_if_text(outcome(), screen_indent, options_.width);
    if (!table.empty()) text_ += table + "\n";
  }

  /// A command is never broken, so that it can be pasted: what is too long for a line has one of
  /// its own, however long, and the reason below it.
  void next() {
    std::string_view head = "NEXT";
    for (const NextStep& step : report_.next) {
      text_ += left_aligned(std::exchange(head, ""), screen_indent) + step.command;
      const std::string why = "(" + step.why + ")";
      const bool fits = screen_indent + columns_of(step.command + " " + why) <= options_.width;
      text_ += fits ? " " + why + "\n" : "\n" + labelled("", why, screen_indent, options_.width);
    }
  }

  void block(std::string_view label, const std::string& what) {
    if (label.empty() && text_.empty()) {
      for (const std::string& line : wrapped(what, options_.width)) text_ += line + "\n";
      return;
    }
    text_ += labelled(label, what, screen_indent, options_.width);
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

}  // namespace feedrate
