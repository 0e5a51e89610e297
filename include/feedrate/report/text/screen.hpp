// SPDX-License-Identifier: Apache-2.0
// The report as one screen of text: why, how fast, what to set, what to do next.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/choice_text.hpp"
#include "feedrate/report/text/coverage.hpp"
#include "feedrate/report/text/emulation.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/offers.hpp"
#include "feedrate/report/text/rate_table.hpp"
#include "feedrate/report/text/screen_options.hpp"
#include "feedrate/report/text/script_text.hpp"
#include "feedrate/report/text/what_if_text.hpp"
#include "feedrate/report/text/words.hpp"

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
    std::string line = "autotune · " + report_.workload.name + " · " + device_text(report_) +
                       " · " + describe_cpus(report_.machine.limits.cpus);
    if (const double share = others_share(outcome()); share > 0.1) {
      line += ", of which other processes took " + format_percent(share) + " while measuring";
    }
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
    if (outcome().unexplained_share > 0.1 && !has_cause_of_gap()) {  // else the cause has said it
      block("", format_percent(outcome().unexplained_share) + " of the gap is unexplained.");
    }
    text_ += "\n";
  }

  bool has_cause_of_gap() const {
    const auto& causes = outcome().diagnoses;
    return std::any_of(causes.begin(), causes.end(),
                       [](const Diagnosis& cause) { return cause.share_of_gap > 0; });
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
    if (reference().status == TrialStatus::infeasible) {
      return "The reference does not fit into memory: " + reason +
             (reason.ends_with('.') ? "" : ".");
    }
    if (reference().status == TrialStatus::failed) return "The reference failed: " + reason;
    if (report_.workload.kind == "command" && !report_.workload.script) {
      return "A command is run as a whole: what holds it back can't be told.";
    }
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
    if (!report_.workload.script) return;
    for (const std::string& line : script_lines(report_)) block("", line);
  }

  void verified(const Interval& speedup) {
    block("", "proof: " + detail::speedup_text(speedup) + " against what you have, by " +
                  counted(static_cast<std::size_t>(outcome().verified_rounds), "fresh pair") +
                  " of rounds");
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
    block("SET", options_.bold(config_text(outcome(), config)));
    block("", "(" + describe(choice) + ")");
    for (const std::string& caveat : choice.caveats) block("", caveat + ".");
    for (const std::string& line : offer_lines(outcome())) block("", line);
    if (outcome().pareto.size() > 1) block("", "rate against memory: " + pareto_text(outcome()));
    for (const Setting& setting : report_.settings) {
      if (report_.workload.script) {
        change(setting.text);
        continue;
      }
      block("", setting.framework + ": " + setting.text);
      if (setting.measured_with != "feedrate") block("", "(" + setting.measured_with + ")");
    }
  }

  /// A diff is pasted, not read: its lines stay whole.
  void change(std::string_view text) {
    text_ += "\n";
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      text_ += std::string(text.substr(0, end)) + "\n";
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    text_ += "\n";
  }

  void coverage() {
    for (const std::string& line : coverage_lines(report_)) block("", line);
    for (const std::string& note : report_.notes) block("", note);
    if (!report_.touched_files.empty()) block("", touched_text(report_.touched_files));
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
