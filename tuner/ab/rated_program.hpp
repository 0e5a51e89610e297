// SPDX-License-Identifier: Apache-2.0
// A command that goes on until it is ended: its rate, as it reports or prints it.
#pragma once

#include <atomic>

#include "ab/ab_request.hpp"
#include "ab/program.hpp"
#include "command/command_trials.hpp"

namespace feedrate {

class RatedProgram final : public Program {
 public:
  RatedProgram(const AbRequest& request, const std::vector<std::string>& words,
               const std::atomic<bool>* stop);

  ProgramRun run() override;
  std::vector<std::string> notes() const override { return trials_.notes(); }

 private:
  RoundOptions options_;
  CommandTrials trials_;
};

/// How the commands of a request are launched.
LaunchSpec launch_of(const AbRequest& request, const std::vector<std::string>& words);

}  // namespace feedrate
