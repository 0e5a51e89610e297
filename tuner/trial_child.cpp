// SPDX-License-Identifier: Apache-2.0
#include "trial_child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "child_process.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "feedrate/report/journal_header.hpp"
#include "feedrate/report/request_json.hpp"
#include "prepare.hpp"

namespace feedrate {
namespace {

/// Tells the other end some times a second how many batches are finished, as long as it lives.
class Heartbeat {
 public:
  Heartbeat(Channel& channel, const std::atomic<std::uint64_t>& batches)
      : thread_([&channel, &batches](std::stop_token stop) {
          std::mutex mutex;
          std::condition_variable_any asked;
          std::unique_lock lock(mutex);
          while (!stop.stop_requested()) {
            asked.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; });
            if (!stop.stop_requested()) {
              channel.send({{"beat", batches.load(std::memory_order_relaxed)}});
            }
          }
        }) {}

 private:
  std::jthread thread_;
};

Json answer_to(const Json& question, Measurer& measurer, Channel& channel) {
  std::atomic<std::uint64_t> batches{0};
  RoundOptions live;
  live.progress = &batches;
  const Heartbeat heartbeat(channel, batches);
  try {
    return answer_of(measurer, question, live);
  } catch (const std::exception& error) {
    return failure_of(error);
  }
}

/// Sends the samples that were skipped with the first answer after it.
void add_skips(Json& answer, Measurer& measurer, std::size_t& told) {
  const std::vector<Skip> skips = measurer.skips();
  if (skips.size() == told) return;
  for (const Skip& skip : skips) answer["skips"].push_back(to_json(skip));
  told = skips.size();
}

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

/// Where memory runs out the kernel shall end a child and not the run.
void offer_to_oom_killer() {
  const detail::Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  constexpr std::string_view most = "1000";
  if (file.fd() >= 0) [[maybe_unused]]
    const auto put = ::write(file.fd(), most.data(), most.size());
}

/// False where the parent is gone already: then nobody would end this child.
bool live_no_longer_than(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent;
}

Preparation told_to(Channel& channel, std::size_t cached_samples) {
  Preparation preparation;
  preparation.say = [&](const std::string& line) { channel.send({{"say", line}}); };
  preparation.progress = [&](int done, int wanted) {
    channel.send({{"preparing", {done, wanted}}});
  };
  preparation.stop = &asked_to_end;
  preparation.cached_samples = cached_samples;
  return preparation;
}

PreparedWorkload prepare_as_told(const SweepOptions& options, Channel& channel) {
  const auto order = channel.receive();
  if (!order) throw Error(Fault::interrupted, "The parent is gone.");
  std::atomic<std::uint64_t> none{0};
  const Heartbeat heartbeat(channel, none);
  return prepare(options, told_to(channel, order->at("cached_samples").get<std::size_t>()));
}

void live(const SweepOptions& options, Channel& channel) {
  PreparedWorkload prepared = prepare_as_told(options, channel);
  channel.send({{"workload", workload_json(prepared.info)}, {"batches", prepared.batches}});
  const auto plan = channel.receive();
  if (!plan) return;
  Pipeline pipeline(std::move(prepared.workload), plan->at("largest_batch").get<int>(),
                    prepared.info.cache);
  channel.send({{"planned", true}});
  serve(pipeline, channel);
}

}  // namespace

void serve(Measurer& measurer, Channel& channel) {
  std::size_t skips_told = 0;
  while (const auto question = channel.receive()) {
    Json answer = answer_to(*question, measurer, channel);
    add_skips(answer, measurer, skips_told);
    if (!channel.send(answer)) return;
  }
}

int run_trial_child(const SweepOptions& options) {
  leave_signals_to_parent();
  offer_to_oom_killer();
  if (!live_no_longer_than(options.trial_child)) return 1;
  ::fcntl(child_channel_fd, F_SETFD, FD_CLOEXEC);
  Channel channel(child_channel_fd);
  try {
    live(options, channel);
  } catch (const std::exception& error) {
    channel.send(failure_of(error));
  }
  return 0;
}

}  // namespace feedrate
