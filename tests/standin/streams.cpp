// SPDX-License-Identifier: Apache-2.0
// The stand-in's streams and events.
#include <algorithm>

#include "state.hpp"

using namespace standin;

namespace {

/// How often the lazy schedule says that work is not done, before it runs it.
constexpr int patience = 2;

/// Looks for the end of work: true when `run` may do it now.
bool has_patience_ended(State& state, int& looks) {
  if (state.hangs || state.schedule.kind == Schedule::Kind::random) return false;
  return ++looks > patience;
}

CUevent_st* find_event(State& state, cudaEvent_t event) {
  const auto found = state.events.find(event);
  return found == state.events.end() ? nullptr : found->second.get();
}

/// Calls `use` with a stream and an event, if both exist.
template <class Use>
cudaError_t with(State& state, cudaStream_t stream, cudaEvent_t event, Use&& use) {
  const auto found = find_stream(state, stream);
  CUevent_st* const mark = find_event(state, event);
  return found && mark ? use(found, *mark) : cudaErrorInvalidResourceHandle;
}

cudaError_t break_capture(Capture& capture, cudaError_t status) {
  capture.broken = true;
  return status;
}

cudaError_t query(State& state, CUevent_st& event) {
  if (event.captured) return cudaErrorCapturedEvent;
  if (!event.mark || event.mark->reached || state.hastens) return cudaSuccess;
  advance(state);
  if (!event.mark->reached && has_patience_ended(state, event.mark->looks))
    reach(state, *event.mark);
  return event.mark->reached ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace

cudaError_t standin::enqueue(cudaStream_t stream, std::function<void()> work) {
  return call("launch", Duty::ordinary, [&](State& state) {
    const auto found = find_stream(state, stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (!found->capture) ++state.counts.launches;
    return append(state, *found, {.awaited = {}, .run = std::move(work), .mark = {}});
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call("cudaStreamCreate", Duty::ordinary, [&](State& state) {
    auto made = std::make_shared<CUstream_st>();
    made->blocking = (flags & cudaStreamNonBlocking) == 0;
    *stream = made.get();
    state.streams.emplace(made.get(), made);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", Duty::keeps, [&](State& state) {
    const auto found = state.streams.find(stream);
    if (found == state.streams.end()) return cudaErrorInvalidResourceHandle;
    if (found->second->capture) state.captures.erase(found->second->capture);
    if (!found->second->waiting.empty()) state.orphans.push_back(found->second);
    state.streams.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", Duty::ordinary, [&](State& state) {
    const auto found = find_stream(state, stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (found->capture) return break_capture(*found->capture, cudaErrorStreamCaptureUnsupported);
    ++state.counts.host_blocking;
    drain(state, *found);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call("cudaStreamQuery", Duty::ordinary, [&](State& state) {
    const auto found = find_stream(state, stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (found->capture) return break_capture(*found->capture, cudaErrorStreamCaptureUnsupported);
    if (found->waiting.empty()) return cudaSuccess;
    advance(state);
    if (!found->waiting.empty() && has_patience_ended(state, found->looks)) drain(state, *found);
    return found->waiting.empty() ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call("cudaStreamWaitEvent", Duty::ordinary, [&](State& state) {
    return with(state, stream, event, [&](const auto& found, CUevent_st& mark) {
      if (state.forgets && state.forgets(stream)) return cudaSuccess;
      if (found->capture) {
        const bool inside = mark.captured && mark.recorded_in.lock() == found->capture;
        return inside ? cudaSuccess
                      : break_capture(*found->capture, cudaErrorStreamCaptureIsolation);
      }
      // Joining a second stream to a recording is not supported here.
      if (mark.captured) return cudaErrorStreamCaptureUnsupported;
      if (!mark.mark || mark.mark->reached) return cudaSuccess;
      return append(state, *found, {.awaited = mark.mark, .run = {}, .mark = {}});
    });
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call("cudaEventCreate", Duty::ordinary, [&](State& state) {
    auto made = std::make_unique<CUevent_st>();
    made->timed = (flags & cudaEventDisableTiming) == 0;
    *event = made.get();
    state.events.emplace(*event, std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", Duty::keeps, [&](State& state) {
    return state.events.erase(event) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call("cudaEventRecord", Duty::ordinary, [&](State& state) {
    return with(state, stream, event, [&](const auto& found, CUevent_st& mark) {
      mark.captured = found->capture != nullptr;
      mark.recorded_in = found->capture;
      if (found->capture) {
        return found->capture->broken ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
      }
      mark.mark = std::make_shared<Mark>();
      mark.mark->stream = found;
      return append(state, *found, {.awaited = {}, .run = {}, .mark = mark.mark});
    });
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", Duty::ordinary, [&](State& state) {
    CUevent_st* const found = find_event(state, event);
    return found ? query(state, *found) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", Duty::ordinary, [&](State& state) {
    CUevent_st* const found = find_event(state, event);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (found->captured) return cudaErrorCapturedEvent;
    ++state.counts.host_blocking;
    if (found->mark) reach(state, *found->mark);
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", Duty::ordinary, [&](State& state) {
    const CUevent_st* const from = find_event(state, start);
    const CUevent_st* const to = find_event(state, end);
    const bool marked = from && to && from->timed && to->timed && from->mark && to->mark;
    if (!marked) return cudaErrorInvalidResourceHandle;
    if (!from->mark->reached || !to->mark->reached) {
      *milliseconds = 0;
      return state.hastens ? cudaSuccess : cudaErrorNotReady;
    }
    *milliseconds = static_cast<float>(1e3 * (to->mark->at_s - from->mark->at_s));
    return cudaSuccess;
  });
}
