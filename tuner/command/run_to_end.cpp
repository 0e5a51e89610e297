// SPDX-License-Identifier: Apache-2.0
#include "command/run_to_end.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "feedrate/core/error.hpp"
#include "process/refusals.hpp"

namespace feedrate {
namespace {

volatile pid_t running = 0;

/// What somebody sends to this process is for the command. What the kernel sends, as at Ctrl-C,
/// goes to the whole process group, and the command has it already. What somebody sends to the
/// group it gets twice.
extern "C" void pass_on_signal(int number, siginfo_t* sent, void*) {
  const int error = errno;
  if (sent->si_code <= 0 && running > 0) ::kill(running, number);
  errno = error;
}

/// One that is ignored, as SIGHUP below nohup, stays so. But Ctrl-C has to end the command alone,
/// and not this process.
void pass_on(int number) {
  struct sigaction now {};
  const bool is_ignored = ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
  if (is_ignored && number != SIGINT && number != SIGQUIT) return;
  struct sigaction action {};
  action.sa_sigaction = pass_on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(number, &action, nullptr);
}

/// In the new process. Handlers end with exec; what is ignored stays so, and is put back here.
[[noreturn]] void become(const LaunchSpec& spec) {
  for (const int number : {SIGXFSZ, SIGPIPE, SIGINT, SIGQUIT, SIGTERM}) ::signal(number, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const auto& [name, value] : spec.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : spec.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (spec.folder.empty() || ::chdir(spec.folder.c_str()) == 0) ::execvp(words[0], words.data());
  std::fprintf(stderr, "autotune: '%s' can't be run: %s.\n", words[0], std::strerror(errno));
  ::_exit(127);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_to_end(const LaunchSpec& spec) {
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) {
    throw Error(Fault::internal, "The command can't be started: " + reason_of_system(errno) + ".");
  }
  if (pid == 0) become(spec);
  running = pid;
  // Schedulers ask for a checkpoint by SIGUSR1 or SIGUSR2 before a job's time is over.
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) pass_on(number);
  return wait_for(pid);
}

}  // namespace feedrate
