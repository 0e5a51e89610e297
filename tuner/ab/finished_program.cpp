// SPDX-License-Identifier: Apache-2.0
#include "ab/finished_program.hpp"

#include <poll.h>

#include <cstdio>
#include <optional>

#include "ab/benchmark_json.hpp"
#include "ab/rated_program.hpp"
#include "command/command_trials.hpp"
#include "command/last_words.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/report/text/format.hpp"
#include "process/child_process.hpp"
#include "process/guard.hpp"
#include "trials/others_meter.hpp"
#include "trials/pulse.hpp"

namespace feedrate {
namespace {

constexpr const char* file_name = "/benchmark.json";
constexpr std::size_t room_for_name = 32;

}  // namespace

FinishedProgram::FinishedProgram(const AbRequest& request, const std::vector<std::string>& words,
                                 const std::atomic<bool>* stop)
    : spec_(launch_of(request, words)),
      name_(name_of_command(words)),
      timeout_s_(request.timeout_s.value_or(600)),
      stop_(stop) {
  if (request.metric != AbMetric::benchmark_json) return;
  folder_ = std::make_unique<detail::PrivateFolder>(room_for_name);
  // Google Benchmark reads each of its flags from a variable, too: a script around the program
  // needs to pass on nothing.
  spec_.environment.emplace_back("BENCHMARK_OUT", folder_->path() + file_name);
  spec_.environment.emplace_back("BENCHMARK_OUT_FORMAT", "json");
}

ProgramRun FinishedProgram::run() {
  if (folder_) std::remove((folder_->path() + file_name).c_str());
  const OthersMeter others;  // looks at every process of this machine, which takes a while
  RunningCommand command(spec_);
  const double begin_s = SteadyClock{}.now_s();
  const double wall_s = time_of(command, begin_s);
  return {metrics_of(wall_s), others.share()};
}

/// `begin_s` is when the command starts, not its guard.
double FinishedProgram::time_of(RunningCommand& command, double begin_s) {
  const SteadyClock clock;
  for (;;) {
    const auto status = command.ended();
    const double wall_s = clock.now_s() - begin_s;
    if (status) {
      require_success(command, *status);
      return wall_s;
    }
    if (is_set(stop_)) throw Error(Fault::interrupted, "The run was interrupted.");
    if (wall_s > timeout_s_) {
      command.end(usual_patience_s);
      throw Error(Fault::data, "'" + name_ + "' did not end within " + format_duration(timeout_s_) +
                                   " and was ended (--trial-timeout sets that time)" +
                                   last_words(command.last_lines()) + ".");
    }
    command.listen();
    command.take_output();
    pollfd sources[2] = {{command.output_fd(), POLLIN, 0}, {command.news_fd(), POLLIN, 0}};
    ::poll(sources, 2, 100);
  }
}

void FinishedProgram::require_success(RunningCommand& command, int status) const {
  if (status == 0) return;
  throw Error(Fault::data, "'" + name_ + "' " + describe_end(status) +
                               last_words(command.last_lines()) +
                               ": a run that fails can't be compared.");
}

std::vector<ProgramMetric> FinishedProgram::metrics_of(double wall_s) const {
  if (folder_) return read_benchmarks(folder_->path() + file_name, name_);
  return {{.name = "wall_s", .unit = "s", .value = wall_s, .higher_is_better = false}};
}

}  // namespace feedrate
