// SPDX-License-Identifier: Apache-2.0
// Runs trials in a child process. A trial that crashes, hangs or runs out of memory costs only its
// own config.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/load/skips.hpp"
#include "trials/excused_hangs.hpp"
#include "trials/prepare.hpp"
#include "trials/trial_runner.hpp"
#include "trials/watched_child.hpp"

namespace feedrate {

/// How trials are supervised.
struct Supervision {
  TrialOrder order;                    ///< what each child prepares
  double timeout_s = 60;               ///< a trial that finishes no batch for so long is killed
  Preparation preparation;             ///< what the first child says is passed on
  std::atomic<bool>* abort = nullptr;  ///< raised if no child can be started any more
};

/// Runs trials in children, one after the other: the next begins when the last one has died.
class SubprocessRunner final : public TrialRunner {
 public:
  SubprocessRunner(Supervision supervision, std::optional<Prepared> known);

  /// Throws what the child throws while it prepares, and Error(internal) where it died twice.
  void start() override;
  std::uint64_t planned_device_bytes(const Config& config) override;

  /// Rounds carry in `block` which child ran them. A child's death is thrown as ChildDied.
  Round run(const Request& request) override;
  bool copies() override;
  double epoch_boundary_s(const Config& config) override;
  std::size_t memory_bytes(const Config& config) override;
  std::size_t device_memory_bytes(const Config& config) override;
  std::optional<GpuState> gpu_state() override;
  /// Stands still while a hung trial was waited for and its process replaced, twice a run.
  double now_s() override { return TrialRunner::now_s() - hangs_.seconds(); }
  /// What all children have said so far: asks nobody.
  std::vector<Skip> skips() override { return skips_.all(); }

 private:
  void start_once();
  void start_again();
  Prepared prepare_child();
  void require_child();
  Json ask(const Json& question, const Watch& watch, double patience = 1);
  Json ask_once(const Json& question, Watch watch, double patience);
  void take_skips(const Json& answer);

  Supervision supervision_;
  std::unique_ptr<WatchedChild> child_;
  bool planned_ = false;  ///< the child knows the largest batch
  int children_ = 0;
  ExcusedHangs hangs_;
  DistinctSkips skips_;
};

}  // namespace feedrate
