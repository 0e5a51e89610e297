// SPDX-License-Identifier: Apache-2.0
#include "trials/serve.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "feedrate/load/skips.hpp"
#include "journal/request_json.hpp"

namespace feedrate {
namespace {

/// Tells the other end some times a second how far a round is, as long as it lives.
class Heartbeat {
 public:
  Heartbeat(Channel& channel, const std::atomic<std::uint64_t>& progress)
      : thread_([&channel, &progress](std::stop_token stop) {
          std::mutex mutex;
          std::condition_variable_any asked;
          std::unique_lock lock(mutex);
          while (!stop.stop_requested()) {
            asked.wait_for(lock, stop, std::chrono::duration<double>(beat_s), [] { return false; });
            if (!stop.stop_requested()) {
              channel.send({{"beat", progress.load(std::memory_order_relaxed)}});
            }
          }
        }) {}

 private:
  std::jthread thread_;
};

Json answer_to(const Json& question, Measurer& measurer, Channel& channel) {
  std::atomic<std::uint64_t> progress{0};
  RoundOptions live;
  live.progress = &progress;
  const Heartbeat heartbeat(channel, progress);
  try {
    return answer_of(measurer, question, live);
  } catch (const std::exception& error) {
    return failure_of(error);
  }
}

/// Sends the samples that were skipped with the first answer after it, each once.
void add_skips(Json& answer, Measurer& measurer, DistinctSkips& told) {
  for (const Skip& skip : measurer.skips()) {
    if (told.add(skip)) answer["skips"].push_back(to_json(skip));
  }
}

}  // namespace

void serve(Measurer& measurer, Channel& channel) {
  DistinctSkips skips_told;
  while (const auto question = channel.receive()) {
    Json answer = answer_to(*question, measurer, channel);
    add_skips(answer, measurer, skips_told);
    if (!channel.send(answer)) return;
  }
}

}  // namespace feedrate
