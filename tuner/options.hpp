// SPDX-License-Identifier: Apache-2.0
// What the command line said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "doctor.hpp"
#include "feedrate/data/costed.hpp"

namespace feedrate {

/// Which colours: the terminal decides, or the user.
enum class ColorWish : std::uint8_t { automatic, always, never };

/// Options of the sweep as they were written; empty where nothing was.
struct SweepOptions {
  std::string data;
  std::string labels;
  std::string workload = "images";
  bool workload_given = false;
  std::string device = "cpu";
  std::string workers, batch, prefetch, pinned, precision, step_threads;  ///< axes
  std::string budget = "60s";
  std::string objective = "utilization";
  std::string allow = "safe,numerics,training";
  std::string sample_cost;  ///< of the workload tabular alone; empty: 100us of cpu
  std::string cost;
  std::string cache = "warm";
  std::uint64_t seed = 0;
  std::uint64_t max_skips = 0;
  bool dct_scaling = false;
  std::string output;  ///< file, "-" for standard output, empty for a name made from the workload
  bool json = false;
  bool quiet = false;
  bool no_progress = false;
  bool no_card = false;
  ColorWish color = ColorWish::automatic;
  std::vector<std::string> command;  ///< behind "--"
  std::string command_line;
};

/// What to do.
enum class Verb : std::uint8_t { sweep, workloads, doctor, nothing };

/// The whole command line.
struct CommandLine {
  Verb verb = Verb::sweep;
  SweepOptions sweep;
  DoctorOptions doctor;
  ColorWish doctor_color = ColorWish::automatic;
  int exit_code = 0;  ///< of Verb::nothing: after --help, or a mistake that was explained
};

/// Reads the command line; prints help or what is wrong with it.
CommandLine parse_command_line(int argc, char** argv);

}  // namespace feedrate
