// SPDX-License-Identifier: Apache-2.0
// The options of a simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/draw.hpp"
#include "machine/noise.hpp"

namespace feedrate::simulate {
/// The commands in results/README.md say with which the committed figures were made.
struct Options {
  int machines = 1000;
  std::uint64_t seed = 9'000'001;
  std::string search = "model";
  int rounds = 0;
  double budget_s = 60;
  std::string tiers = "all";
  std::vector<std::string> rivals;
  std::vector<int> ladder = {25, 50, 75, 100, 150, 200, 300, 400, 600, 800};
  SpaceSize size;
  std::string noise = "usual";
  bool throttling = true;
  bool null_machines = false;
  bool knows_memory = false;
  bool rows = false;
  int threads = 0;
  std::string output;
};

}  // namespace feedrate::simulate
