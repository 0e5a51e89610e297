// SPDX-License-Identifier: Apache-2.0
// The options of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "request/flags.hpp"

namespace feedrate {

/// Options of the sweep as they were written; empty where nothing was.
struct SweepOptions {
  std::string data;
  std::string labels;
  std::string workload = "images";
  bool workload_given = false;
  std::string device;  ///< empty: a GPU where there is one, else the cpu
  AxisTexts axes;
  std::string against;  ///< AXIS=VALUE,...; empty: the usual reference
  std::string budget;   ///< empty: 60s; 30s for a script, 120s for other commands
  std::string search;   ///< empty: model; grid or halving for commands that are launched again
  std::string max_memory, max_device_memory, max_workers, max_batch,
      effective_batch;  ///< constraints
  std::string objective = "utilization";
  std::string wider_gain;   ///< empty: 5%
  std::string allow;        ///< empty: all; safe alone for a script
  std::string sample_cost;  ///< of the workload tabular alone; empty: 100us of cpu
  std::string cost;
  std::string cache = "warm";
  std::uint64_t seed = 0;
  std::uint64_t max_skips = 0;
  bool dct_scaling = false;
  bool what_if = false;
  std::string what_if_name;  ///< of a script: bf16, fp16
  std::string output;  ///< file, "-" for standard output, empty for a name made from the workload
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  bool no_card = false;
  ColorWish color = ColorWish::automatic;
  std::vector<std::string> command;  ///< behind "--"; one empty word where nothing is behind it
  std::vector<std::string> set;      ///< AXIS=TEMPLATE
  std::string rate;
  std::string loader;   ///< of a script: number or name; empty: the one that trains
  std::string workdir;  ///< where the command runs; empty: here
  bool keep_trackers = false;
  bool no_confirm = false;
  std::string command_line;  ///< to be pasted into a shell
  std::string resume;        ///< report or journal of the run to go on with; empty: a new run
  std::string trial_timeout = "60s";
  bool in_process = false;
  std::vector<std::string> words;  ///< all of the command line, without the program's name
};

/// Reads the command line of a run, given without the program's name; the help lists `verbs`.
/// Prints the help or the version where that is asked for, and is empty then. Throws Error(usage).
std::optional<SweepOptions> parse_command_line(const std::vector<std::string>& words,
                                               const std::vector<VerbSummary>& verbs = {});

}  // namespace feedrate
