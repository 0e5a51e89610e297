// SPDX-License-Identifier: Apache-2.0
// What the tests on the stand-in share: a fresh device, and a consumer of device batches.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <vector>

#include "../load/datasets.hpp"
#include "feedrate/cuda/feed.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/cuda/train/blas.hpp"
#include "standin.hpp"

namespace feedrate::testing {

/// A device that nothing was done with. At the end nothing may have been undefined.
struct FreshDevice {
  explicit FreshDevice(standin::Schedule schedule = standin::lazy) {
    standin::reset();
    cuda::detail::device_hangs = false;
    standin::set_schedule(schedule);
    standin::guard_memory();
  }
  FreshDevice(const FreshDevice&) = delete;
  FreshDevice& operator=(const FreshDevice&) = delete;
  ~FreshDevice() { CHECK(standin::complaints().empty()); }
};

/// A device that nothing was done with, with room for steps on models of the zoo.
inline void start_device_for_steps(standin::Schedule schedule = standin::lazy) {
  standin::reset();
  cuda::detail::device_hangs = false;
  standin::set_schedule(schedule);
  standin::set_memory_limit(std::size_t{4} << 30);
  standin::refuses_epilogues = false;
}

/// Lazy, eager, and some in between.
inline std::vector<standin::Schedule> schedules() {
  std::vector<standin::Schedule> all{standin::lazy, standin::eager};
  for (std::uint64_t seed = 1; seed <= 4; ++seed) all.push_back(standin::random(seed));
  return all;
}

/// A loader of Numbers whose options suit a feed with `slots` device slots.
inline LoaderOptions feeding(int workers, int prefetch, int slots = 3, std::uint64_t epochs = 3) {
  return {.batch = 8,
          .workers = workers,
          .prefetch = prefetch,
          .copies_in_flight = cuda::Feed::copies_in_flight({.slots = slots}),
          .epochs = epochs};
}

inline Slab slab_for(bool pinned) {
  return pinned ? cuda::make_pinned_slab(1 << 16) : make_slab(1 << 16);
}

/// Queues a "kernel" that notes what a device batch holds when it runs.
inline void note(cudaStream_t stream, Delivered& seen, const Batch& batch) {
  cuda::check(standin::enqueue(stream, [&seen, batch] { append(seen, batch); }), "noting");
}

/// Everything that kernels see of what a feed delivers. The host waits for `compute` after each
/// `wait_every`-th batch; 0: only at the end.
inline Delivered drain_feed(cuda::Feed& feed, cuda::Stream& compute, int wait_every = 0) {
  Delivered seen;
  for (int batches = 1; const auto batch = feed.next(); ++batches) {
    note(compute.handle(), seen, *batch);
    if (wait_every > 0 && batches % wait_every == 0) compute.synchronize();
  }
  compute.synchronize();
  return seen;
}

/// What a plain loader delivers in as many epochs.
inline Delivered plain(const LoaderOptions& options, std::size_t samples = 97) {
  Loader loader(Numbers{samples}, options);
  return drain_epochs(loader, static_cast<int>(options.epochs));
}

}  // namespace feedrate::testing
