// SPDX-License-Identifier: Apache-2.0
// A round on an asynchronous device: work is queued, and both ends of the round wait for it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "feedrate/measure/async_device.hpp"
#include "feedrate/measure/round.hpp"

namespace feedrate::inline v0 {

/// Calls `queue()`, which queues one batch's worth of work and returns its samples, until the round
/// is over. `ready()` tells how many batches lie ready in the ring, which should be empty at the
/// call. The clock runs from the end of the first batch's work to the end of all work.
///
/// The device waited whenever it did not step. What the host needs for a batch is the least that
/// `queue()` took: others may have waited for the device. Throws what `queue` and the device throw,
/// and Error(interrupted) on abort.
template <class Queue, class Ready, Clock C = SteadyClock>
Round run_async_round(AsyncDevice& device, Queue&& queue, Ready&& ready,
                      const RoundOptions& options, const C& clock = {}) {
  const double call_s = clock.now_s();
  queue();
  const double first_batch_s = clock.now_s() - call_s;
  detail::count_progress(options);
  device.finish();
  detail::count_progress(options);
  detail::Window window(options);
  window.begin(ready, clock);
  do {
    detail::check_abort(options);
    const std::size_t samples = queue();
    const double queued_s = clock.now_s();
    window.add(samples, queued_s, queued_s);
    detail::count_progress(options);
    if (window.was_warm_up(ready)) {
      device.finish();  // else its work from before would end in the window
      window.begin(ready, clock);
    }
  } while (!window.is_over());
  const int ring_at_end = ready();
  const DeviceWork work = device.finish();
  Round round = window.end(ring_at_end, clock.now_s());
  round.first_batch_s = first_batch_s;
  round.host_s = window.least_batch_s();
  round.step_s = std::min(work.step_s, round.duration_s);
  round.wait_s = round.duration_s - round.step_s;
  round.copy_s = work.copy_s;
  round.variability = work.variability;
  round.device_bytes = device.used_bytes();
  return round;
}

/// Each batch of the loader is copied to the device, which steps on it.
inline Round run_copied_round(AsyncDevice& device, Loader& loader, const RoundOptions& options) {
  const auto queue = [&] {
    const std::size_t samples = *detail::or_throw_end(device.upload(loader));
    device.step();
    return samples;
  };
  return run_async_round(
      device, queue, [&] { return loader.ready(); }, options);
}

/// All steps are on the first batch of the loader; the others are given back as they are.
inline Round run_uncopied_round(AsyncDevice& device, Loader& loader, const RoundOptions& options) {
  const auto next = [&] { return *detail::or_throw_end(loader.next()); };
  {
    const Lease first = next();
    device.upload(first);
    device.finish();
  }
  const auto queue = [&] {
    const std::size_t samples = next().count();
    device.step();
    return samples;
  };
  return run_async_round(
      device, queue, [&] { return loader.ready(); }, options);
}

}  // namespace feedrate::inline v0
