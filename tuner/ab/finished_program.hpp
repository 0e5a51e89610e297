// SPDX-License-Identifier: Apache-2.0
// A command that ends by itself: its time, or the metrics in the file that it writes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ab/ab_request.hpp"
#include "ab/program.hpp"
#include "process/control_socket.hpp"
#include "process/launch.hpp"

namespace feedrate {

class FinishedProgram final : public Program {
 public:
  /// Of a request for `time` or `benchmark_json`.
  FinishedProgram(const AbRequest& request, const std::vector<std::string>& words,
                  const std::atomic<bool>* stop);

  ProgramRun run() override;

 private:
  double time_of(RunningCommand& command, double begin_s);
  void require_success(RunningCommand& command, int status) const;
  std::vector<ProgramMetric> metrics_of(double wall_s) const;

  LaunchSpec spec_;
  std::string name_;
  double timeout_s_;
  const std::atomic<bool>* stop_;
  std::unique_ptr<detail::PrivateFolder> folder_;  ///< of the file; null where none is written
};

}  // namespace feedrate
