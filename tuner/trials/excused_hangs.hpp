// SPDX-License-Identifier: Apache-2.0
// Hangs that may be the storage's, or the machine's.
#pragma once

namespace feedrate {

/// The first two hangs of a run are excused: the trial is run once more, unless it hung before, and
/// what the hang took is no time of the search's.
class ExcusedHangs {
 public:
  /// A trial hung for so long. False once there were too many.
  bool excuse(double seconds) noexcept {
    constexpr int most = 2;
    if (++hangs_ > most) return false;
    seconds_ += seconds;
    return true;
  }

  double seconds() const noexcept { return seconds_; }

 private:
  int hangs_ = 0;
  double seconds_ = 0;
};

}  // namespace feedrate
