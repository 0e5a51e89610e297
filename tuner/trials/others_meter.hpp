// SPDX-License-Identifier: Apache-2.0
// The CPU share of other processes while a launched program runs a round.
#pragma once

#include <unistd.h>

#include <cstdlib>

#include "feedrate/core/clock.hpp"
#include "feedrate/machine/machine_cpu.hpp"
#include "process/process_tree.hpp"

namespace feedrate {

/// The process whose descendants do the work: this one, or the one that started it where that has
/// the loop, as a notebook (see python/feedrate/notebook.py).
inline pid_t root_of_work() {
  return std::getenv("FEEDRATE_LOOP_IN_PARENT") ? ::getppid() : ::getpid();
}

/// Measures from its construction. This process and all that it launched are not others.
class OthersMeter {
 public:
  /// As in Round::others_share.
  double share() const {
    const double wall_s = SteadyClock{}.now_s() - begin_s_;
    const double cpu_s = tree_cpu_s(root_) - cpu_s_;
    return others_share(machine_, MachineCpu::read(), wall_s, cpu_s, CpuGrant::own().quota);
  }

 private:
  pid_t root_ = root_of_work();
  double cpu_s_ = tree_cpu_s(root_);
  MachineCpu machine_ = MachineCpu::read();
  double begin_s_ = SteadyClock{}.now_s();
};

}  // namespace feedrate
