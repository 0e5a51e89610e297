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

/// The command as it will be launched, with all that it holds, and where.
std::string whole_line(const CommandRequest& command) {
  std::string line;
  for (const std::string& word : command.words) line += ' ' + shell_quoted(word);
  const auto here = std::filesystem::current_path();
  const auto folder = command.folder.empty() ? here : here / command.folder;
  return line + ", in " + shell_quoted(folder.string());
}

/// A journal says which command is launched, and may come from somebody else: it is shown, and
/// whoever sits at a terminal is asked. Secrets are shown there alone.
bool may_launch(const TuneRequest& request, bool yes) {
  if (!request.is_command() || yes) return true;
  const bool asks = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
  print_error("The run to continue launches:" +
              (asks ? whole_line(request.command) : ' ' + shell_line(request.command.words)) +
              "\n");
  return !isatty(STDIN_FILENO) || is_agreed("Launch this? [y/N] ");
}

int resume(const TuneRequest& asked) {
  Resumption resumption = open_resumption(asked);
  if (!may_launch(resumption.request, asked.command.yes)) return 0;
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
