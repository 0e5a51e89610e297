// SPDX-License-Identifier: Apache-2.0
// A round: one short timed run of one config, which combines loader, feed, step and clock.
#pragma once

#include <atomic>

#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/measure/round_data.hpp"
#include "feedrate/measure/window.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// What may take long was done: a part of the set-up, a batch loaded for the first step, a step.
inline void count_progress(const RoundOptions& options) noexcept {
  if (options.progress) options.progress->fetch_add(1, std::memory_order_relaxed);
}

inline void check_abort(const RoundOptions& options) {
  if (options.abort && options.abort->load(std::memory_order_relaxed)) {
    throw Error(Fault::interrupted, "The run was interrupted.");
  }
}

/// What there is; data that end within a round are a fault of theirs.
template <class Batch>
Batch or_throw_end(Batch batch) {
  if (!batch) throw Error(Fault::data, "The dataset ended in the middle of a measurement.");
  return batch;
}

}  // namespace detail

/// Runs `step(batch)` on each batch of `feed.next()`. The ring should be empty at the call.
///
/// A feed has `next()`, an optional batch, and `ready()`, the batches that lie ready. Throws what
/// feed and step throw, and Error(interrupted) on abort.
template <class Feed, class Step, Clock C = SteadyClock>
Round run_round(Feed& feed, Step&& step, const RoundOptions& options, const C& clock = {}) {
  const auto ready = [&] { return feed.ready(); };
  const double call_s = clock.now_s();
  double first_batch_s = 0;
  {
    const auto first = detail::or_throw_end(feed.next());
    first_batch_s = clock.now_s() - call_s;
    detail::count_progress(options);
    step(*first);
    detail::count_progress(options);
  }
  detail::Window window(options);
  window.begin(ready, clock);
  do {
    detail::check_abort(options);
    const auto batch = detail::or_throw_end(feed.next());
    const double have_s = clock.now_s();
    step(*batch);
    window.add(batch->count(), have_s, clock.now_s());
    detail::count_progress(options);
    if (window.was_warm_up(ready)) window.begin(ready, clock);
  } while (!window.is_over());
  Round round = window.end(feed.ready(), clock.now_s());
  round.first_batch_s = first_batch_s;
  return round;
}

}  // namespace feedrate::inline v0
