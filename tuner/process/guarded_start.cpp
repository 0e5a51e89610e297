// SPDX-License-Identifier: Apache-2.0
#include "process/guarded_start.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "process/process_tree.hpp"
#include "process/refusals.hpp"

namespace feedrate {
namespace {

/// Seconds that a command may take to begin.
constexpr double longest_start_s = 30;

/// Where a start has failed, and why.
struct StartFailure {
  int at_folder = 0;
  int error = 0;
};

[[noreturn]] void report_unstarted(int report_fd, StartFailure failure) {
  [[maybe_unused]] const auto put = ::write(report_fd, &failure, sizeof failure);
  ::_exit(127);
}

void restore_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// In the new process: turns into the command. Here only calls are allowed that need no lock.
[[noreturn]] void become(const char* folder, char* const* command, int report_fd, pid_t guard) {
  ::setsid();  // without autotune's terminal: who asks there, as for a password, would be stopped
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) ::_exit(127);
  offer_to_oom_killer();
  restore_signals();
  if (*folder != '\0' && ::chdir(folder) != 0) report_unstarted(report_fd, {1, errno});
  ::execvp(command[0], command);
  report_unstarted(report_fd, {0, errno});
}

/// Empty where the pipe was closed without a word, as a start that succeeds does.
std::optional<StartFailure> failure_from(const PipeEnds& report) {
  pollfd source = {report.from, POLLIN, 0};
  const auto timeout_ms = static_cast<int>(longest_start_s * 1000);
  while (::poll(&source, 1, timeout_ms) < 0 && errno == EINTR) continue;
  if (source.revents == 0) throw_unguarded("it does not start", ETIMEDOUT);
  StartFailure failure;
  ssize_t got = 0;
  while ((got = ::read(report.from, &failure, sizeof failure)) < 0 && errno == EINTR) continue;
  return got == sizeof failure ? std::optional(failure) : std::nullopt;
}

/// Changes this process' own environment, which the command is to have.
void set_environment(const LaunchSpec& spec) {
  for (const auto& [name, value] : spec.environment) {
    if (::setenv(name.c_str(), value.c_str(), 1) != 0) throw_unguarded("setenv " + name, errno);
  }
}

}  // namespace

void throw_unguarded(const std::string& what, int error) {
  throw Error(Fault::internal,
              "The command can't be guarded: " + what + ": " + reason_of_system(error) + ".");
}

PipeEnds::PipeEnds(int flags) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | flags) != 0) throw_unguarded("pipe", errno);
  from = ends[0];
  to = ends[1];
}

LaunchSpec moved(LaunchSpec spec, const FolderCopy& copy) {
  for (std::string& word : spec.command) word = copy.moved(word);
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
    if (name != "PATH" && copy.moved(value) != value) variables.emplace_back(name, value);
  }
  variables.insert(variables.end(), spec.environment.begin(), spec.environment.end());
  for (auto& [name, value] : variables) {
    if (name != "FEEDRATE_ATTACH") value = copy.moved(value);  // a socket has no copy
  }
  variables.insert(
      variables.end(),
      {{"PWD", copy.path()}, {"FEEDRATE_COPY", copy.path()}, {"FEEDRATE_FOLDER", copy.original()}});
  spec.environment = std::move(variables);
  spec.folder = copy.path();
  return spec;
}

pid_t start_guarded(const LaunchSpec& spec, Channel& channel) {
  set_environment(spec);
  std::vector<char*> command;
  for (const std::string& word : spec.command) command.push_back(const_cast<char*>(word.c_str()));
  command.push_back(nullptr);
  PipeEnds report(0);
  const pid_t guard = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw_unguarded("fork", errno);
  if (pid == 0) become(spec.folder.c_str(), command.data(), report.to, guard);
  PipeEnds::close_end(report.to);
  if (const auto failure = failure_from(report)) {
    ::waitpid(pid, nullptr, 0);
    channel.send(
        {{"unstarted", failure->error}, {"at", failure->at_folder ? "folder" : "command"}});
    return 0;
  }
  channel.send({{"started", pid}});
  return pid;
}

}  // namespace feedrate
