// SPDX-License-Identifier: Apache-2.0
// A program that is compared: each run is a fresh process, and has metrics.
#pragma once

#include <string>
#include <vector>

namespace feedrate {

/// What one run says by one metric.
struct ProgramMetric {
  std::string name;  ///< such as samples_per_s, or that of a benchmark
  std::string unit;
  double value = 0;
  bool higher_is_better = true;
  bool judged = true;  ///< else it is told, and no reason for a verdict

  /// What is compared: more is faster.
  double speed() const noexcept { return higher_is_better ? value : 1 / value; }
};

struct ProgramRun {
  std::vector<ProgramMetric> metrics;
  double others_share = -1;  ///< of the CPUs that other processes took; below 0: unknown
};

/// One side of a comparison.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  /// One run in a fresh process. Throws Error: (usage) where it can't be started or tells nothing
  /// that can be understood, (data), or TrialError (trials), where it fails, (interrupted) on
  /// Ctrl-C.
  virtual ProgramRun run() = 0;

  /// Whether it runs under a guard, which is not to be slowed.
  virtual bool is_guarded() const { return true; }

  /// What the user should know of how it behaved, a sentence each.
  virtual std::vector<std::string> notes() const { return {}; }
};

}  // namespace feedrate
