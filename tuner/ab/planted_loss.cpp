// SPDX-License-Identifier: Apache-2.0
#include "ab/planted_loss.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stop_token>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "process/process_tree.hpp"

namespace feedrate {
namespace {

constexpr double slice_s = 0.002;  ///< at least, so that the scheduler's own delays matter little
constexpr double between_s = 0.01;
constexpr double refresh_s = 0.1;

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Stops and continues a tree, and knows for how long it was stopped.
class Brake {
 public:
  explicit Brake(bool spare_children) : spare_children_(spare_children) {}

  /// For so long, and how much longer it took.
  void press(double seconds) {
    find();
    signal_all(SIGSTOP);
    const double begin_s = clock_.now_s();
    sleep_s(seconds);
    signal_all(SIGCONT);
    stopped_s_ += clock_.now_s() - begin_s;
  }

  double stopped_s() const noexcept { return stopped_s_; }

 private:
  void find() try {
    const double now_s = clock_.now_s();
    if (now_s - found_s_ < refresh_s) return;
    found_s_ = now_s;
    tree_ = descendants_of(::getpid());
    const auto is_spared = [this](const ProcessMark& process) {
      return spare_children_ && process.parent == ::getpid();
    };
    std::erase_if(tree_, is_spared);
  } catch (const Error&) {  // /proc can't be listed now: those of before
  }

  void signal_all(int number) const {
    for (const ProcessMark& process : tree_) signal_process(process, number);
  }

  SteadyClock clock_;
  bool spare_children_;
  std::vector<ProcessMark> tree_;
  double found_s_ = -1;
  double stopped_s_ = 0;
};

/// What a slice is too long by, the next ones are shorter by.
void slow(const std::stop_token& stop, double share, bool spare_children) {
  Brake brake(spare_children);
  const double begin_s = SteadyClock{}.now_s();
  while (!stop.stop_requested()) {
    const double due_s = share * (SteadyClock{}.now_s() - begin_s) - brake.stopped_s();
    if (due_s >= slice_s) brake.press(std::min(due_s, between_s));
    sleep_s(std::min(between_s, slice_s / share));
  }
}

}  // namespace

PlantedLoss::PlantedLoss(double share, bool spare_children)
    : thread_(
          [share, spare_children](std::stop_token stop) { slow(stop, share, spare_children); }) {}

}  // namespace feedrate
