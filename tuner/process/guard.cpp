// SPDX-License-Identifier: Apache-2.0
#include "process/guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "process/folder_copy.hpp"
#include "process/guarded_start.hpp"
#include "process/process_tree.hpp"

namespace feedrate {
namespace {

constexpr std::string_view guard_word = "--guard";
/// Where the command runs: in a copy of the folder, or in the folder itself.
constexpr std::string_view copy_word = "copy", own_word = "own";

/// Seconds in which what a command leaves running may end by itself: helpers that clear up behind
/// it do.
constexpr double grace_s = 0.5;
/// The words behind the first: the folder, whether it is to be copied, how many variables, those,
/// and the command.
std::optional<LaunchSpec> spec_of(const std::vector<std::string>& words) {
  if (words.size() < 5) return std::nullopt;
  LaunchSpec spec;
  spec.folder = words[1];
  spec.in_copy = words[2] == copy_word;
  std::size_t variables = 0;
  std::from_chars(words[3].data(), words[3].data() + words[3].size(), variables);
  if (variables > words.size() - 5) return std::nullopt;
  for (std::size_t word = 4; word < 4 + variables; ++word) {
    const std::size_t equals = words[word].find('=');
    if (equals == std::string::npos) return std::nullopt;
    spec.environment.emplace_back(words[word].substr(0, equals), words[word].substr(equals + 1));
  }
  spec.command.assign(words.begin() + static_cast<std::ptrdiff_t>(4 + variables), words.end());
  return spec;
}

bool is_socket(int fd) noexcept {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

int wake_fd = -1;

extern "C" void on_end_of_child(int) {
  const int error = errno;
  [[maybe_unused]] const auto put = ::write(wake_fd, "", 1);
  errno = error;
}

void hear_of_children(int fd) {
  wake_fd = fd;
  struct sigaction action {};
  action.sa_handler = on_end_of_child;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGCHLD, &action, nullptr);
}

/// What ends autotune shall not end its guard: it has yet to clear up. A group of its own keeps
/// away what is sent to autotune's whole group, SIGKILL among it. All orphans below become its own.
void stand_apart() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) {
    ::signal(number, SIG_IGN);
  }
  ::setpgid(0, 0);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) throw_unguarded("prctl", errno);
}

/// Watches over a command that runs, and over its end.
class Watchman {
 public:
  Watchman(pid_t command, Channel& channel, int wake_from)
      : command_(command), channel_(channel), wake_from_(wake_from) {}

  void watch() {
    while (reap() && now_s() < give_up_at_s()) {
      obey();
      press();
      wait_for_news();
    }
    remove_batches_of(signalled_, began_);
    channel_.send({{"over", killed_}});
  }

 private:
  static constexpr double never_s = std::numeric_limits<double>::infinity();

  static double now_s() { return SteadyClock{}.now_s(); }
  double give_up_at_s() const { return kill_at_s_ + longest_killing_s; }

