// SPDX-License-Identifier: Apache-2.0
// A config of a pipeline of feedrate's own: each run is a fresh process of ours.
#pragma once

#include <atomic>
#include <optional>

#include "ab/ab_request.hpp"
#include "ab/program.hpp"
#include "feedrate/machine/limits.hpp"
#include "trials/subprocess_runner.hpp"

namespace feedrate {

class PipelineProgram final : public Program {
 public:
  /// `against` names the config's values; the others are the usual ones. Throws Error: (usage)
  /// where the config can't be run, (data) where there are no such data, (device). `known` is what
  /// the first run of either side prepared: both train on the same samples.
  PipelineProgram(const AbRequest& request, const Against& against, const Preparation& preparation,
                  std::optional<Prepared>& known);

  /// Measures the whole pipeline, then the loader and the step alone.
  ProgramRun run() override;
  bool is_guarded() const override { return false; }

 private:
  TuneRequest request_;
  TrainingDevice device_;
  Limits limits_;
  Supervision supervision_;
  std::atomic<bool> abort_{false};
  double seconds_;
  const std::atomic<bool>* stop_;
  std::optional<Prepared>& known_;
};

}  // namespace feedrate
