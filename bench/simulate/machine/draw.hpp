// SPDX-License-Identifier: Apache-2.0
// Random problems: a machine, the space to search, and a reference.
#pragma once

#include <cstdint>

#include "draw_machine.hpp"
#include "draw_space.hpp"

namespace feedrate::simulate {
/// What a tuner is let loose on.
struct Problem {
  Machine machine;
  Space space;
  Config reference;
};

/// The machine, space and reference of a seed. A quarter of them step on their cores.
inline Problem draw_problem(std::uint64_t seed, const SpaceSize& size = {}) {
  Dice dice(seed, 1);
  Problem problem;
  Machine& machine = problem.machine;
  machine.seed = seed;
  machine.accelerator = !dice.chance(0.25);
  machine.cores = detail::draw_cores(dice);
  const double rate = dice.scale(300, 60'000);
  machine.stepping = machine.accelerator ? detail::draw_accelerator_step(dice, rate)
                                         : detail::draw_core_step(dice, rate, machine.cores);
  machine.loading = detail::draw_loading(dice, rate * dice.scale(0.2, 8), machine.cores, seed);
  machine.copying = detail::draw_copying(dice, rate, machine.loading);
  machine.queue = dice.integer(1, 3);
  machine.failing_share = dice.chance(0.3) ? dice.between(0.002, 0.02) : 0;
  problem.space = detail::draw_space(dice, machine, rate, size);
  problem.reference = detail::draw_reference(dice, machine, problem.space);
  Config largest;
  largest.batch = problem.space.batch.back();
  largest.prefetch = problem.space.prefetch.back();
  detail::draw_memory(dice, machine, largest);
  if (dice.chance(0.25)) {
    machine.throttle_after_s = dice.between(5, 40);
    machine.throttle_factor = dice.between(0.85, 0.95);
  }
  return problem;
}

/// The same, but all configs are equally fast: whoever finds a difference is wrong.
inline Problem draw_null_problem(std::uint64_t seed, const SpaceSize& size = {}) {
  Problem problem = draw_problem(seed, size);
  problem.machine.flat_rate = Dice(seed, 2).scale(300, 60'000);
  problem.machine.throttle_after_s = infinity;
  return problem;
}

}  // namespace feedrate::simulate