  /// False where no child is left; then, as all orphans are its children, nothing is.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return pid == 0;
      if (pid == command_ && !ended_) note_end(status);
    }
  }

  void note_end(int status) {
    ended_ = true;
    channel_.send({{"ended", status}});
    if (!asked_) plan_end(grace_s, usual_patience_s);
  }

  void plan_end(double wait_s, double patience_s) {
    ask_at_s_ = std::min(ask_at_s_, now_s() + wait_s);
    kill_at_s_ = std::min(kill_at_s_, now_s() + wait_s + patience_s);
  }

  /// A child that ends and a word over the channel wake it; the bound is for what was missed.
  void wait_for_news() {
    const double due_s = std::min(asked_ ? kill_at_s_ : ask_at_s_, now_s() + 1) - now_s();
    const double bound_s = killed_ ? 0.005 : std::max(due_s, 0.0);
    pollfd sources[2] = {{wake_from_, POLLIN, 0}, {open_ ? channel_.fd() : -1, POLLIN, 0}};
    ::poll(sources, 2, static_cast<int>(bound_s * 1000) + 1);
    char bytes[64];
    while (::read(wake_from_, bytes, sizeof bytes) > 0) continue;
  }

  /// An invalid message counts as the end: no sender of valid ones is left.
  void obey() try {
    if (!open_) return;
    open_ = channel_.pull();
    while (const auto word = channel_.next()) plan_end(0, word->at("end").get<double>());
    if (!open_) plan_end(0, usual_patience_s);
  } catch (const std::exception&) {
    plan_end(0, usual_patience_s);
  }

  /// Does what is due. Killing is repeated: what dies may just have had a child.
  void press() try {
    if (!asked_ && now_s() >= ask_at_s_) ask();
    if (now_s() >= kill_at_s_) kill();
  } catch (const Error&) {  // /proc can't be listed now, for want of descriptors: soon again
  }

  /// What is stopped hears it only when it goes on.
  void ask() {
    for (const ProcessMark& process : descendants_of(::getpid())) {
      signalled_.insert(process.pid);
      signal_process(process, SIGTERM);
      signal_process(process, SIGCONT);
    }
    asked_ = true;
  }

  /// Those that have a child and end, again and again, are gone before they are signalled one by
  /// one; the kernel hits the whole group at once. It is still the command's while a child that
  /// only this process can wait for belongs to it.
  void kill() {
    killed_ = true;
    const pid_t guard = ::getpid();
    for (const ProcessMark& process : descendants_of(guard)) {
      signalled_.insert(process.pid);
      if (process.parent == guard && process.group == command_) ::kill(-command_, SIGKILL);
      signal_process(process, SIGKILL);
    }
  }

  pid_t command_;
  Channel& channel_;
  int wake_from_;
  bool open_ = true;    ///< the channel is
  bool ended_ = false;  ///< the command itself has
  bool asked_ = false;
  bool killed_ = false;
  std::set<pid_t> signalled_;
  time_t began_ = ::time(nullptr);
  double ask_at_s_ = never_s;
  double kill_at_s_ = never_s;
};

/// Null where the command runs in its own folder.
std::unique_ptr<FolderCopy> copy_for(const LaunchSpec& spec, Channel& channel) {
  if (!spec.in_copy) return nullptr;
  auto copy = std::make_unique<FolderCopy>(spec.folder);
  channel.send({{"copy", copy->path()}, {"original", copy->original()}});
  return copy;
}

/// The copy goes last, however autotune ends.
void start_and_watch(const LaunchSpec& spec, Channel& channel) {
  PipeEnds wake(O_NONBLOCK);
  hear_of_children(wake.to);
  stand_apart();
  const auto copy = copy_for(spec, channel);
  if (copy && !channel.pull()) return;
  const pid_t command = start_guarded(copy ? moved(spec, *copy) : spec, channel);
  if (command != 0) Watchman(command, channel, wake.from).watch();
}

}  // namespace

std::vector<std::string> guard_words(const LaunchSpec& spec) {
  std::vector<std::string> words = {std::string(guard_word), spec.folder,
                                    std::string(spec.in_copy ? copy_word : own_word),
                                    std::to_string(spec.environment.size())};
  for (const auto& [name, value] : spec.environment) words.push_back(name + "=" + value);
  words.insert(words.end(), spec.command.begin(), spec.command.end());
  return words;
}

bool is_guard(const std::vector<std::string>& words) {
  return !words.empty() && words.front() == guard_word;
}

int run_guard(const std::vector<std::string>& words) {
  const auto spec = spec_of(words);
  if (!spec || !is_socket(child_channel_fd)) {
    std::cerr << "autotune: " << guard_word << " is for its own use.\n";
    return 2;
  }
  ::fcntl(child_channel_fd, F_SETFD, FD_CLOEXEC);
  Channel channel(child_channel_fd);
  try {
    start_and_watch(*spec, channel);
  } catch (const std::exception& error) {
    const auto* ours = dynamic_cast<const Error*>(&error);
    channel.send(
        {{"refused", std::string(error.what())}, {"usage", ours && ours->fault() == Fault::usage}});
    return 1;
  }
  return 0;
}

}  // namespace feedrate
