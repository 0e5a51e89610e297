// SPDX-License-Identifier: Apache-2.0
#include "command/command_launch.hpp"

#include <poll.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "command/last_words.hpp"
#include "command/rate_ways.hpp"
#include "feedrate/measure/trial_error.hpp"
#include "feedrate/report/text/format.hpp"
#include "trials/others_meter.hpp"
#include "trials/pulse.hpp"

namespace feedrate {
namespace {

/// Words that a round may have to wait for, each as long as a launch may be silent: those that pass
/// before it begins, and those of a few batches.
constexpr double words_to_wait_for = 5;

/// So long a source that has spoken is not taken yet, since a better one may speak: the first batch
/// of a helper's loop, or those that the hook has to see first.
constexpr double helper_s = 2, hook_s = 10;

/// Whoever came after the last launch had ended was a part of that one.
ControlSocket& without_visitors(ControlSocket& socket) {
  while (socket.accept()) continue;
  return socket;
}

}  // namespace

CommandLaunch::CommandLaunch(std::string name, const LaunchSpec& spec, ControlSocket& socket,
                             RateSource source, const RoundOptions& options,
                             const LaunchBounds& bounds)
    : name_(std::move(name)),
      socket_(without_visitors(socket)),
      source_(std::move(source)),
      options_(options),
      bounds_(bounds),
      launched_(spec) {
  launched_s_ += launched_.copying_s();
  first_word_s_ = silent_since_s_ = looked_s_ = launched_s_;
}

void CommandLaunch::start_up() {
  bound_s_ = bounds_.timeout_s;
  listen_until([&] { return source_.spoken().has_value(); });
  if (source_.spoken() && !source_.is_known()) wait_for_better();
  if (!source_.spoken()) throw_mute("before it ended by itself");
  first_word_s_ = SteadyClock{}.now_s();
}

/// Never for longer than the launches to come will wait for its first word.
void CommandLaunch::wait_for_better() {
  const double heard_s = SteadyClock{}.now_s();
  bound_s_ += 1;  // where it has spoken at last, this ends before that
  listen_until([&] {
    const double now_s = SteadyClock{}.now_s();
    const bool waited =
        now_s - heard_s >= std::min(hook_looks_ ? hook_s : helper_s, bounds_.timeout_s / 2) ||
        now_s - launched_s_ >= bounds_.timeout_s;
    return source_.spoken() == RateKind::hook || (waited && source_.spoken());
  });
}

/// What came until it was enough, or until the command ended. A word may take the whole bound,
/// but words that never make a round shall not take forever.
Round CommandLaunch::measure() {
  if (sampler_) sampler_->mark();
  const OthersMeter others;
  bound_s_ = first_word_s_ - launched_s_ + options_.seconds + words_to_wait_for * bounds_.timeout_s;
  listen_until([&] { return source_.has_enough(); });
  auto round = source_.round();
  if (!round) throw_short();
  round->first_batch_s = start_up_s();
  round->others_share = others.share();
  return *round;
}

/// Returns when it is done, or when the command has ended by itself, with success.
void CommandLaunch::listen_until(const std::function<bool()>& done) {
  while (!done()) {
    if (is_set(options_.abort)) throw Error(Fault::interrupted, "The run was interrupted.");
    const auto status = launched_.ended();
    take_in();
    if (status && !done()) return note_end(*status);
    if (!status) check_patience();
    if (!status && !done()) wait_for_news();
  }
}

void CommandLaunch::note_end(int status) {
  source_.end(SteadyClock{}.now_s());
  if (status != 0) fail(Fault::trials, describe_end(status));
}

/// Output is looked at after the messages that were sent before it was written.
void CommandLaunch::take_in() {
  launched_.listen();
  const std::string output = launched_.take_output();
  const int before = source_.count();
  hear_visitors();
  if (helper_) hear_helper();
  const double now_s = SteadyClock{}.now_s();
  source_.read(output, now_s);
  if (source_.count() == before) return;
  silent_since_s_ = now_s;
  if (options_.progress) options_.progress->fetch_add(1, std::memory_order_relaxed);
}

void CommandLaunch::hear_visitors() {
  while (auto visitor = socket_.accept()) visitors_.push_back(std::move(visitor));
  std::vector<std::unique_ptr<Channel>> silent;
  for (auto& visitor : visitors_) {
    if (!is_done_with(visitor)) silent.push_back(std::move(visitor));
  }
  visitors_ = std::move(silent);
}

/// Others than the source, such as those of further processes, are sent away, and so is who comes
/// for something else.
bool CommandLaunch::is_done_with(std::unique_ptr<Channel>& visitor) {
  const bool open = visitor->pull();
  const auto hello = message_of(*visitor);
  if (!hello) return !open;
  const auto said = hello->find("hello");
  if (said == hello->end()) return true;
  if (*said == "looking") hook_looks_ = true;
  if (*said != "watch" || !source_.greet(*hello)) return true;
  helper_ = std::move(visitor);
  helper_open_ = true;
  return true;
}

void CommandLaunch::hear_helper() {
  helper_open_ = helper_->pull() && helper_open_;
  try {
    while (const auto message = message_of(*helper_)) source_.hear(*message);
  } catch (const TrialError&) {
    throw;
  } catch (const Error& error) {
    throw TrialError(error.fault(), error.what(), launched_.last_lines());
  }
  if (!knows_gpu_ && !source_.gpu().uuid.empty()) watch_gpu();
}

void CommandLaunch::watch_gpu() {
  knows_gpu_ = true;
  GpuGauges gauges = gpu_gauges(source_.gpu().uuid);
  if (gauges.look) sampler_ = std::make_unique<GpuSampler>(std::move(gauges));
}

LaunchedGpu CommandLaunch::gpu() const {
  const GpuUse use = sampler_ ? sampler_->since_mark() : GpuUse{};
  return {use.busy, use.activity, source_.gpu().memory_bytes};
}

/// The next message, if there is one.
std::optional<Json> CommandLaunch::message_of(Channel& channel) {
  try {
    auto message = channel.next();
    if (!message || message->is_object()) return message;
  } catch (const Json::exception&) {  // told below
  } catch (const Error&) {
  }
  fail(Fault::trials, "sent something that is no message");
}

/// A stretch in which this process was stopped is not held against the command: nobody listened.
void CommandLaunch::check_patience() {
  const double now_s = SteadyClock{}.now_s();
  if (now_s - looked_s_ > 1) {
    silent_since_s_ += now_s - looked_s_;
    bound_s_ += now_s - looked_s_;
  }
  looked_s_ = now_s;
  if (now_s - silent_since_s_ > bounds_.timeout_s) throw_silent();
  if (now_s - launched_s_ > bound_s_) throw_slow();
}

void CommandLaunch::wait_for_news() {
  std::vector<pollfd> sources = {{launched_.output_fd(), POLLIN, 0},
                                 {launched_.news_fd(), POLLIN, 0},
                                 {socket_.fd(), POLLIN, 0},
                                 {helper_ && helper_open_ ? helper_->fd() : -1, POLLIN, 0}};
  for (const auto& visitor : visitors_) sources.push_back({visitor->fd(), POLLIN, 0});
  ::poll(sources.data(), sources.size(), 100);
}

/// `what` it did, then what it printed, and perhaps a hint.
template <class Failure>
void CommandLaunch::fail(Fault fault, const std::string& what, const std::string& hint) {
  const std::string lines = launched_.last_lines();
  throw Failure(fault, "'" + name_ + "' " + what + last_words(lines) + "." + hint, lines);
}

/// Ends it, in words: "within 60 s, and was ended (--trial-timeout sets that time)".
std::string CommandLaunch::ended_after(double seconds) {
  const std::string how = end() ? "ended" : "killed";
  return "within " + format_duration(seconds) + ", and was " + how +
         " (--trial-timeout sets that time" +
         (bounds_.start_s > 0 ? ", less " + format_duration(bounds_.start_s) + " for the start)"
                              : ")");
}

void CommandLaunch::throw_silent() {
  const std::string until = ended_after(bounds_.timeout_s);
  if (source_.spoken()) fail<CommandHung>(Fault::trials, "told nothing more of its speed " + until);
  if (bounds_.was_understood) fail<CommandHung>(Fault::trials, how_mute(until));
  throw_mute(until);
}

void CommandLaunch::throw_slow() {
  fail(Fault::trials, "told too little of its speed " + ended_after(bound_s_));
}

void CommandLaunch::throw_short() {
  const int words = source_.count();
  fail(Fault::trials, "ended by itself after " + std::to_string(words) +
                          (words == 1 ? " word" : " words") +
                          " of its speed, too few to tell a rate: let it run longer");
}

/// Nothing was understood: the user's to mend, unless it was understood in another launch.
void CommandLaunch::throw_mute(const std::string& until) {
  if (bounds_.was_understood) fail(Fault::trials, how_mute(until));
  const bool knows_no_way = !helper_ && !source_.reads_output();
  fail(Fault::usage, how_mute(until), knows_no_way ? " " + three_ways() : "");
}

std::string CommandLaunch::how_mute(const std::string& until) const {
  if (helper_) return "has a helper that reported no batch " + until;
  if (!source_.reads_output()) return "told nothing of its speed " + until;
  const std::string rate = "--rate '" + source_.expression()->text() + "'";
  const std::string& caught = source_.not_a_rate();
  if (caught.empty()) {
    return "printed nothing that matches " + rate + " " + until +
           " (output that is not flushed is not seen)";
  }
  return "printed no rate " + until + ": " + rate + " caught '" + printable(caught) + "'";
}

}  // namespace feedrate
