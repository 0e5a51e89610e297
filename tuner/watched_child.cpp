// SPDX-License-Identifier: Apache-2.0
#include "watched_child.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "feedrate/core/clock.hpp"
#include "feedrate/report/format.hpp"
#include "serve.hpp"

namespace feedrate {
namespace {

bool is_set(const std::atomic<bool>* flag) {
  return flag && flag->load(std::memory_order_relaxed);
}

/// The hidden options come first: behind a "--" they would be the user's.
std::vector<std::string> with_hidden_options(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"autotune", "--trial-child", std::to_string(::getpid())};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// The last line, short and printable.
std::string last_line(const std::string& lines) {
  constexpr std::size_t longest = 200;
  std::string line = lines.substr(lines.rfind('\n') + 1).substr(0, longest);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  return line;
}

/// The pair of sockets between parent and child.
void make_channel(int (&ends)[2]) {
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) return;
  throw Error(Fault::internal, std::string("No channel to the process that runs the trials can be "
                                           "made: ") +
                                   std::strerror(errno) + ".");
}

/// Tells answers from signs of life, and when the last of those came.
class Pulse {
 public:
  explicit Pulse(const Watch& watch) : watch_(watch) {}

  /// True where the message was no answer.
  bool took(const Json& message) {
    const auto beat = message.find("beat");
    if (beat != message.end()) {
      count(beat->get<std::uint64_t>());
      return true;
    }
    if (!message.contains("say") && !message.contains("preparing")) return false;
    watch_.heard(message);
    since_s_ = SteadyClock{}.now_s();
    return true;
  }

  /// To be called again and again. A stretch without a call is not held against the child: then
  /// this process was stopped, and at a terminal the child with it. Nor is the time until a beat
  /// tells of what was done.
  bool is_still() {
    const double now_s = SteadyClock{}.now_s();
    if (now_s - looked_s_ > 1) since_s_ += now_s - looked_s_;
    looked_s_ = now_s;
    return now_s - since_s_ > watch_.bound_s + 2 * beat_s;
  }

 private:
  void count(std::uint64_t signs) {
    if (signs == signs_) return;
    if (watch_.progress) watch_.progress->fetch_add(signs - signs_, std::memory_order_relaxed);
    signs_ = signs;
    since_s_ = SteadyClock{}.now_s();
  }

  const Watch& watch_;
  double since_s_ = SteadyClock{}.now_s();
  double looked_s_ = since_s_;
  std::uint64_t signs_ = 0;
};

/// An answer, if one has come.
std::optional<Json> answer_among(Channel& channel, Pulse& pulse) {
  while (auto message = channel.next()) {
    if (!pulse.took(*message)) return message;
  }
  return std::nullopt;
}

}  // namespace

WatchedChild::WatchedChild(const std::vector<std::string>& words)
    : WatchedChild(words, [] {
        int ends[2];
        make_channel(ends);
        return Ends{ends[0], ends[1]};
      }()) {}

WatchedChild::WatchedChild(const std::vector<std::string>& words, Ends ends)
    : channel_(ends.ours),
      process_("/proc/self/exe", with_hidden_options(words), detail::Descriptor(ends.theirs).fd()) {
}

/// It ends when the channel does; one that is stuck is killed.
WatchedChild::~WatchedChild() {
  ::shutdown(channel_.fd(), SHUT_RDWR);
  try {
    process_.wait(2);
  } catch (const Error&) {  // nobody is there to be waited for
  }
}

Json WatchedChild::ask(const Json& question, const Watch& watch) {
  if (!channel_.send(question)) throw_dead();
  Pulse pulse(watch);
  for (;;) {
    wait_for_news();
    process_.listen();
    const bool open = channel_.pull();
    try {
      if (auto answer = answer_among(channel_, pulse)) return *answer;
    } catch (const Json::exception&) {
      throw_dead();
    } catch (const Error&) {
      throw_dead();
    }
    if (is_set(watch.abort)) throw_interrupted(false);
    if (is_set(watch.stop)) throw_interrupted(true);
    if (!open) throw_dead();
    if (pulse.is_still()) throw_hung(watch);
  }
}

void WatchedChild::wait_for_news() {
  pollfd sources[2] = {{channel_.fd(), POLLIN, 0},
                       {output_open_ ? process_.output_fd() : -1, POLLIN, 0}};
  ::poll(sources, 2, 100);
  if ((sources[1].revents & POLLHUP) != 0 && (sources[1].revents & POLLIN) == 0) {
    output_open_ = false;
  }
}

void WatchedChild::throw_dead() {
  const auto status = process_.wait(1);
  if (status) throw_ended("The process of this trial " + describe_end(*status));
  process_.signal(SIGKILL);
  process_.wait(5);
  throw_ended("The process of this trial sent something that is no answer, and was killed");
}

void WatchedChild::throw_hung(const Watch& watch) {
  process_.signal(SIGKILL);
  process_.wait(5);
  const std::string time = format_duration(watch.bound_s);
  throw_ended(watch.preparing ? "The process of the trials gave no sign of life for " + time +
                                    " while it prepared, and was killed"
                              : "This trial finished no batch within " + time +
                                    " and was killed (--trial-timeout sets that time)");
}

/// A preparation that is asked to end leaves no half-made files behind.
void WatchedChild::throw_interrupted(bool gently) {
  if (gently) process_.signal(SIGTERM);
  if (gently) process_.wait(3);
  process_.signal(SIGKILL);
  process_.wait(5);
  throw Error(Fault::interrupted, "The run was interrupted.");
}

void WatchedChild::throw_ended(const std::string& sentence) {
  process_.listen();
  const std::string lines = process_.last_lines();
  const std::string said = lines.empty() ? "." : "; it said last: \"" + last_line(lines) + "\".";
  throw ChildDied(Fault::internal, sentence + said, lines);
}

}  // namespace feedrate
