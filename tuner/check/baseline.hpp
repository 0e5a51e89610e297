// SPDX-License-Identifier: Apache-2.0
// The baseline of a check: a report that can be run again.
#pragma once

#include <string>

#include "feedrate/report/json/read_report.hpp"
#include "request/request.hpp"

namespace feedrate {

struct Baseline {
  std::string path;
  Json json;
  Report report;
  TuneRequest request;  ///< that made it

  const Trial& recommended() const { return report.outcome.recommended(); }
  const Trial& reference() const { return report.outcome.trials[report.outcome.reference]; }
  /// Nothing was faster than the reference.
  bool keeps_reference() const { return report.outcome.choice().trial == report.outcome.reference; }
};

/// Throws Error(data) on a file that is missing, cut, newer than this program, of an interrupted
/// run, or edited: its figures do not follow from its rounds. Throws Error(usage) on the report of
/// a command, which can't be run again from a report.
Baseline read_baseline(const std::string& path);

}  // namespace feedrate
