// SPDX-License-Identifier: Apache-2.0
// Trials in the user's script: its own loop steps, and its DataLoader is switched within one
// launch.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "script/loop_findings.hpp"
#include "script/script_session.hpp"
#include "trials/by_config.hpp"
#include "trials/excused_hangs.hpp"
#include "trials/trial_runner.hpp"

namespace feedrate {

/// A script to be tuned.
struct ScriptPlan {
  LaunchSpec spec;
  std::string loader;                ///< which one, by number or name; empty: the hook chooses
  bool persistent_is_given = false;  ///< the user chose whether workers stay
  double timeout_s = 60;             ///< a trial that finishes no batch for so long is ended
  std::function<void(const std::string&)> say = [](const std::string&) {};
  std::function<void(double)> waiting = [](double) {};  ///< seconds so far, for its loop
  const std::atomic<bool>* stop = nullptr;              ///< ends the preparation
  std::atomic<bool>* abort = nullptr;  ///< raised where the script can't be run any more
};

/// Runs rounds in a script. One that comes to its end is launched again; so is one that died or
/// hung, and the trial is run once more.
class ScriptTrials final : public TrialRunner {
 public:
  ScriptTrials(ScriptPlan plan, std::optional<Prepared> known);
  ~ScriptTrials() override;

  /// Launches the script until its training loop runs. Throws Error(usage) where there is nothing
  /// to attach to, Error(trials) where it fails before.
  void start() override;

  /// Throws PlanOutdated where the script has changed its dataset between two epochs for the first
  /// time: workers that stay do not see that.
  Round run(const Request& request) override;
  bool can_run(Part part) const override { return part != Part::copy; }
  double epoch_boundary_s(const Config& config) override;
  std::size_t memory_bytes(const Config& config) override;
  bool learns_memory() const override { return true; }
  /// Stands still while the script starts, and while it validates, or does whatever else it does
  /// between two epochs, and while a trial hung that is run once more: that is not tuning. But what
  /// a script of few steps, or of short epochs, takes for both beyond its first start counts from a
  /// minute on.
  double now_s() override;
  std::vector<std::string> notes() const override;
  std::vector<std::string> warnings() const override;
  std::vector<Setting> settings(const Outcome& outcome, std::size_t trial) override;
  std::string decoding() override;
  void try_levers(Outcome& outcome) override;
  void try_cpp_loader(Outcome& outcome) override;
  void tell_of_loop(Script& script) const override { findings_.tell(script); }

 private:
  void launch();
  void detach();
  void require_script();
  void attach_to_most_batches(const NothingToTune& nothing);
  Prepared describe() const;
  std::vector<Json> ask(const Json& question, Watch watch);
  std::vector<Json> ask_until_answered(const Json& question, const Watch& watch);
  Json question_about(const Request& request) const;
  void require_current_plan();
  void require_same_loader(const Script& now) const;
  Round run_for_time(const Request& request);
  Round run_exactly(const Request& request, int batches);
  int warm_up_of(const Config& config) const;
  void remember_supply(const Config& config, const std::vector<Json>& answers);
  void add_waiting(const std::vector<Json>& answers);
  std::string ranks_text() const;
  bool is_of_other_batch(const Json& question) const;
  void note_death(const Json& question, const ScriptDied& death);
  int batches_for(const Request& request);
  Json loader_changes(const Config& config) const;
  WhatIf with_lever(std::string_view name, const Trial& trial);
  WhatIf in_pairs(std::string_view name, const Trial& trial, const std::vector<Json>& questions);
  void add_change(const Json& told, std::vector<Setting>& settings) const;

  ScriptPlan plan_;
  std::unique_ptr<ControlSocket> socket_;
  std::unique_ptr<ScriptSession> attached_;
  double first_start_s_ = 0;
  double beside_s_ = 0;  ///< further starts, and what earlier launches did outside of their loop
  double start_s_ = 0;   ///< of the last start
  ExcusedHangs hangs_;
  int launches_ = 0;
  int at_once_ = 1;  ///< batches that its loop takes before it does their steps
  LoopFindings findings_;
  std::string told_death_;  ///< the last one that was told: many launches may die alike
  std::map<std::string, std::vector<Config>> deaths_;  ///< configs, by how the script died
  /// Seconds per batch, where ranks keep step.
  std::map<Part, ByConfig<double>> batch_s_;
  /// Whether every rank's loader kept up with the step, where ranks keep step; of this launch.
  ByConfig<bool> keeps_up_;
  struct Waiting {
    double wait_s = 0, duration_s = 0;
    double share() const noexcept { return duration_s > 0 ? wait_s / duration_s : 0; }
  };
  std::vector<Waiting> waiting_;  ///< of each rank, for data, in all coupled rounds
};

}  // namespace feedrate
