// SPDX-License-Identifier: Apache-2.0
// Why the reference is slow: causes and remedies, as lines of the screen.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/causes.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/reasons.hpp"
#include "feedrate/report/text/words.hpp"
#include "feedrate/tune/diagnose/emulation.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// Why there are no causes of a reference that was not measured in parts.
inline std::string not_diagnosed(const Report& report) {
  const Trial& reference = report.outcome.trials[report.outcome.reference];
  const std::string reason = reason_text(reference.reason);
  if (reference.status == TrialStatus::infeasible) {
    return "The reference does not fit into memory: " + reason + (reason.ends_with('.') ? "" : ".");
  }
  if (reference.status == TrialStatus::failed) return "The reference failed: " + reason;
  if (report.workload.kind == "command" && !report.workload.script) {
    return "No diagnosis: the parts of a command cannot be measured alone.";
  }
  if (reference.reason.why == Why::no_ceilings)
    return "No diagnosis: " + reason + (reason.ends_with('.') ? "" : ".");
  return "No diagnosis: the run ended before the parts of the reference were measured.";
}

/// How much faster the recommended config is than a reference that would not wait.
inline double gain_beside_waiting(const Outcome& outcome, double waiting) {
  const bool stays = outcome.choice().trial == outcome.reference;
  return stays ? 1 : outcome.choice().speedup.estimate * (1 - waiting);
}

/// No cause takes time worth naming. An emulated accelerator says itself what well fed is.
inline std::string no_cause(const Report& report) {
  const Outcome& outcome = report.outcome;
  const double waiting = outcome.trials[outcome.reference].waiting().value_or(0);
  const std::string waits = "it waits for data " + format_percent(waiting) + " of the time";
  const auto& accelerator = report.accelerator;
  const auto use = accelerator ? emulation_of(outcome, *accelerator).reference : std::nullopt;
  const auto& script = report.workload.script;
  if (!use && script && script->waits_for_other()) {
    return "The loop waits for this DataLoader for " + format_percent(waiting) +
           " of the time. Its step waits for another one for " +
           format_percent(script->other_share) + " of the step.";
  }
  if (use ? use->reaches(accelerator->wanted) : waiting <= 0.1) {
    const bool is_faster = !use && gain_beside_waiting(outcome, waiting) >= 1.1;
    if (is_faster) {
      return "The device is well fed (" + waits +
             "); the recommended settings make the step faster.";
    }
    return "The device is well fed: " + waits + ".";
  }
  if (!use) {
    const bool contradicts = outcome.trials[outcome.reference].fed().value_or(0) >= 1;
    return "No cause found, although the device waits for data " + format_percent(waiting) +
           " of the time." +
           (contradicts ? " Its step alone was no faster than the whole loop: use an idle machine."
                        : "");
  }
  return "No cause found, although the utilization is below the " +
         format_percent(accelerator->wanted) + " wanted: " + waits + ".";
}

/// " (2.31x, measured)".
inline std::string gain_text(const Diagnosis& diagnosis) {
  if (!diagnosis.gain) return {};
  return " (" + format_number(*diagnosis.gain) + "x, " +
         (diagnosis.measured ? "measured)" : "estimated)");
}

/// A cause and, on lines of its own, its remedy. Causes in a row with the same words share them.
inline void add_cause(std::vector<std::string>& lines, const Diagnosis& diagnosis,
                      const CauseText& text, bool verbose) {
  constexpr std::string_view arrow = "-> ";
  const std::string cause = verbose ? text.evidence() : text.summary;
  const auto last = std::find_if(lines.rbegin(), lines.rend(),
                                 [&](const std::string& line) { return !line.starts_with(arrow); });
  if (last == lines.rend() || *last != cause) lines.push_back(cause);
  std::string remedy = std::string(arrow) + text.remedy;
  if (diagnosis.gain && remedy.ends_with('.')) remedy.pop_back();
  lines.push_back(remedy + gain_text(diagnosis));
}

/// "Loading a sample: decode 71 %, augment 22 %, read 7 % of the time."
inline std::string parts_text(const LoadCosts& load) {
  std::string line;
  for (const auto& [name, seconds] : load_parts) {
    line += (line.empty() ? "" : ", ") + std::string(name) + " " +
            format_percent(load.*seconds / load.sum_s());
  }
  return "Loading a sample: " + line + " of the time.";
}

/// "Alone (now): loader 1,500, device 3,360 samples/s."
inline std::string ceilings_text(const std::string& label, const Ceilings& ceilings) {
  std::string line = "Each part alone (" + label + "): loader " + format_number(ceilings.loader);
  if (ceilings.copy) line += ", copy " + format_number(*ceilings.copy);
  line += ", device " + format_number(ceilings.device);
  if (ceilings.cores) line += ", limit of the shared cores " + format_number(*ceilings.cores);
  return line + " samples/s.";
}

/// What was measured behind the causes.
inline void add_measurements(std::vector<std::string>& lines, const Report& report) {
  const Outcome& outcome = report.outcome;
  const Trial& now = outcome.trials[outcome.reference];
  const Trial& best = outcome.recommended();
  if (report.workload.load) lines.push_back(parts_text(*report.workload.load));
  if (now.ceilings) lines.push_back(ceilings_text("now", *now.ceilings));
  if (best.ceilings && best.config != now.config) {
    lines.push_back(ceilings_text("recommended", *best.ceilings));
  }
}

/// What holds the rate back as recommended, and the bound of what is left to gain; empty where the
/// step waits less than a fifth of the time, or where the loader is not why. An emulated
/// accelerator has lines of its own.
inline std::string still_waits(const Report& report) {
  const Outcome& outcome = report.outcome;
  const Trial& best = outcome.recommended();
  if (report.accelerator || !best.ceilings) return {};
  if (best.config == outcome.trials[outcome.reference].config) return {};
  constexpr double fed = 0.8;
  const Ceilings& alone = *best.ceilings;
  const double rate = alone.coupled > 0 ? alone.coupled : best.samples_per_s().estimate;
  const double waiting = best.waiting().value_or(0);
  if (waiting < 1 - fed || std::max(rate, alone.loader) > fed * alone.device) return {};
  return "As recommended the step waits " + format_percent(waiting) +
         ": loading is the limit (at most " + format_number(alone.device / rate) + "x).";
}

}  // namespace detail

/// The first three causes, or all; what is left as recommended takes the place of the third. Needs
/// a tier.
inline std::vector<std::string> why_lines(const Report& report, bool verbose) {
  constexpr std::size_t most = 3;
  const Outcome& outcome = report.outcome;
  const Trial& reference = outcome.trials[outcome.reference];
  const auto& causes = outcome.diagnoses;
  std::vector<std::string> lines;
  if (!reference.ceilings) {
    lines.push_back(detail::not_diagnosed(report));
  } else if (causes.empty()) {
    lines.push_back(detail::no_cause(report));
  }
  const std::string left = detail::still_waits(report);
  const std::size_t room = left.empty() ? most : most - 1;
  const std::size_t shown = verbose ? causes.size() : std::min(causes.size(), room);
  for (std::size_t c = 0; c < shown; ++c) {
    detail::add_cause(lines, causes[c], cause_text(report, c), verbose);
  }
  if (outcome.unexplained_share > 0.1) {
    lines.push_back(format_percent(outcome.unexplained_share) +
                    " of the lost time is unexplained.");
  }
  if (!left.empty()) lines.push_back(left);
  if (verbose) detail::add_measurements(lines, report);
  return lines;
}

}  // namespace feedrate::inline v0
