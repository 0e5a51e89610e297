// SPDX-License-Identifier: Apache-2.0
#include "script/script_session.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "feedrate/report/text/format.hpp"
#include "hook/lost_hook.hpp"
#include "journal/request_json.hpp"
#include "script/rank_answers.hpp"
#include "trials/last_error.hpp"
#include "trials/watched_child.hpp"

namespace feedrate {
namespace {

/// Between closing the channels and killing what is left.
constexpr double ending_patience_s = 3;

bool asks_for_input(const std::string& lines) {
  return lines.find("EOFError: EOF when reading a line") != lines.npos;
}

/// What a script said when it failed, as the end of a sentence.
std::string said_last(const std::string& lines) {
  if (asks_for_input(lines)) {
    return ": it asks for input, and there is none below autotune, so give it what it wants by "
           "its arguments.";
  }
  return lines.empty() ? ", and printed nothing."
                       : "; it said last: \"" + last_error(lines) + "\".";
}

/// Adds what a script spent outside of its loop, also where it ends before it has answered.
struct OutsideAdded {
  const Pulse& pulse;
  double& seconds;
  ~OutsideAdded() { seconds += pulse.outside_s(); }
};

}  // namespace

ScriptSession::ScriptSession(const LaunchSpec& spec, ControlSocket& socket)
    : launched_(spec), socket_(socket) {}

ScriptSession::~ScriptSession() {
  ranks_.clear();
  callers_.clear();
  helpers_.clear();
  launched_.end(ending_patience_s);
}

void ScriptSession::attach(const Attachment& attachment) {
  const double began_s = SteadyClock{}.now_s(), end_s = began_s + attachment.patience_s;
  while (!is_complete()) {
    if (is_set(attachment.stop)) throw Error(Fault::interrupted, "The run was interrupted.");
    const bool has_ended = launched_.ended().has_value();
    welcome();
    if (is_complete()) return;
    say_note(attachment);
    if (waits_for_idle_rank(attachment.idle_patience_s)) strange_ = idle_;
    require_hook(SteadyClock{}.now_s() - began_s, attachment);
    if (has_ended) throw_nothing("ended without a training loop over a DataLoader of PyTorch");
    if (!in_vain_.empty()) throw_nothing(in_vain_);
    if (!strange_.empty()) throw_nothing(strange_);
    if (SteadyClock{}.now_s() > end_s) throw_late(attachment.patience_s);
    attachment.waiting(SteadyClock{}.now_s() - began_s);
    wait_for_news();
  }
}

void ScriptSession::wait_for_news() {
  std::vector<pollfd> sources = {{launched_.output_fd(), POLLIN, 0},
                                 {launched_.news_fd(), POLLIN, 0}};
  if (!is_complete()) {  // else nobody hears who calls
    sources.push_back({socket_.fd(), POLLIN, 0});
    for (const auto& caller : callers_) sources.push_back({caller->fd(), POLLIN, 0});
  }
  for (const Rank& rank : ranks_) sources.push_back({rank.channel->fd(), POLLIN, 0});
  ::poll(sources.data(), sources.size(), 50);
  launched_.listen();
}

/// Takes in who calls, and hears who they are.
void ScriptSession::welcome() {
  while (auto caller = socket_.accept()) {
    callers_.push_back(std::move(caller));
    has_caller_ = true;
  }
  for (auto& caller : callers_) {
    const bool open = caller->pull();
    if (auto greeting = caller->next()) {
      sort_in(std::move(caller), std::move(*greeting));
    } else if (!open) {
      caller.reset();
    }
  }
  std::erase(callers_, nullptr);
}

void ScriptSession::sort_in(std::unique_ptr<Channel> channel, Json greeting) {
  const auto who = greeting.value("hello", "");
  if (who == "note") note_ = greeting.at("why").get<std::string>();
  if (who == "idle") idle_ = greeting.at("why").get<std::string>();
  if (who == "loader" && ranks_.empty()) first_rank_s_ = SteadyClock{}.now_s();
  if (who == "loader") ranks_.push_back({std::move(channel), std::move(greeting)});
  if (who == "watch") helpers_.push_back(std::move(channel));
  if (who == "none") {
    for (const Json& loader : greeting.at("others")) others_.push_back(loader);
    if (greeting.value("in_vain", false)) {
      in_vain_ = "goes on without the DataLoader that was asked for";
    }
    const auto why = greeting.find("why");
    if (why != greeting.end() && why->is_string()) strange_ = why->get<std::string>();
  }
  std::sort(ranks_.begin(), ranks_.end(), [](const Rank& a, const Rank& b) {
    return a.greeting.value("rank", 0) < b.greeting.value("rank", 0);
  });
}

bool ScriptSession::is_complete() const {
  return !ranks_.empty() && world() >= ranks_.front().greeting.value("world", 1);
}

/// All ranks may note the same: it is said once.
void ScriptSession::say_note(const Attachment& attachment) {
  if (note_ != said_note_) attachment.say(note_);
  said_note_ = note_;
}

/// The first rank waits for a question then, and the idle one for the first: neither goes on.
bool ScriptSession::waits_for_idle_rank(double patience_s) const {
  return !idle_.empty() && !ranks_.empty() && SteadyClock{}.now_s() - first_rank_s_ > patience_s;
}

/// A command that loses the hook would be waited for in vain. It is looked for after 5 s, then
/// every 2 s.
/// The first stage of a shell script may go on without the hook for a while.
void ScriptSession::require_hook(double waited_s, const Attachment& attachment) {
  if (waited_s < next_look_s_ || has_caller_) return;
  next_look_s_ = waited_s + 2;
  const std::string how = how_hook_is_lost(::getpid(), socket_.folder());
  if (how.empty()) return lost_since_s_.reset();
  const std::string sentence = "The command " + how + ".";
  if (!lost_since_s_) attachment.say(sentence);
  if (!lost_since_s_) lost_since_s_ = waited_s;
  if (waited_s - *lost_since_s_ >= attachment.patience_s / 10) throw Error(Fault::usage, sentence);
}

void ScriptSession::throw_late(double patience_s) {
  const std::string within = " within " + format_duration(patience_s);
  if (ranks_.empty()) throw_nothing("had no training loop over a DataLoader of PyTorch" + within);
  throw_nothing("has " + std::to_string(ranks_.front().greeting.value("world", 1)) +
                " processes that train together, of which " + std::to_string(world()) +
                " came to a training loop over a DataLoader on this machine" + within);
}

/// The last lines; of a rank that failed its own, behind which torchrun prints dozens.
std::string ScriptSession::said() const {
  const std::string many = launched_.last_lines(200);
  const std::string of_rank = lines_of_failed_rank(many);
  if (!of_rank.empty()) return of_rank;
  return many.find("ChildFailedError") == many.npos ? launched_.last_lines() : many;
}

void ScriptSession::throw_nothing(const std::string& why) {
  launched_.listen();
  const std::string lines = said();
  const auto status = launched_.ended();
  const bool failed = status && *status != 0;
  const std::string what =
      failed ? describe_end(*status) + " before its training loop" + said_last(lines) : why;
  throw NothingToTune{others_, what, lines, failed, !helpers_.empty(), !strange_.empty()};
}

std::vector<Json> ScriptSession::ask(const Json& question, const Watch& watch) {
  for (const Rank& rank : ranks_) {
    if (!rank.channel->send(question)) throw_ended();
  }
  RankAnswers answers(ranks_.size());
  Pulse pulse(watch);
  const OutsideAdded added{pulse, outside_s_};
  for (;;) {
    wait_for_news();
    bool open = true;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      open = ranks_[r].channel->pull() && open;
      while (auto message = ranks_[r].channel->next()) {
        if (const auto refused = message->find("refused"); refused != message->end()) {
          throw Error(Fault::usage, refused->get<std::string>());
        }
        if (!pulse.took(*message, r)) answers.put(r, std::move(*message));
      }
    }
    if (answers.are_all_that_come()) break;
    if (is_set(watch.abort)) throw Error(Fault::interrupted, "The run was interrupted.");
    if (!open || launched_.ended()) throw_ended();
    if (pulse.is_still()) throw_hung(watch);
  }
  if (const Json* const failure = answers.lone_failure()) throw_failure(*failure);
  return answers.take();
}

/// Its process may take a moment to end behind its channel.
void ScriptSession::throw_ended() {
  const double end_s = SteadyClock{}.now_s() + 5;
  auto status = launched_.ended();
  while (!status && SteadyClock{}.now_s() < end_s) {
    wait_for_news();
    status = launched_.ended();
  }
  launched_.listen();
  const std::string lines = said();
  if (status && *status == 0) {
    throw ScriptEnded(Fault::trials, "The script came to its end before this trial was done.",
                      lines);
  }
  const std::string what = status ? describe_end(*status) : "stopped answering";
  throw ScriptDied("The script " + what + said_last(lines), lines, !status || !WIFEXITED(*status));
}

void ScriptSession::throw_hung(const Watch& watch) {
  launched_.listen();
  const std::string lines = launched_.last_lines();
  const bool gently = launched_.end(ending_patience_s);
  throw ChildHung(Fault::trials,
                  "The script finished no batch within " + format_duration(watch.bound_s) +
                      " and was ended (--trial-timeout sets that time" +
                      (gently ? ")." : "; it ignored SIGTERM, and was killed)."),
                  lines);
}

}  // namespace feedrate
