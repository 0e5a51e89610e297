// SPDX-License-Identifier: Apache-2.0
// The request: the command line, parsed once. Later code parses no text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/measure/workload.hpp"
#include "feedrate/report/constraints.hpp"
#include "feedrate/report/gate/gate.hpp"
#include "feedrate/report/price.hpp"
#include "feedrate/tune/state/options.hpp"
#include "request/flags.hpp"
#include "values/against.hpp"
#include "values/axis_template.hpp"
#include "values/device_name.hpp"
#include "values/rate_expression.hpp"
#include "values/requested_axes.hpp"

namespace feedrate {

/// Which samples are loaded, and how.
struct DataRequest {
  std::string path;    ///< a folder or .npy file of the user's; empty: a built-in workload
  std::string labels;  ///< .npy file; empty: none
  std::optional<std::string> workload;  ///< a built-in one, by name
  std::optional<Cost> cost;
  std::optional<double> sample_cost_s;
  CacheMode cache = CacheMode::warm;
  std::uint64_t max_skips = 0;
  bool dct_scaling = false;

  /// The built-in workload; "images" where none was named.
  std::string workload_name() const { return workload.value_or("images"); }
};

/// How the search goes; what is empty depends on what is tuned.
struct SearchRequest {
  std::optional<double> budget_s;
  std::optional<std::string> strategy;       ///< a name in strategies.hpp
  std::optional<std::vector<Tier>> allowed;  ///< narrowest first; safe always among them
  std::string objective = "utilization";
  std::optional<double> wider_gain;  ///< a share
  std::uint64_t seed = 0;
  bool what_if = false;
  std::optional<Precision> what_if_precision;  ///< of a script
};

/// The user's own command.
struct CommandRequest {
  std::vector<std::string> words = {};  ///< behind "--"; one empty word where nothing is behind it
  std::vector<AxisTemplate> templates = {};
  std::optional<RateExpression> rate = {};
  std::string loader = {};  ///< of a script: number or name; empty: the one that trains
  std::string folder = {};  ///< where it runs; empty: here
  std::string patch = {};   ///< a file for the change of a script; empty: none is written
  bool apply = false;       ///< changes the script at the end, after asking
  bool yes = false;         ///< without asking
  bool train = false;       ///< launches the script at the end, as recommended, for its training
  bool keep_trackers = false;
  bool keep_state = false;  ///< launches run in copies of the folder
  bool confirm = true;
};

/// A file to write; "-" is standard output.
struct FormatFile {
  std::string format;  ///< its name
  std::string path;
};

/// What the result has to fulfil, and in which formats it is written.
struct GateRequest {
  std::vector<Requirement> requirements;
  std::vector<FormatFile> files;
  Undecided undecided = Undecided::exit_3;
};

/// What is written, and how.
struct OutputRequest {
  std::string file;  ///< of the report; "-": standard output; empty: named after the workload
  bool json = false;
  bool quiet = false;
  bool verbose = false;  ///< all that was measured, not one screen
  bool progress = true;
  std::optional<Price> price = {};  ///< of the machine
  ColorWish color = ColorWish::automatic;

  /// Whether the report goes to standard output, in place of the screen.
  bool prints_json() const noexcept { return json || file == "-"; }
};

/// All of it. (`Request` is what a measurer is asked for.)
struct TuneRequest {
  DataRequest data;
  DeviceName device;
  RequestedAxes axes;
  std::optional<Against> against;  ///< empty: the usual reference
  Constraints constraints;
  SearchRequest search;
  CommandRequest command;
  GateRequest gate;
  OutputRequest output;
  bool measure_card = true;
  double trial_timeout_s = 60;
  bool in_process = false;
  std::string resume;  ///< report or journal of the run to go on with; empty: a new run

  std::vector<std::string> words;  ///< the command line, without the program's name
  std::string command_line;        ///< to be pasted into a shell

  /// Paths that are read, among words that are none.
  std::vector<std::string> inputs() const {
    std::vector<std::string> paths = command.words;
    paths.insert(paths.end(), {data.path, data.labels});
    return paths;
  }
  bool is_command() const noexcept { return !command.words.empty(); }
  /// Whether the command is launched again for each config: it is told its values by its arguments
  /// or its environment. Else it is a script whose DataLoader is switched while it runs.
  bool is_launched_per_config() const {
    return !command.templates.empty() || command.rate || !axes_taken(command.words, {}).empty();
  }
};

}  // namespace feedrate
