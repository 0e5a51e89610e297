// SPDX-License-Identifier: Apache-2.0
// What a loader says when no batch can come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/order.hpp"
#include "feedrate/load/sample_error.hpp"
#include "feedrate/load/skips.hpp"
#include "feedrate/load/source.hpp"
#include "feedrate/load/worker.hpp"

namespace feedrate::inline v0::detail {

inline Error all_skipped(const Skip& first) {
  return Error(Fault::data, "Every sample of an epoch was skipped; the first was " +
                                sample_title(first.sample, first.name) + ": " + first.reason);
}

inline Error empty_epoch(std::int64_t epoch) {
  if (epoch == 0) {
    return Error(Fault::data,
                 "The stream gives no batch: it is empty, or drop_last leaves everything out.");
  }
  return Error(Fault::data, "The stream gave no batch in epoch " + std::to_string(epoch) +
                                " (from 0), and ends there: its readers had no sample, or all of "
                                "them were skipped.");
}

inline Error all_leased(std::size_t slots) {
  return Error(Fault::usage,
               "All " + std::to_string(slots) +
                   " slots of the loader are leased: let a batch go, keep a copy() of "
                   "it, or ask for more prefetch.");
}

inline Error forked() {
  return Error(
      Fault::usage,
      "This process came out of fork(), and the loader's threads are in the other one: make "
      "the loader after fork(), or give it 0 workers.");
}

inline Error not_started(std::size_t worker, int wanted, int error) {
  return Error(Fault::usage, "Could not start worker " + std::to_string(worker) + " of " +
                                 std::to_string(wanted) + ": " + std::strerror(error) +
                                 ". Ask for fewer workers or raise the limit (ulimit -u).");
}

/// Where a loader of so many epochs (0: endless) may begin again.
inline Cursor within_epochs(const Cursor& at, std::uint64_t epochs) {
  if (epochs == 0 || at.epoch < epochs) return at;
  throw Error(Fault::usage, "A loader of " + std::to_string(epochs) + " epochs can't begin epoch " +
                                std::to_string(at.epoch) +
                                " (from 0): ask for more epochs, or for none, which is endless.");
}

inline Error leased() {
  return Error(Fault::usage, "A loader can't be reconfigured while a batch of it is leased.");
}

/// How long a consumer has waited without a sample being finished.
class QuietTime {
 public:
  /// Adds a wait of `waited_s` that asked for `timeout_s`, at the end of which `filled` samples
  /// were finished in all. It counts for no more than it asked: the clock runs on while the process
  /// is stopped.
  void add(double waited_s, double timeout_s, std::uint64_t filled) noexcept {
    if (filled != filled_) seconds_ = 0;
    if (filled == filled_) seconds_ += std::clamp(waited_s, 0.0, std::max(timeout_s, 0.0));
    filled_ = filled;
  }
  void end() noexcept { seconds_ = 0; }

  /// Whether it is `stall_s`; parts of that may sum up to a little less.
  bool reaches(double stall_s) const noexcept { return seconds_ >= (1 - 1e-9) * stall_s; }

 private:
  double seconds_ = 0;
  std::uint64_t filled_ = 0;
};

/// Waits until no worker loads; false where no sample was finished for `stall_s` meanwhile, of all
/// that `filled()` counts.
template <class Engine, class Filled>
bool closes_in_time(Engine& engine, const std::vector<std::unique_ptr<Worker>>& workers,
                    Filled&& filled) {
  const double stall_s = engine.options().stall_s;
  QuietTime quiet;
  while (!engine.close(workers, stall_s / 5)) {
    quiet.add(stall_s / 5, stall_s / 5, filled());
    if (quiet.reaches(stall_s)) return false;
  }
  return true;
}

/// Names the workers that are at a sample, and the sample.
inline Error stalled(double stall_s, const std::vector<std::unique_ptr<Worker>>& workers,
                     const Source& source) {
  std::string who;
  for (const auto& worker : workers) {
    const std::uint64_t loading = worker->loading.load(std::memory_order_relaxed);
    if (loading == 0) continue;
    const auto sample = static_cast<std::size_t>(loading - 1);
    who += (who.empty() ? "worker " : ", worker ") + std::to_string(worker->index) +
           " is still loading " + sample_title(sample, source.name(sample));
  }
  return Error(Fault::data, "No sample was finished for " + std::to_string(stall_s) +
                                " s: " + (who.empty() ? "no worker is loading one" : who) +
                                ". If the storage is that slow, raise the loader's stall_s.");
}

}  // namespace feedrate::inline v0::detail
