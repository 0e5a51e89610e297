// SPDX-License-Identifier: Apache-2.0
#include "trials/trial_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "journal/journal_header.hpp"
#include "journal/request_json.hpp"
#include "process/channel.hpp"
#include "process/child_process.hpp"
#include "process/process_tree.hpp"
#include "trials/prepare.hpp"
#include "trials/serve.hpp"
#include "trials/watched_child.hpp"

namespace feedrate {
namespace {

std::atomic<bool> asked_to_end{false};

extern "C" void on_termination(int) {
  asked_to_end = true;
}

/// Ctrl-C at a terminal goes to all of its processes: the parent decides what it means.
void leave_signals_to_parent() {
  ::signal(SIGINT, SIG_IGN);
  struct sigaction action {};
  action.sa_handler = on_termination;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGINT);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
}

/// False where the parent is gone already: then nobody would end this child.
bool live_no_longer_than(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent;
}

/// Tells the other end at times that this process goes on.
class SignsOfLife {
 public:
  explicit SignsOfLife(Channel& channel) : channel_(channel) {}

  void give() {
    const double now_s = SteadyClock{}.now_s();
    if (now_s - last_s_ < beat_s) return;
    last_s_ = now_s;
    channel_.send({{"beat", ++count_}});
  }

 private:
  Channel& channel_;
  double last_s_ = SteadyClock{}.now_s();
  std::uint64_t count_ = 0;
};

Preparation told_to(Channel& channel, SignsOfLife& signs) {
  Preparation preparation;
  preparation.say = [&](const std::string& line) { channel.send({{"say", line}}); };
  preparation.progress = [&](int done, int wanted) {
    channel.send({{"preparing", {done, wanted}}});
  };
  preparation.alive = [&signs] { signs.give(); };
  preparation.stop = &asked_to_end;
  return preparation;
}

PreparedWorkload prepare_as_told(Channel& channel) {
  const auto question = channel.receive();
  if (!question) throw Error(Fault::interrupted, "The parent is gone.");
  SignsOfLife signs(channel);
  return prepare(question->at("order").get<TrialOrder>(), told_to(channel, signs));
}

/// Answers what a plan asks for; the largest batch, once the plan is made. Empty where the parent
/// is gone.
std::optional<int> largest_batch_of_plan(const Workload& workload, Channel& channel) {
  while (const auto question = channel.receive()) {
    if (question->at("ask") == "plan") return question->at("largest_batch").get<int>();
    channel.send({{"bytes", device_bytes(workload, question->at("config").get<Config>())}});
  }
  return std::nullopt;
}

void live(Channel& channel) {
  PreparedWorkload prepared = prepare_as_told(channel);
  channel.send({{"workload", workload_json(prepared.info)}, {"batches", prepared.batches}});
  const auto largest_batch = largest_batch_of_plan(prepared.workload, channel);
  if (!largest_batch) return;
  Pipeline pipeline(std::move(prepared.workload), *largest_batch, prepared.info.cache);
  channel.send({{"planned", true}});
  serve(pipeline, channel);
}

}  // namespace

bool is_trial_child(const std::vector<std::string>& words) {
  return words.size() >= 2 && words.front() == trial_child_word;
}

int run_trial_child(const std::vector<std::string>& words) {
  leave_signals_to_parent();
  offer_to_oom_killer();
  if (!live_no_longer_than(std::stoi(words[1]))) return 1;
  ::fcntl(child_channel_fd, F_SETFD, FD_CLOEXEC);
  Channel channel(child_channel_fd);
  try {
    live(channel);
  } catch (const std::exception& error) {
    channel.send(failure_of(error));
  }
  return 0;
}

}  // namespace feedrate
