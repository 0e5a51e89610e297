// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: a live line on a terminal, else one line per trial.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "feedrate/tune/state/sweep.hpp"

namespace feedrate {

/// How talkative the progress is.
struct ProgressOptions {
  bool quiet = false;      ///< nothing at all
  bool no_trials = false;  ///< only notes
  bool live = false;       ///< stderr is a terminal that takes a rewritten line
  std::size_t width = 80;
};

/// Writes to stderr.
class ProgressLine {
 public:
  explicit ProgressLine(const ProgressOptions& options) : options_(options) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// A line that stays.
  void note(const std::string& text);
  /// How far a long preparation is.
  void preparing(int done, int wanted);
  /// What goes on now: on a terminal alone.
  void status(const std::string& text);
  /// A command was launched so long ago, and its training loop does not run yet.
  void waiting(double seconds);
  /// What the sweep does.
  void show(const Progress& progress);
  /// Removes the live line.
  void clear();

 private:
  void live(const std::string& line);
  void plain(const Progress& progress);

  ProgressOptions options_;
  bool shown_ = false;
  int last_percent_ = -1;
  double waited_s_ = 0;  ///< when that was said last
  std::string last_phase_;
  std::vector<Config> seen_;  ///< trials that have had their line
};

}  // namespace feedrate
