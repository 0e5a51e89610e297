// SPDX-License-Identifier: Apache-2.0
// Paces: the speed of workers and caller, given the other users of the cores.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine.hpp"

namespace feedrate::simulate {

/// What the caller does to the cores.
enum class CallerLoad : std::uint8_t {
  none,    ///< it waits
  thread,  ///< it fills, stages or launches
  step,    ///< it steps, with all threads of the step
};

/// Seconds of work done per second, and seconds that a second of work takes.
struct Pace {
  double worker = 1, caller = 1;
  double worker_s = 1, caller_s = 1;
  double busy_cores = 0;
};

/// The paces of one config, for every number of busy workers.
class Paces {
 public:
  Paces(const Machine& machine, int workers, int step_threads) : cores_(machine.cores) {
    const int step = machine.accelerator ? 1 : step_threads;
    for (int n = 0; n <= workers; ++n) table_.push_back({pace(n, 0), pace(n, 1), pace(n, step)});
  }

  const Pace& of(std::size_t busy_workers, CallerLoad load) const noexcept {
    return table_[busy_workers][static_cast<std::size_t>(load)];
  }

 private:
  Pace pace(int workers, int others) const noexcept {
    const double threads = workers + others;
    const double share = threads > 0 ? cores_.capacity(threads) / threads : 1;
    const double all = cores_.logical;
    const double crowd = cores_.worker_on_worker * std::max(0, workers - 1) / all +
                         cores_.step_on_worker * others / all;
    const double straggling = others > 1 ? cores_.straggling : 1;
    const double worker = share / (1 + crowd);
    const double caller = std::pow(share, straggling) / (1 + cores_.worker_on_step * workers / all);
    return {worker, caller, 1 / worker, 1 / caller, std::min(threads, all)};
  }

  Cores cores_;
  std::vector<std::array<Pace, 3>> table_;
};

}  // namespace feedrate::simulate
