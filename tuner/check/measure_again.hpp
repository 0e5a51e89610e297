// SPDX-License-Identifier: Apache-2.0
// Measures the recommended config of a baseline again, in turn with its reference, in fresh
// processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "check/baseline.hpp"
#include "trials/trial_runner.hpp"

namespace feedrate {

/// The rounds of one fresh process.
struct CheckBlock {
  std::vector<Round> recommended = {}, reference = {};  ///< no reference where that is recommended
  Round loader = {}, device = {};                       ///< of the recommended config, each alone

  /// Of the CPUs that others took, mean over the coupled rounds; < 0: unknown.
  double others_share() const;
};

struct RoundPlan {
  double budget_s = 30;  ///< no block begins that would end later, but for the least number
  double round_s = 0.5;
};

/// Runs blocks. The first preparation makes what all need.
class Remeasuring {
 public:
  static constexpr int least_blocks = 3, most_blocks = 12;

  /// `make_runner` starts a fresh process, of what is known once it is.
  Remeasuring(const Baseline& baseline,
              std::function<std::unique_ptr<TrialRunner>(std::optional<Prepared>)> make_runner,
              const std::atomic<bool>& stop, std::atomic<bool>& abort);

  /// Prepares the data; what there is today.
  const WorkloadInfo& prepare();

  /// Blocks of rounds in random order, forth and back, so that a steady drift cancels. Throws
  /// Error(trials) where a config can't be run any more, Error(interrupted) on stop.
  std::vector<CheckBlock> run(const RoundPlan& plan);

  /// That the recommended config needs, by prediction; 0: unknown. To be asked behind run().
  std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }

 private:
  CheckBlock run_block(double round_s);
  Round run_round(Part part, const Config& config, double round_s);
  void start_process();

  const Baseline& baseline_;
  std::function<std::unique_ptr<TrialRunner>(std::optional<Prepared>)> make_runner_;
  const std::atomic<bool>& stop_;
  std::atomic<bool>& abort_;
  Random random_;
  std::unique_ptr<TrialRunner> runner_;
  std::optional<Prepared> prepared_;
  bool is_fresh_ = false;  ///< the process has run nothing yet
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace feedrate
