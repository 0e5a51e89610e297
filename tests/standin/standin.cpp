// SPDX-License-Identifier: Apache-2.0
// The stand-in's controls, and what the environment says of them.
#include "standin.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "state.hpp"

namespace standin {
namespace {

[[noreturn]] void refuse(const char* variable, const std::string& value) {
  std::fprintf(stderr, "%s='%s' makes no sense to the stand-in of the CUDA runtime.\n", variable,
               value.c_str());
  std::abort();
}

Schedule schedule_of(const std::string& text) {
  if (text == "lazy") return lazy;
  if (text == "eager") return eager;
  char* end = nullptr;
  const std::uint64_t seed = std::strtoull(text.c_str(), &end, 10);
  if (*end || text.empty()) refuse("FEEDRATE_STANDIN_SCHEDULE", text);
  return random(seed);
}

Failure failure_of(const std::string& text) {
  const std::size_t at = text.find('@'), equal = text.find('=');
  if (at == std::string::npos || equal == std::string::npos || equal < at) {
    refuse("FEEDRATE_STANDIN_FAIL", text);
  }
  return {text.substr(0, at), std::strtoull(text.c_str() + at + 1, nullptr, 10),
          static_cast<cudaError_t>(std::atoi(text.c_str() + equal + 1))};
}

void read_environment(State& state) {
  if (const char* text = std::getenv("FEEDRATE_STANDIN_SCHEDULE")) {
    state.schedule = schedule_of(text);
    state.dice = state.schedule.seed;
  }
  if (const char* text = std::getenv("FEEDRATE_STANDIN_MEMORY")) {
    state.memory_limit = std::strtoull(text, nullptr, 10);
  }
  if (const char* text = std::getenv("FEEDRATE_STANDIN_GUARD")) {
    state.guards = std::string_view(text) == "1";
  }
  if (const char* text = std::getenv("FEEDRATE_STANDIN_LOG")) state.log = text;
  if (const char* text = std::getenv("FEEDRATE_STANDIN_FAIL_ONCE")) state.fails_once = text;
  if (const char* text = std::getenv("FEEDRATE_STANDIN_FAIL")) {
    std::istringstream all(text);
    for (std::string one; std::getline(all, one, ',');) state.failures.push_back(failure_of(one));
  }
}

template <class Use>
auto locked(Use&& use) {
  State& state = the_state();
  const std::lock_guard lock(state.mutex);
  return use(state);
}

}  // namespace

State::State() {
  read_environment(*this);
}

State::~State() {
  free_all(*this);
  lose(*this, cudaErrorUnknown);  // queued work refers to its own stream
}

void reset() {
  locked([](State& state) {
    free_all(state);
    lose(state, cudaErrorUnknown);
    state.schedule = lazy;
    state.dice = 1;
    state.memory_limit = std::size_t{1} << 30;
    state.pinned_limit = 0;
    state.l2_bytes = first_l2_bytes;
    state.lost = cudaSuccess;
    state.hangs = state.hastens = state.guards = false;
    state.failures.clear();
    state.fails_once.clear();
    state.forgets = nullptr;
    state.counts = {};
    state.calls.clear();
    state.complaints.clear();
    state.streams.clear();
    state.events.clear();
    state.graphs.clear();
    state.execs.clear();
    state.captures.clear();
    read_environment(state);
  });
  last_error() = cudaSuccess;
}

void set_schedule(Schedule schedule) {
  locked([&](State& state) {
    state.schedule = schedule;
    state.dice = schedule.seed;
  });
}

void set_memory_limit(std::size_t bytes) {
  locked([&](State& state) { state.memory_limit = bytes; });
}

void set_l2_bytes(std::size_t bytes) {
  locked([&](State& state) { state.l2_bytes = bytes; });
}

void set_pinned_limit(std::size_t bytes) {
  locked([&](State& state) { state.pinned_limit = bytes; });
}

void guard_memory(bool on) {
  locked([&](State& state) { state.guards = on; });
}

void fail_at(const std::string& name, std::uint64_t n, cudaError_t status) {
  locked([&](State& state) { state.failures.push_back({name, n, status}); });
}

void lose_device(cudaError_t status) {
  locked([&](State& state) { lose(state, status); });
}

void hang_device() {
  locked([](State& state) { state.hangs = true; });
}

void forget_waits(std::function<bool(cudaStream_t)> chosen) {
  locked([&](State& state) { state.forgets = std::move(chosen); });
}

void hasten_queries(bool on) {
  locked([&](State& state) { state.hastens = on; });
}

Counts counts() {
  return locked([](State& state) { return state.counts; });
}

std::uint64_t calls_of(const std::string& name) {
  return locked([&](State& state) { return state.calls[name]; });
}

Living living() {
  return locked([](State& state) {
    return Living{state.device.size(),
                  state.device_bytes,
                  state.pinned.size(),
                  state.pinned_bytes,
                  state.streams.size(),
                  state.events.size(),
                  state.graphs.size() + state.execs.size()};
  });
}

std::vector<std::string> complaints() {
  return locked([](State& state) { return state.complaints; });
}

}  // namespace standin
