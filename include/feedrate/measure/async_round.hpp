// SPDX-License-Identifier: Apache-2.0
// A round on a device that works behind the host: work is queued, and waited for at both ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "feedrate/measure/async_device.hpp"
#include "feedrate/measure/round.hpp"

namespace feedrate {

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
  Round round;
  const double call_s = clock.now_s();
  queue();
  round.first_batch_s = clock.now_s() - call_s;
  detail::count_progress(options);
  device.finish();
  detail::count_progress(options);
  const detail::RoundMeter meter(options);
  round.ring_at_start = ready();
  const double start_s = clock.now_s();
  round.host_s = std::numeric_limits<double>::infinity();
  do {
    detail::check_abort(options);
    const double before_s = round.duration_s;
    round.samples += queue();
    ++round.batches;
    round.duration_s = clock.now_s() - start_s;
    round.host_s = std::min(round.host_s, round.duration_s - before_s);
    detail::count_progress(options);
  } while (!detail::is_over(round, options, ready));
  round.ring_at_end = ready();
  const DeviceWork work = device.finish();
  round.duration_s = clock.now_s() - start_s;
  meter.read(round);
  round.step_s = std::min(work.step_s, round.duration_s);
  round.wait_s = round.duration_s - round.step_s;
  round.copy_s = work.copy_s;
  round.variability = work.variability;
  round.device_bytes = device.used_bytes();
  return round;
}

namespace detail {

/// What there is; data that end within a round are a fault of theirs.
template <class Value>
Value or_throw_end(std::optional<Value> value) {
  if (!value) throw Error(Fault::data, "The dataset ended in the middle of a measurement.");
  return *std::move(value);
}

}  // namespace detail

/// Each batch of the loader is copied to the device, which steps on it.
inline Round run_copied_round(AsyncDevice& device, Loader& loader, const RoundOptions& options) {
  const auto queue = [&] {
    const std::size_t samples = detail::or_throw_end(device.upload(loader));
    device.step();
    return samples;
  };
  return run_async_round(
      device, queue, [&] { return loader.ready(); }, options);
}

/// All steps are on the first batch of the loader; the others are given back as they are.
inline Round run_uncopied_round(AsyncDevice& device, Loader& loader, const RoundOptions& options) {
  const auto next = [&] { return detail::or_throw_end(loader.next()); };
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

}  // namespace feedrate
