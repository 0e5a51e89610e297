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

extern "C" void pass_on_signal(int number) {
  if (running > 0) ::kill(running, number);
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
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGQUIT, SIG_IGN);
  ::signal(SIGTERM, pass_on_signal);
  return wait_for(pid);
}

}  // namespace feedrate
