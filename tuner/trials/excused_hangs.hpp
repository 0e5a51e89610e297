// SPDX-License-Identifier: Apache-2.0
// Hangs that may be the storage's, or the machine's.
#pragma once

#include <atomic>
#include <string>

namespace feedrate {

/// The first two hangs of a run are excused: what hung is run once more, unless it hung before, and
/// what the hang took is no time of the search's.
class ExcusedHangs {
 public:
  /// What `once()` returns. It throws Hung where it hangs; that it is run once more is told to
  /// `say`. Once `stop` is set, nothing is run again. `now_s` is the search's clock.
  template <class Hung, class Clock, class Say, class Once>
  auto retry(const Clock& now_s, const Say& say, const std::atomic<bool>* stop, const Once& once) {
    for (bool again = false;; again = true) {
      const double began_s = now_s();
      try {
        return once();
      } catch (const Hung& hung) {
        const bool is_excused = excuse(now_s() - began_s);
        if (again || !is_excused || (stop && stop->load(std::memory_order_relaxed))) throw;
        say(std::string(hung.what()) + " It is run once more.");
      }
    }
  }

  double seconds() const noexcept { return seconds_; }

 private:
  bool excuse(double seconds) noexcept {
    constexpr int most = 2;
    if (++hangs_ > most) return false;
    seconds_ += seconds;
    return true;
  }

  int hangs_ = 0;
  double seconds_ = 0;
};

}  // namespace feedrate
