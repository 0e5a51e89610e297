// SPDX-License-Identifier: Apache-2.0
// When queued work runs: the order within streams, the waits between them, and the schedules.
#include <algorithm>
#include <chrono>

#include "state.hpp"

namespace standin {
namespace {

double now_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

bool is_free(const Operation& operation) {
  return !operation.awaited || operation.awaited->reached;
}

/// Runs the first operation of a stream, which must be free to run.
void step(State& state, CUstream_st& stream) {
  const Operation operation = std::move(stream.waiting.front());
  stream.waiting.pop_front();
  if (state.guards && operation.run) open_memory(state, true);
  try {
    if (operation.run) operation.run();
  } catch (...) {
    lose(state, cudaErrorLaunchFailure);
  }
  if (state.guards && operation.run) open_memory(state, false);
  if (state.lost) return;
  if (!operation.mark) return;
  operation.mark->reached = true;
  operation.mark->at_s = now_s();
  operation.mark->stream.reset();
}

void forget_finished_orphans(State& state) {
  std::erase_if(state.orphans, [](const auto& stream) { return stream->waiting.empty(); });
}

std::vector<CUstream_st*> all_streams(State& state) {
  std::vector<CUstream_st*> all{state.default_stream.get()};
  for (const auto& [handle, stream] : state.streams) all.push_back(handle);
  for (const auto& stream : state.orphans) all.push_back(stream.get());
  return all;
}

/// Runs up to three operations, each the first of some stream.
void run_some(State& state) {
  for (std::uint64_t n = roll(state, 4); n > 0; --n) {
    auto ready = all_streams(state);
    std::erase_if(ready,
                  [](auto* s) { return s->waiting.empty() || !is_free(s->waiting.front()); });
    if (ready.empty() || state.lost) return;
    step(state, *ready[roll(state, ready.size())]);
  }
  forget_finished_orphans(state);
}

/// The default stream and those made without cudaStreamNonBlocking wait for each other.
void order_with_default_stream(State& state, CUstream_st& stream) {
  if (!stream.blocking) return;
  const auto wait_for = [&](const std::shared_ptr<CUstream_st>& other) {
    if (other.get() == &stream || !other->blocking || other->waiting.empty()) return;
    auto mark = std::make_shared<Mark>();
    mark->stream = other;
    other->waiting.push_back({.awaited = {}, .run = {}, .mark = mark});
    stream.waiting.push_back({.awaited = mark, .run = {}, .mark = {}});
  };
  if (&stream != state.default_stream.get()) return wait_for(state.default_stream);
  for (const auto& [handle, other] : state.streams) wait_for(other);
}

}  // namespace

std::uint64_t roll(State& state, std::uint64_t sides) {
  // splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators".
  std::uint64_t z = (state.dice += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return (z ^ (z >> 31)) % sides;
}

void lose(State& state, cudaError_t status) {
  if (state.lost == cudaSuccess) state.lost = status;
  for (CUstream_st* stream : all_streams(state)) stream->waiting.clear();
  state.orphans.clear();
}

std::shared_ptr<CUstream_st> find_stream(State& state, cudaStream_t stream) {
  if (!stream) return state.default_stream;
  const auto found = state.streams.find(stream);
  return found == state.streams.end() ? nullptr : found->second;
}

cudaError_t append(State& state, CUstream_st& stream, Operation operation) {
  if (stream.capture) {
    if (stream.capture->broken) return cudaErrorStreamCaptureInvalidated;
    stream.capture->recorded.push_back(std::move(operation));
    return cudaSuccess;
  }
  order_with_default_stream(state, stream);
  stream.waiting.push_back(std::move(operation));
  stream.looks = 0;
  return cudaSuccess;
}

void reach(State& state, const Mark& mark) {
  while (!mark.reached && !state.lost && mark.stream) {
    const auto stream = mark.stream;
    if (stream->waiting.empty()) return;
    if (const auto awaited = stream->waiting.front().awaited) reach(state, *awaited);
    if (!state.lost) step(state, *stream);
  }
}

void drain(State& state, CUstream_st& stream) {
  while (!stream.waiting.empty() && !state.lost) {
    if (const auto awaited = stream.waiting.front().awaited) reach(state, *awaited);
    if (!state.lost) step(state, stream);
  }
}

void drain_all(State& state) {
  for (CUstream_st* stream : all_streams(state)) {
    if (!state.lost) drain(state, *stream);
  }
  forget_finished_orphans(state);
}

void advance(State& state) {
  if (state.hangs) return;
  if (state.schedule.kind == Schedule::Kind::eager) drain_all(state);
  if (state.schedule.kind == Schedule::Kind::random) run_some(state);
}

}  // namespace standin
