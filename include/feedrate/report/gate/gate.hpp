// SPDX-License-Identifier: Apache-2.0
// The result of a gate: what a verb that judges has measured and concluded, as plain data. One
// writer per format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "feedrate/compare/conclusion.hpp"
#include "feedrate/machine/machine.hpp"
#include "feedrate/measure/statistics.hpp"
#include "feedrate/report/report.hpp"
#include "feedrate/report/requirement.hpp"

namespace feedrate::inline v0 {

/// A metric: its value, what it was before, and what is concluded.
struct GateMetric {
  std::string name = {};  ///< such as samples_per_s, or that of a benchmark
  std::string unit = {};  ///< samples/s, s, bytes, or 1 for a share or ratio
  bool higher_is_better = true;
  Interval value;                             ///< 95 % interval; infinite bounds: not known
  std::optional<Interval> base = {};          ///< the same, of what it is compared with
  std::optional<Interval> speed_ratio = {};   ///< the new speed over the base's; above 1 is faster
  std::optional<Conclusion> conclusion = {};  ///< empty: measured, not judged
  std::string reason = {};                    ///< one sentence, where the conclusion is not `pass`
};

/// One run of a comparison that counts.
struct GateRun {
  std::string side = {};            ///< base or head
  int block = 0;                    ///< four runs that were compared with each other
  double others_share = -1;         ///< of the CPUs that other processes took; below 0: unknown
  std::vector<double> values = {};  ///< by metric, in their order and units
};

/// The whole document.
struct Gate {
  static constexpr int schema_version = 1;

  ToolInfo tool;
  Machine machine;
  std::string verb;     ///< ab, check, tune or doctor
  std::string subject;  ///< what was judged, in one phrase
  LossLimits limits;
  std::vector<GateMetric> metrics;
  std::vector<GateRequirement> requirements;
  std::vector<GateRun> runs;            ///< of a comparison, in their order
  std::vector<std::string> notes;       ///< what else is to be known, a sentence each
  std::optional<Conclusion> overruled;  ///< that holds whatever the metrics say: not_comparable

  /// The worst of all.
  Conclusion conclusion() const noexcept {
    Conclusion worst = overruled.value_or(Conclusion::pass);
    for (const GateMetric& metric : metrics) {
      if (metric.conclusion) worst = worse_of(worst, *metric.conclusion);
    }
    for (const GateRequirement& requirement : requirements) {
      if (requirement.fulfilment == Fulfilment::not_met) return Conclusion::slower;
      if (requirement.fulfilment == Fulfilment::inconclusive) {
        worst = worse_of(worst, Conclusion::inconclusive);
      }
    }
    return worst;
  }
};

/// What an open question counts as.
enum class Undecided : std::uint8_t { exit_3, pass, fail };

/// 0: pass; 1: slower, or a requirement is not met; 3: inconclusive or not comparable.
constexpr int exit_code_of(Conclusion conclusion, Undecided undecided) noexcept {
  if (conclusion == Conclusion::pass) return 0;
  if (conclusion == Conclusion::slower) return 1;
  return undecided == Undecided::exit_3 ? 3 : undecided == Undecided::pass ? 0 : 1;
}

}  // namespace feedrate::inline v0
