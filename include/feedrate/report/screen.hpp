// SPDX-License-Identifier: Apache-2.0
// The report as one screen of text: why, how fast, what to set, what to do next.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/card.hpp"
#include "feedrate/report/format.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/words.hpp"

namespace feedrate {

/// How the screen is drawn.
struct ScreenOptions {
  std::size_t width = 80;  ///< columns; text is wrapped, columns of the table are left out
  bool color = false;
};

namespace detail {

inline constexpr std::size_t screen_indent = 6;

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
    set();
    not_applicable();
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
      block("WHY", "The reference was not examined before the run ended.");
    } else if (outcome().diagnoses.empty()) {
      block("WHY", "As it is, the device is well fed: it waits for data " +
                       format_percent(reference().waiting()) + " of the time.");
    }
    std::string_view head = "WHY";
    for (const Diagnosis& diagnosis : outcome().diagnoses) {
      block(std::exchange(head, ""), diagnosis.evidence + " " + diagnosis.remedy);
    }
    if (!report_.workload.parts.empty()) block("", parts());
    if (outcome().unexplained_share > 0.1) {
      block("", format_percent(outcome().unexplained_share) + " of the gap is unexplained.");
    }
    text_ += "\n";
  }

  /// "decode 71 %, augment 22 %, read 7 % of the time to load a sample".
  std::string parts() const {
    double sum = 0;
    for (const LoadPart& part : report_.workload.parts) sum += part.seconds_per_sample;
    std::string line;
    for (const LoadPart& part : report_.workload.parts) {
      line += (line.empty() ? "" : ", ") + part.name + " " +
              format_percent(part.seconds_per_sample / sum);
    }
    return line + " of the time to load a sample.";
  }

  void table() {
    header();
    row("as it is", reference(), {});
    const Config* before = &reference().config;
    for (const TierChoice& choice : outcome().tiers) {
      const Trial& trial = outcome().trials[choice.trial];
      if (trial.config == *before || !adds(choice.tier, *before, trial.config)) continue;
      row(tier_label(choice, *before, trial.config), trial, choice.speedup);
      before = &trial.config;
    }
    if (outcome().verified) verified(*outcome().verified);
  }

  /// Whether a tier changes an axis of its own; else its row would repeat the one above.
  static bool adds(Tier tier, const Config& before, const Config& config) {
    return tier == Tier::safe || config.precision != before.precision ||
           config.batch != before.batch;
  }

  /// "safe changes", or what the tier adds: "+ bf16", "+ batch 64".
  static std::string tier_label(const TierChoice& choice, const Config& before,
                                const Config& config) {
    if (choice.tier == Tier::safe) return "safe changes";
    std::string label;
    if (config.precision != before.precision) label += " " + value_text(config.precision);
    if (config.batch != before.batch) label += " batch " + value_text(config.batch);
    return "+" + label;
  }

  bool wide() const noexcept { return options_.width >= 60; }

  void header() {
    std::string line =
        std::string(screen_indent + label_columns, ' ') + right_aligned("samples/s", 10);
    if (wide()) line += "          fed   busy of best";
    text_ += line + "\n";
  }

  void row(const std::string& label, const Trial& trial, std::optional<Interval> speedup) {
    if (trial.rounds.empty()) return;
    const Interval rate = trial.samples_per_s();
    const bool bounded = std::isfinite(rate.relative_error());
    const std::string error = bounded ? "±" + format_percent(rate.relative_error()) : "";
    std::string line = std::string(screen_indent, ' ') + left_aligned(label, label_columns) +
                       right_aligned(format_number(rate.estimate), 10);
    if (wide()) {
      line += " " + left_aligned(error, 6) + share(trial.fed()) + share(trial.busy()) +
              share(of_best(report_, trial), 8);
    }
    const bool known = speedup && std::isfinite(speedup->high);
    if (known) line += "  " + bold(format_number(speedup->estimate) + "x");
    text_ += line + "\n";
  }

  static std::string share(std::optional<double> value, std::size_t columns = 7) {
    return right_aligned(value ? format_percent(*value) : "-", columns);
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
    std::string line = "ceilings (" + label + "): loader " + format_number(ceilings.loader) +
                       ", copy " + (ceilings.copy ? format_number(*ceilings.copy) : "none") +
                       ", device " + format_number(ceilings.device);
    if (ceilings.cores) line += ", shared cores " + format_number(*ceilings.cores);
    block("", line);
  }

  void set() {
    const TierChoice& choice = outcome().choice();
    const Config& config = outcome().trials[choice.trial].config;
    block("SET", bold(config_text(config)));
    block("", "(" + describe(choice) + ")");
    for (const Setting& setting : report_.settings) {
      block("", setting.framework + ": " + setting.text);
      if (setting.measured_with != "feedrate") block("", "(" + setting.measured_with + ")");
    }
  }

  /// "workers 2, prefetch 4, precision fp32": the axes in which configs of this space differ.
  std::string config_text(const Config& config) const {
    std::string text;
    for_each_axis([&](const auto& axis) {
      const auto value = config.*axis.field;
      const auto same = [&](const Trial& trial) { return trial.config.*axis.field == value; };
      if (std::all_of(outcome().trials.begin(), outcome().trials.end(), same)) return;
      text += (text.empty() ? "" : ", ") + std::string(axis.name) + " " + value_text(value);
    });
    return text.empty() ? "nothing else: there was one config to try" : text;
  }

  void not_applicable() {
    for (const NotApplicable& value : outcome().not_applicable) {
      block("", value.axis + " " + value.value + ": not applicable, " + value.why);
    }
    std::size_t not_reached = 0;
    for (const Trial& trial : outcome().trials) {
      not_reached += trial.status == TrialStatus::not_reached;
    }
    if (not_reached > 0) {
      block("", std::to_string(not_reached) + " of " + std::to_string(outcome().trials.size()) +
                    " configs were not reached within the budget.");
    }
    if (!report_.skips.empty()) {
      block("", std::to_string(report_.skips.size()) + " unreadable samples were skipped.");
    }
  }

  void next() {
    std::string_view head = "NEXT";
    for (const NextStep& step : report_.next) {
      block(std::exchange(head, ""), step.command + " (" + step.why + ")");
    }
  }

  void block(std::string_view label, const std::string& what) {
    if (label.empty() && text_.empty()) {
      for (const std::string& line : wrapped(what, options_.width)) text_ += line + "\n";
      return;
    }
    text_ += labelled(label, what, screen_indent, options_.width);
  }

  std::string bold(const std::string& what) const {
    return options_.color ? "\x1b[1m" + what + "\x1b[0m" : what;
  }

  static constexpr std::size_t label_columns = 16;

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
