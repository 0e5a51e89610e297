// SPDX-License-Identifier: Apache-2.0
// A dataset with an extra cost per sample, computing or waiting, for experiments.
#pragma once

#include <sys/prctl.h>

#include <cerrno>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <utility>

#include "feedrate/data/dataset.hpp"

namespace feedrate::inline v0 {

/// What a sample's extra time is spent on.
enum class Cost {
  cpu,      ///< computing: occupies a core
  latency,  ///< waiting: occupies nothing
};

/// Seconds that the calling thread has computed so far.
inline double thread_cpu_s() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Computes for `seconds` of this thread's CPU time, however long that takes on a busy machine.
inline void compute_for(double seconds) noexcept {
  for (const double end = thread_cpu_s() + seconds; thread_cpu_s() < end;) {
  }
}

/// Waits for `seconds`. The kernel's default slack of 50 us would add half to a wait of 100 us.
inline void wait_for(double seconds) {
  thread_local const int slack = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  static_cast<void>(slack);
  const double whole = std::floor(seconds);
  timespec left{static_cast<time_t>(whole), static_cast<long>(1e9 * (seconds - whole))};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/// Dataset `D` with `seconds` of `cost` added to every sample.
template <Dataset D>
class DelayedDataset {
 public:
  DelayedDataset(D dataset, Cost cost, double seconds)
      : dataset_(std::move(dataset)), cost_(cost), seconds_(seconds) {}

  std::size_t size() const { return dataset_.size(); }
  Layout layout() const { return dataset_.layout(); }

  void load(std::size_t i, const Sample& sample, Random& random) const {
    cost_ == Cost::cpu ? compute_for(seconds_) : wait_for(seconds_);
    dataset_.load(i, sample, random);
  }

 private:
  D dataset_;
  Cost cost_;
  double seconds_;
};

}  // namespace feedrate::inline v0
