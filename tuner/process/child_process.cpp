// SPDX-License-Identifier: Apache-2.0
#include "process/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "process/refusals.hpp"

extern "C" char** environ;

namespace feedrate {
namespace {

[[noreturn]] void throw_unstarted(const std::string& what, int error) {
  const bool is_beyond_limit = error == EINVAL && what == "fcntl";
  throw Error(Fault::internal, "The process that runs the trials can't be started (" + what +
                                   "): " + reason_of_system(is_beyond_limit ? EMFILE : error) +
                                   ".");
}

/// A copy of a descriptor above those that the child's get, so that none overwrites another.
int lifted(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 16);
  if (copy < 0) throw_unstarted("fcntl", errno);
  return copy;
}

struct Pipe {
  int from, to;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_unstarted("pipe", errno);
    from = ends[0];
    to = ends[1];
  }
};

/// Where the child's standard descriptors and its channel lead to.
class Redirections {
 public:
  Redirections(int input_fd, int output_fd, int channel_fd) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, input_fd, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, output_fd, 1);
    ::posix_spawn_file_actions_adddup2(&actions_, output_fd, 2);
    ::posix_spawn_file_actions_adddup2(&actions_, channel_fd, child_channel_fd);
  }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;
  ~Redirections() { ::posix_spawn_file_actions_destroy(&actions_); }
  const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// A terminal sends Ctrl-C to all its processes: the child starts with it blocked, and lets it
/// through once it ignores it.
class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGINT);
    ::sigaddset(&blocked, SIGTERM);
    ::posix_spawnattr_setsigmask(&attributes_, &blocked);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Names of the signals that end programs; what they mean, where that is no secret.
constexpr std::pair<int, const char*> signal_names[] = {
    {SIGSEGV, "SIGSEGV, invalid memory access"},
    {SIGBUS, "SIGBUS, memory or a mapped file that is not there"},
    {SIGILL, "SIGILL, an instruction that this CPU lacks"},
    {SIGFPE, "SIGFPE, an invalid operation on whole numbers"},
    {SIGABRT, "SIGABRT, it gave up by itself"},
    {SIGXCPU, "SIGXCPU, its limit of CPU time"},
    {SIGXFSZ, "SIGXFSZ, its limit of file size"},
    {SIGSYS, "SIGSYS, a system call that is not allowed"},
    {SIGTERM, "SIGTERM"},
    {SIGTRAP, "SIGTRAP"},
    {SIGHUP, "SIGHUP"},
    {SIGQUIT, "SIGQUIT"},
    {SIGPIPE, "SIGPIPE"}};

std::string name_of_signal(int number) {
  for (const auto& [known, name] : signal_names) {
    if (known == number) return name;
  }
  return "signal " + std::to_string(number);
}

}  // namespace

ChildProcess::Started ChildProcess::start(const std::string& program,
                                          const std::vector<std::string>& words, int input_fd,
                                          int channel_fd) {
  if (input_fd < 0) throw_unstarted("'/dev/null'", errno);
  const Pipe pipe;
  const detail::Descriptor from(pipe.from), to(pipe.to), output(lifted(pipe.to)),
      channel(lifted(channel_fd));
  const Redirections redirections(input_fd, output.fd(), channel.fd());
  const Attributes attributes;
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), redirections.get(), attributes.get(),
                                  pointers_to(words).data(), environ);
  if (error != 0) throw_unstarted("'" + program + "'", error);
  const int kept = lifted(from.fd());
  ::fcntl(kept, F_SETFL, O_NONBLOCK);
  return {pid, kept};
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& words,
                           int channel_fd)
    : started_(start(program, words, input_.fd(), channel_fd)) {}

ChildProcess::~ChildProcess() {
  if (status_) return;
  signal(SIGKILL);
  while (::waitpid(started_.pid, nullptr, 0) < 0 && errno == EINTR) continue;
}

std::string ChildProcess::listen() {
  constexpr std::size_t kept = std::size_t{1} << 15, most = std::size_t{1} << 20;
  std::string heard;
  char block[4096];
  ssize_t got = 0;
  while (heard.size() < most && (got = ::read(output_.fd(), block, sizeof block)) > 0) {
    heard.append(block, static_cast<std::size_t>(got));
  }
  written_.append(heard, heard.size() - std::min(heard.size(), kept));
  if (written_.size() > 2 * kept) written_.erase(0, written_.size() - kept);
  return heard;
}

std::string ChildProcess::last_lines(int lines) const {
  const std::size_t end = written_.find_last_not_of(" \t\r\n");
  if (end == written_.npos) return {};
  std::string text = written_.substr(0, end + 1);
  std::size_t begin = text.size();
  for (int line = 0; line < lines && begin > 0; ++line) {
    const std::size_t newline = text.rfind('\n', begin - 1);
    begin = newline == text.npos ? 0 : newline;
  }
  return text.substr(begin == 0 ? 0 : begin + 1);
}

/// Its number is nobody else's before it was reaped.
void ChildProcess::signal(int number) noexcept {
  if (!status_) ::kill(started_.pid, number);
}

std::optional<int> ChildProcess::wait(double timeout_s) {
  const double end_s = SteadyClock{}.now_s() + timeout_s;
  while (!status_) {
    int status = 0;
    const pid_t ended = ::waitpid(started_.pid, &status, WNOHANG);
    if (ended == started_.pid) status_ = status;
    if (ended < 0 && errno != EINTR) throw_unstarted("waitpid", errno);
    if (status_ || SteadyClock{}.now_s() >= end_s) break;
    ::poll(nullptr, 0, 2);
  }
  return status_;
}

std::string describe_end(int status) {
  if (WIFEXITED(status))
    return "ended by itself with exit code " + std::to_string(WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  if (number == SIGKILL) {
    return "was killed from outside (SIGKILL), as the kernel does when memory runs out";
  }
  return "crashed (" + name_of_signal(number) + ")";
}

}  // namespace feedrate
