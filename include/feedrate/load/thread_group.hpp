// SPDX-License-Identifier: Apache-2.0
// Threads that end when they are told, or are left behind.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "feedrate/core/event_count.hpp"
#include "feedrate/core/thread.hpp"

namespace feedrate::inline v0 {

/// The threads of one loader. Its owner tells them to end, then calls end().
class ThreadGroup {
 public:
  /// Runs `work()` in one more thread. It must not throw, and owns what it uses, since the thread
  /// may outlive everything else. Last it sets `exited`, which lives as long, and wakes who waits
  /// in end(). Returns an errno, 0 if it started.
  template <class Work>
  int start(Work work, const std::atomic<bool>& exited) {
    if (members_.empty()) process_ = ::getpid();
    Thread thread;
    const int error = Thread::start(thread, std::move(work));
    if (error == 0) members_.push_back({thread, &exited});
    return error;
  }

  std::size_t size() const noexcept { return members_.size(); }

  /// Whether its threads are in another process, out of which this one came by fork().
  bool left_behind() const noexcept { return !members_.empty() && ::getpid() != process_; }

  /// Waits until all have exited, 5 s at most or `stall_s` if that is less; `exits` wakes up when
  /// one exits. A thread that is stuck is left behind with everything it uses.
  void end(EventCount& exits, double stall_s) {
    if (left_behind()) return;
    constexpr double longest_s = 5;
    exits.wait([this] { return all_exited(); }, std::min(longest_s, stall_s));
    for (Member& member : members_) {
      if (member.exited->load(std::memory_order_seq_cst)) {
        member.thread.join();
      } else {
        member.thread.detach();
        abandoned().fetch_add(1, std::memory_order_relaxed);
      }
    }
    members_.clear();
  }

  /// Threads of any loader that were left behind because they were stuck in a user's code.
  static std::atomic<int>& abandoned() noexcept {
    static std::atomic<int> count{0};
    return count;
  }

 private:
  bool all_exited() const noexcept {
    for (const Member& member : members_) {
      if (!member.exited->load(std::memory_order_seq_cst)) return false;
    }
    return true;
  }

  struct Member {
    Thread thread;
    const std::atomic<bool>* exited;
  };

  pid_t process_ = ::getpid();
  std::vector<Member> members_;
};

}  // namespace feedrate::inline v0
