// SPDX-License-Identifier: Apache-2.0
// The verb without a name: tunes a workload, the user's data, or the user's command.
#include <unistd.h>

#include <filesystem>

#include "feedrate/machine/limits.hpp"
#include "feedrate/report/text/shell.hpp"
#include "journal/resume.hpp"
#include "plan/early.hpp"
#include "request/parse_request.hpp"
#include "screen/output.hpp"
#include "verbs/tune_run.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

/// The run that a journal holds, with all its words, and where.
std::string whole_line(const TuneRequest& run) {
  std::string line;
  for (const std::string& word : run.words) line += ' ' + shell_quoted(word);
  return line + ", in " + shell_quoted(std::filesystem::current_path().string());
}

/// Whether a run does more than measure what is built in and write its report.
bool touches_more(const TuneRequest& run) {
  return run.is_command() || !run.gate.files.empty() || !run.command.patch.empty();
}

/// A journal says what is launched and written, and may come from somebody else: it is shown, and
/// whoever sits at a terminal is asked. Secrets are shown there alone.
bool may_go_on(const TuneRequest& run, bool yes) {
  if (!touches_more(run) || yes) return true;
  const bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
  print_error("The run to continue: autotune" +
              (asks ? whole_line(run) : ' ' + shell_line(run.words)) + "\n");
  return !isatty(STDIN_FILENO) || is_agreed("Continue it? [y/N] ");
}

int resume(const TuneRequest& asked) {
  Resumption resumption = open_resumption(asked);
  if (!may_go_on(resumption.request, asked.command.yes)) return 0;
  return TuneRun(resumption.request, device_of(resumption.request), {}, &resumption)();
}

int run_tune(const std::vector<std::string>& words) {
  const auto request = parse_request(words, named_verbs());
  if (!request) return 0;
  if (!request->resume.empty()) return resume(*request);
  const TrainingDevice device = device_of(*request);
  return TuneRun(*request, device, plan_early(*request, read_limits(), device), nullptr)();
}

const RegisteredVerb registered_tune{{{"", ""}, run_tune}};

}  // namespace
}  // namespace feedrate
