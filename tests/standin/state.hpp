// SPDX-License-Identifier: Apache-2.0
// Inside the stand-in: streams, marks, captures, memory, and the frame of each call.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "standin.hpp"

namespace standin {

/// A place in a stream.
struct Mark {
  std::shared_ptr<CUstream_st> stream;  ///< until it is reached
  bool reached = false;
  double at_s = 0;
  int looks = 0;
};

/// A range of host memory that queued work reads or writes.
struct Range {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
};

/// One entry of a stream: first waits, then runs, then sets a mark. Any of them may be missing.
struct Operation {
  std::shared_ptr<Mark> awaited;
  std::function<void()> run;
  std::shared_ptr<Mark> mark;
  Range host = {};
};

/// A recording. What is recorded in one stream is a list.
struct Capture {
  std::vector<Operation> recorded;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  bool broken = false;
};

}  // namespace standin

struct CUstream_st {
  std::deque<standin::Operation> waiting;
  std::shared_ptr<standin::Capture> capture;
  bool blocking = true;  ///< orders itself with the default stream
  int looks = 0;
};

struct CUevent_st {
  std::shared_ptr<standin::Mark> mark;                ///< the latest; null before the first
  std::weak_ptr<const standin::Capture> recorded_in;  ///< where the latest was in a recording
  bool captured = false;
  bool timed = true;
};

struct CUgraph_st {
  std::shared_ptr<const std::vector<standin::Operation>> recorded;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<standin::Operation>> recorded;
};

namespace standin {

struct Block {
  std::size_t bytes = 0;
  bool owned = false;          ///< by the stand-in, for memory of the host
  std::byte* pages = nullptr;  ///< where the memory is guarded
  std::size_t page_bytes = 0;
};

using Blocks = std::map<const std::byte*, Block>;

struct Failure {
  std::string name;
  std::uint64_t calls_left = 1;
  cudaError_t status = cudaSuccess;
};

/// All there is. Guarded by `mutex`, but for the constructor.
struct State {
  State();
  ~State();

  std::mutex mutex;

  Schedule schedule;
  std::uint64_t dice = 1;
  std::size_t memory_limit = std::size_t{1} << 30;
  std::size_t pinned_limit = 0;
  std::size_t l2_bytes = first_l2_bytes;
  cudaError_t lost = cudaSuccess;
  bool hangs = false;
  bool hastens = false;
  bool guards = false;
  std::vector<Failure> failures;
  std::string fails_once;  ///< path that the first process to fail makes, or empty: all fail
  std::function<bool(cudaStream_t)> forgets;
  std::string log;  ///< path, or empty

  Counts counts;
  std::map<std::string, std::uint64_t> calls;
  std::vector<std::string> complaints;

  std::shared_ptr<CUstream_st> default_stream = std::make_shared<CUstream_st>();
  std::map<cudaStream_t, std::shared_ptr<CUstream_st>> streams;
  std::vector<std::shared_ptr<CUstream_st>> orphans;  ///< destroyed, with work that is left
  std::map<cudaEvent_t, std::unique_ptr<CUevent_st>> events;
  std::map<cudaGraph_t, std::unique_ptr<CUgraph_st>> graphs;
  std::map<cudaGraphExec_t, std::unique_ptr<CUgraphExec_st>> execs;
  std::set<std::shared_ptr<Capture>> captures;
  Blocks device, pinned;
  std::size_t device_bytes = 0, pinned_bytes = 0;
};

// schedule.cpp

std::shared_ptr<CUstream_st> find_stream(State& state, cudaStream_t stream);
/// Appends to a stream, or to its recording.
cudaError_t append(State& state, CUstream_st& stream, Operation operation);
/// Runs all of a stream, and what it waits for.
void drain(State& state, CUstream_st& stream);
void drain_all(State& state);
/// Runs the stream up to the mark.
void reach(State& state, const Mark& mark);
/// Runs what the schedule wants to be run at this call.
void advance(State& state);
void lose(State& state, cudaError_t status);
std::uint64_t roll(State& state, std::uint64_t sides);

// memory.cpp

inline const std::byte* as_bytes(const void* data) {
  return static_cast<const std::byte*>(data);
}
/// True when all of a range lies within one block.
bool holds(const Blocks& blocks, const void* data, std::size_t bytes);
void free_all(State& state);
/// Lets guarded memory be used, as work of the device does, or not.
void open_memory(State& state, bool open);

// runtime.cpp

State& the_state();
bool stays(cudaError_t status);
cudaError_t& last_error();

/// What a call is while a stream is being recorded, and when it is made to fail.
enum class Duty {
  ordinary,
  unsafe,    ///< not permitted during a recording
  releases,  ///< unsafe, and does its work even where it reports a failure
  keeps,     ///< releases, but permitted during a recording
};

/// Counts a call; what it has to give without doing its work, or success.
cudaError_t enter(State& state, const char* name, Duty duty);

/// The frame of each function of the runtime: `body(state)` under the lock, unless the call has to
/// fail. The status becomes the thread's last error.
template <class Body>
cudaError_t call(const char* name, Duty duty, Body&& body) {
  State& state = the_state();
  const std::lock_guard lock(state.mutex);
  cudaError_t status = enter(state, name, duty);
  const bool does =
      status == cudaSuccess ||
      (duty >= Duty::releases && status != cudaErrorStreamCaptureUnsupported && !state.lost);
  if (does) {
    const cudaError_t result = body(state);
    if (status == cudaSuccess) status = result;
    if (!state.lost) advance(state);
    if (state.lost) status = state.lost;
  }
  if (status != cudaSuccess) last_error() = status;
  return status;
}

}  // namespace standin
