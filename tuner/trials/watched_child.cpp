// SPDX-License-Identifier: Apache-2.0
#include "trials/watched_child.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "feedrate/report/text/format.hpp"
#include "process/refusals.hpp"
#include "trials/pulse.hpp"

namespace feedrate {
namespace {

/// The pair of sockets between parent and child.
void make_channel(int (&ends)[2]) {
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) return;
  throw Error(Fault::internal, std::string("No channel to the process that runs the trials can be "
                                           "made: ") +
                                   reason_of_system(errno) + ".");
}

/// An answer, if one has come.
std::optional<Json> answer_among(Channel& channel, Pulse& pulse) {
  while (auto message = channel.next()) {
    if (!pulse.took(*message)) return message;
  }
  return std::nullopt;
}

}  // namespace

WatchedChild::WatchedChild()
    : WatchedChild([] {
        int ends[2];
        make_channel(ends);
        return Ends{ends[0], ends[1]};
      }()) {}

WatchedChild::WatchedChild(Ends ends)
    : channel_(ends.ours),
      process_("/proc/self/exe", {"autotune", trial_child_word, std::to_string(::getpid())},
               detail::Descriptor(ends.theirs).fd()) {}

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

template <class Death>
void WatchedChild::throw_ended(const std::string& sentence) {
  process_.listen();
  const std::string lines = process_.last_lines();
  const std::string said = lines.empty() ? "." : "; it said last: \"" + last_line(lines) + "\".";
  throw Death(Fault::internal, sentence + said, lines);
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
  throw_ended<ChildHung>(watch.preparing ? "The process of the trials gave no sign of life for " +
                                               time + " while it prepared, and was killed"
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

}  // namespace feedrate
