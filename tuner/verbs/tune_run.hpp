// SPDX-License-Identifier: Apache-2.0
// A run of the tuner: a new one, or one that was killed and goes on.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/touched_files.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/tune/state/options.hpp"
#include "journal/journaled.hpp"
#include "journal/resume.hpp"
#include "screen/output.hpp"
#include "screen/progress.hpp"
#include "script/command_run.hpp"
#include "trials/trial_runner.hpp"

namespace feedrate {

/// From the first question to the last.
class TuneRun {
 public:
  /// `early` is what plan_early has planned; `resumption` is null for a new run.
  TuneRun(const TuneRequest& request, TrainingDevice device, TuneOptions early,
          Resumption* resumption);

  /// Returns the exit code.
  int operator()();

 private:
  bool keeps_journal() const { return !file_.is_standard_output(); }

  double wall_s(Journaled& measurer) const { return prepared_s_ + measurer.now_s(); }

  void begin();

  /// What the run has found out of machine, environment and data is taken from its journal.
  void begin_again();

  std::unique_ptr<TrialRunner> make_trials(std::optional<Prepared> known);

  CommandRun command_run();

  std::vector<NamedFile> written_files() const;

  int change_and_train(const std::string& unwritten);

  TuneOptions plan_for(const Prepared& prepared) const;

  /// On a GPU the default batches go up to the largest that its memory holds. A resumed run has
  /// found that out before.
  Prepared prepare();

  void plan();

  void open_journal();

  void reopen_journal();

  std::vector<Json> recorded() const;

  JournalKeeping keeping();

  /// An error that does not end the run is told even to those who want quiet.
  void say_lost(const std::string& why);

  Outcome plan_and_search(std::optional<Journaled>& measurer);

  Outcome search(Journaled& measurer);

  void ask_what_if(Journaled& measurer, Outcome& outcome);

  /// A report that is not the last one is that of a run which was ended, until the last one comes.
  /// While recorded answers are given again, the report on disk knows more.
  void save(const Outcome& outcome, Journaled& measurer);

  const TuneRequest& request_;
  TrainingDevice device_;
  TuneOptions early_;       ///< of a new run: what holds for every workload
  Resumption* resumption_;  ///< null for a new run
  const std::atomic<bool>& stop_;
  std::atomic<bool> abort_{false};
  const double began_s_ = SteadyClock{}.now_s();
  double prepared_s_ = 0;
  ProgressLine progress_;
  ReportFile file_;
  Report report_;
  std::vector<ThreadPool> thread_pools_;
  const double began_by_files_s_ = file_clock_s();
  TuneOptions plan_;
  std::vector<int> batches_;  ///< the default axis
  std::unique_ptr<TrialRunner> trials_;
  std::unique_ptr<Journal> journal_;
};

}  // namespace feedrate
