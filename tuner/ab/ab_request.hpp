// SPDX-License-Identifier: Apache-2.0
// The request of `autotune ab`: its command line, parsed once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/compare/comparison.hpp"
#include "gate/gate_output.hpp"
#include "request/request.hpp"

namespace feedrate {

/// What is compared.
enum class AbMetric : std::uint8_t {
  rate,            ///< of a program that goes on until it is ended
  time,            ///< of a program that ends by itself
  benchmark_json,  ///< times of the benchmarks in a Google Benchmark program
  config,          ///< the rate of a config of a pipeline of feedrate's own
};

struct AbRequest {
  std::vector<std::string> base, head;  ///< commands; empty for configs
  std::optional<Against> base_config, head_config;
  std::string base_text, head_text;  ///< of them, as they were written
  AbMetric metric = AbMetric::rate;
  std::optional<RateExpression> rate;
  DataRequest data;
  DeviceName device;
  std::string folder;  ///< where the commands run; empty: here
  bool keep_trackers = false;
  CompareOptions options{.run_s = 1, .budget_s = 600};
  std::optional<double> timeout_s;
  std::optional<double> plant;  ///< HEAD is slowed so that it loses this share of its rate
  bool aa = false;              ///< BASE is compared with itself
  bool progress = true;
  GateRequest gate;
  GatePrinting printing;
  std::string command_line;

  /// Whether both sides are BASE.
  bool is_self_check() const noexcept { return aa || plant; }
  bool quiet() const noexcept { return printing.quiet || printing.json; }
};

/// What is compared, in one phrase: "base.py with head.py".
std::string subject_of(const AbRequest& request);

/// Reads the words behind `ab`. Prints the help where that is asked for, and is empty then. Throws
/// Error(usage).
std::optional<AbRequest> parse_ab(const std::vector<std::string>& words);

}  // namespace feedrate
