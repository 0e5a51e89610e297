// SPDX-License-Identifier: Apache-2.0
// The verb `ab`: compares two commands, or two configs, by runs that take turns.
#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ab/ab_gate.hpp"
#include "ab/ab_request.hpp"
#include "ab/ab_session.hpp"
#include "ab/finished_program.hpp"
#include "ab/pipeline_program.hpp"
#include "ab/rated_program.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/measure/trial_error.hpp"
#include "gate/gate_output.hpp"
#include "process/signals.hpp"
#include "request/terminal.hpp"
#include "request/version.hpp"
#include "screen/progress.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

ProgressOptions progress_options(const AbRequest& request) {
  return {.quiet = request.quiet(),
          .no_trials = !request.progress,
          .live = is_terminal(STDERR_FILENO),
          .width = columns(STDERR_FILENO)};
}

/// One comparison, from the programs to the exit code.
class AbVerb {
 public:
  explicit AbVerb(const AbRequest& request)
      : request_(request), stop_(watch_signals()), progress_(progress_options(request)) {}

  int operator()() {
    const SteadyClock clock;
    const double begin_s = clock.now_s();
    require_writable(request_.gate, request_.base);
    require_writable(request_.gate, request_.head);
    Gate gate = begin_gate();
    const auto say = [this](const std::string& line) { progress_.note(line); };
    const auto base = make_program(request_.base, request_.base_config, say);
    const auto head = make_program(request_.head, request_.head_config, [](const auto&) {});
    const AbWatch watch = {.say = [this](const std::string& text) { progress_.status(text); },
                           .stop = &stop_};
    const AbOutcome outcome = run_ab(request_, *base, *head, watch);
    progress_.clear();
    gate.tool.wall_s = clock.now_s() - begin_s;
    add_outcome(gate, request_, outcome);
    for (const std::string& note : head->notes()) gate.notes.push_back(note);
    return finish_gate(gate, request_.gate, request_.printing);
  }

 private:
  Gate begin_gate() const {
    Gate gate;
    gate.tool = {version, commit, request_.command_line, now_utc(), request_.options.seed, 0};
    gate.machine = read_machine(request_.data.path.empty() ? "." : request_.data.path);
    gate.verb = "ab";
    gate.subject = subject_of(request_);
    return gate;
  }

  std::unique_ptr<Program> make_program(const std::vector<std::string>& words,
                                        const std::optional<Against>& config,
                                        const std::function<void(const std::string&)>& say) {
    if (config) {
      return std::make_unique<PipelineProgram>(request_, *config,
                                               Preparation{.say = say, .stop = &stop_}, known_);
    }
    if (request_.metric == AbMetric::rate) {
      return std::make_unique<RatedProgram>(request_, words, &stop_);
    }
    return std::make_unique<FinishedProgram>(request_, words, &stop_);
  }

  const AbRequest& request_;
  const std::atomic<bool>& stop_;
  ProgressLine progress_;
  std::optional<Prepared> known_;  ///< what the runs of both sides train on
};

/// A command that fails can't be compared: that is no matter of tuning.
int run_ab(const std::vector<std::string>& words) try {
  const auto request = parse_ab(words);
  return request ? AbVerb(*request)() : 0;
} catch (const TrialError& error) {
  if (error.fault() != Fault::trials) throw;
  throw Error(Fault::data, error.what());
}

const RegisteredVerb registered_ab{
    {{"ab", "Compare two commands or configs: is one slower? A gate for CI."}, run_ab}};

}  // namespace
}  // namespace feedrate
