// SPDX-License-Identifier: Apache-2.0
// Trials of a command: each round is one launch with the values of its config.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/command_launch.hpp"
#include "command/templates.hpp"
#include "trials/excused_hangs.hpp"
#include "trials/trial_runner.hpp"

namespace feedrate {

/// A command to be tuned.
struct CommandPlan {
  LaunchSpec spec;
  std::vector<AxisTemplate> templates;
  /// The launch of a config; where empty, the templates say it.
  std::function<LaunchSpec(const LaunchSpec&, const Config&)> with_config = {};
  bool as_written = false;  ///< no config: no word or variable of the command changes
  std::optional<RateExpression> rate = {};  ///< finds the rate in what it prints
  std::optional<RateKind> kind = {};  ///< the one source to listen to; empty: the first that speaks
  Config reference;                   ///< the config that is launched first
  double timeout_s = 60;  ///< a launch that says nothing of its speed for so long is ended
  double start_s = 0;     ///< of that: for its start, as a launch before it took
  double patience_s = 5;  ///< between asking a command to end and killing it
  const std::atomic<bool>* stop = nullptr;  ///< ends the preparation
  /// Is told that a launch hung and is made once more; where empty, no launch is made again.
  std::function<void(const std::string&)> say_again = {};
};

/// What to call a command: its script, or the module behind python's -m, else its program.
std::string name_of_command(const std::vector<std::string>& command);

/// Runs rounds of a command as a whole; of no part alone.
class CommandTrials final : public TrialRunner {
 public:
  /// Helpers come to the socket.
  CommandTrials(CommandPlan plan, std::unique_ptr<ControlSocket> socket,
                std::optional<Prepared> known);

  /// Launches the reference once, until it tells its speed. Throws TrialError: (usage) where it
  /// runs, but says nothing that can be understood, (trials) where it fails.
  void start() override;

  /// One launch, ended after the round. `first_batch_s` is the time from the launch to the first
  /// word of its speed, which the round does not count. Throws TrialError as `start`, and (trials)
  /// for anything but the coupled rate. One that hangs is made once more, if the plan says so.
  Round run(const Request& request) override;
  bool can_run(Part part) const override { return part == Part::coupled; }
  double epoch_boundary_s(const Config&) override { return -1; }
  std::size_t memory_bytes(const Config&) override { return 0; }

  /// Without the start-ups and what hung: a budget is for measuring.
  double now_s() override { return TrialRunner::now_s() - started_s_ - hangs_.seconds(); }
  /// Seconds that all launches so far took until they told their speed; those that never did are
  /// left out.
  double started_s() const noexcept { return started_s_; }
  /// In the last launch that was measured.
  const LaunchedGpu& gpu() const noexcept { return gpu_; }
  /// Whether the rates are in batches: neither helper nor config knows their samples.
  bool counts_batches() const noexcept { return counts_batches_; }
  /// What the user should know of how the command behaved, each once.
  std::vector<std::string> notes() const override { return notes_; }

 private:
  Round launch_once(const Request& request);
  LaunchSpec spec_of(const Config& config) const;
  std::unique_ptr<CommandLaunch> launch(const Config& config, const RoundOptions& options);
  void end(CommandLaunch& launch);
  void note(const std::string& sentence);
  Prepared describe() const;

  CommandPlan plan_;
  std::unique_ptr<ControlSocket> socket_;
  std::string name_;
  std::optional<RateKind> kind_;  ///< once the first launch has shown it
  bool takes_batch_ = false;      ///< the command takes the config's batch
  double started_s_ = 0;
  ExcusedHangs hangs_;
  LaunchedGpu gpu_;
  bool counts_batches_ = false;
  std::vector<std::string> notes_;
};

}  // namespace feedrate
