// SPDX-License-Identifier: Apache-2.0
// Compares two callables or two loaders in this process: is one slower than the other?
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "feedrate/compare/block.hpp"
#include "feedrate/compare/block_selection.hpp"
#include "feedrate/compare/comparison.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/machine/machine_cpu.hpp"

namespace feedrate::inline v0 {

/// Work that is done again by each call. What it returns, if anything, are the units (samples) that
/// it has done; else a call is one unit.
template <class W>
concept Work = std::invocable<W&> &&(std::is_void_v<std::invoke_result_t<W&>> ||
                                     std::convertible_to<std::invoke_result_t<W&>, double>);

/// Something that gives one batch after the other, such as Loader.
template <class L>
concept BatchSource = requires(L& loader) {
  { loader.next()->count() } -> std::convertible_to<double>;
};

namespace detail {

/// Also of what is no number.
inline void require_sound(const CompareOptions& options) {
  const LossLimits& limits = options.limits;
  if (!(limits.tolerated >= 0 && limits.tolerated < limits.max && limits.max < 1)) {
    throw Error(Fault::usage,
                "The limits of a comparison are shares, 0 <= tolerated < max < 1, such as 0.03 and "
                "0.10.");
  }
  if (!(options.run_s > 0 && options.budget_s > 0)) {
    throw Error(Fault::usage, "A comparison needs seconds: give run_s and budget_s more than 0.");
  }
}

struct ComparedRun {
  double units = 0, duration_s = 0, others_share = -1;
  double per_s() const noexcept { return units / duration_s; }
};

template <Work W>
double call_once(W& work) {
  if constexpr (std::is_void_v<std::invoke_result_t<W&>>) {
    work();
    return 1;
  } else {
    return static_cast<double>(work());
  }
}

/// Calls between two looks at the clock grow, so that the clock costs less than a hundredth.
template <Work W, class C>
ComparedRun run_once(W& work, double seconds, const C& clock) {
  ComparedRun run;
  const double begin_s = clock.now_s();
  for (std::uint64_t calls = 1; run.duration_s < seconds;) {
    const double before_s = run.duration_s;
    for (std::uint64_t call = 0; call < calls; ++call) run.units += call_once(work);
    run.duration_s = clock.now_s() - begin_s;
    if (run.duration_s - before_s < seconds / 100) calls *= 2;
  }
  return run;
}

/// Batches of the first quarter do not count: they may have lain ready.
template <BatchSource L, class C>
requires(!Work<L>) ComparedRun run_once(L& loader, double seconds, const C& clock) {
  const auto next = [&loader] {
    if (const auto batch = loader.next()) return static_cast<double>(batch->count());
    throw Error(Fault::usage, "A compared loader has no more batches: set no number of epochs.");
  };
  const double warm_until_s = clock.now_s() + seconds / 4;
  do next();
  while (clock.now_s() < warm_until_s);
  ComparedRun run;
  const double begin_s = clock.now_s();
  while (run.duration_s < seconds) {
    run.units += next();
    run.duration_s = clock.now_s() - begin_s;
  }
  return run;
}

template <class W, class C>
ComparedRun measured_run(W& work, double seconds, const C& clock) {
  const MachineCpu machine = MachineCpu::read();
  const double cpu_s = process_cpu_s(), begin_s = clock.now_s();
  ComparedRun run = run_once(work, seconds, clock);
  run.others_share = others_share(machine, MachineCpu::read(), clock.now_s() - begin_s,
                                  process_cpu_s() - cpu_s, CpuGrant::own().quota);
  if (!(run.per_s() > 0) || !std::isfinite(run.per_s())) {
    throw Error(Fault::usage,
                "A compared callable must return the units that it has done, more "
                "than 0, or nothing.");
  }
  return run;
}

/// Runs blocks until the test is over, and keeps account of them.
template <class Base, class Head, class C>
class InProcessComparison {
 public:
  InProcessComparison(Base& base, Head& head, const CompareOptions& options, const C& clock)
      : base_(base), head_(head), options_(options), clock_(clock) {}

  Comparison operator()() {
    const double end_s = clock_.now_s() + options_.budget_s;
    run(Side::base), run(Side::head);  // warms up
    while (!test_.is_over() && clock_.now_s() < end_s) observe_block();
    count(selection_.end());
    return result();
  }

 private:
  struct Block {
    double log_ratio = 0;
    std::array<double, 2> logs{};  ///< mean of the logarithms of a side's rates
  };

  ComparedRun run(Side side) {
    return side == Side::base ? measured_run(base_, options_.run_s, clock_)
                              : measured_run(head_, options_.run_s, clock_);
  }

  void observe_block() {
    const auto order = block_order(options_.seed, drawn_++);
    std::array<double, 4> rates{}, shares{};
    Block block;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const ComparedRun one = run(order[i]);
      rates[i] = one.per_s();
      shares[i] = one.others_share;
      block.logs[static_cast<std::size_t>(order[i])] += std::log(rates[i]) / 2;
    }
    block.log_ratio = log_ratio_of(order, rates);
    count(selection_.add(order, shares, block));
  }

  void count(const std::vector<Block>& blocks) {
    for (const Block& block : blocks) {
      if (test_.is_over()) return;
      test_.add(std::array{block.log_ratio});
      base_logs_ += block.logs[0];
      head_logs_ += block.logs[1];
    }
  }

  Comparison result() const {
    const auto rate_of = [&](double logs) {  // 0 where no block counted
      return test_.blocks() > 0 ? std::exp(logs / test_.blocks()) : 0.0;
    };
    return {.conclusion = test_.conclusion(0),
            .speed_ratio = ratio_interval(test_.log_ratio(0)),
            .base_per_s = rate_of(base_logs_),
            .head_per_s = rate_of(head_logs_),
            .noise = test_.noise(0),
            .blocks = test_.blocks(),
            .disturbed = selection_.disturbed(),
            .wanted = test_.blocks_missing()};
  }

  Base& base_;
  Head& head_;
  const CompareOptions& options_;
  const C& clock_;
  SequentialTest test_{1, options_.test()};
  BlockSelection<Block> selection_;
  std::uint64_t drawn_ = 0;
  double base_logs_ = 0, head_logs_ = 0;
};

}  // namespace detail

/// Whether `head` is slower than `base`, by runs of both that take turns. Both run once before
/// anything counts. Takes at most about the budget. Throws what they throw, and Error(usage) where
/// the units are no positive numbers, and on invalid options.
template <class Base, class Head, Clock C = SteadyClock>
requires((Work<Base> || BatchSource<Base>)&&(Work<Head> || BatchSource<Head>)) Comparison
    compare(Base&& base, Head&& head, const CompareOptions& options = {}, const C& clock = {}) {
  detail::require_sound(options);
  return detail::InProcessComparison<std::remove_reference_t<Base>, std::remove_reference_t<Head>,
                                     C>(base, head, options, clock)();
}

}  // namespace feedrate::inline v0
