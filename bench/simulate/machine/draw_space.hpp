// SPDX-License-Identifier: Apache-2.0
// Random spaces: the lists of values that an owner of a machine would write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "dice.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/core/space.hpp"
#include "machine.hpp"

namespace feedrate::simulate {
/// How large spaces may be, in configs. Lists can only be thinned so far: `most` is at least 100.
struct SpaceSize {
  std::size_t least = 200;
  std::size_t most = 2000;
};

namespace detail {

template <class T>
std::vector<T> some_of(Dice& dice, std::vector<T> values, double share) {
  std::vector<T> kept;
  for (const T& value : values) {
    if (dice.chance(share)) kept.push_back(value);
  }
  return kept.size() >= 2 ? kept : values;
}

inline std::vector<int> draw_workers(Dice& dice, const Cores& cores) {
  const int most = cores.logical * (dice.chance(0.5) ? 1 : 2);
  std::vector<int> workers = {0};
  if (dice.chance(0.5)) {
    for (int n = 1; n < most; n *= 2) workers.push_back(n);
  } else {
    for (int n = 1; n < most; n += std::max(1, most / 10)) workers.push_back(n);
  }
  workers.push_back(most);
  return workers;
}

/// The lists that a user would write down.
inline Space draw_space_once(Dice& dice, const Machine& machine, double rate) {
  Space space;
  space.workers = draw_workers(dice, machine.cores);
  space.prefetch = some_of<int>(dice, {1, 2, 3, 4, 6, 8, 16}, 0.5);
  const int first = dice.pick({4, 8, 16, 32});
  const double longest = std::max(rate / 2, 16.0 * first);  // nobody asks for steps of seconds
  space.batch.clear();
  const bool fine = dice.chance(0.3);
  for (int b = first; b <= first * 64 && b <= longest && b <= 2048; b *= 2) {
    space.batch.push_back(b);
    if (fine && dice.chance(0.7)) space.batch.push_back(b * 3 / 2);
  }
  if (machine.accelerator) {
    space.pinned = {false, true};
    space.precision = {Precision::fp32};
    for (const Precision p : {Precision::tf32, Precision::fp16, Precision::bf16}) {
      if (dice.chance(0.65)) space.precision.push_back(p);
    }
    return space;
  }
  space.step_threads = {1};
  for (int n = 2; n < machine.cores.logical; n *= 2) space.step_threads.push_back(n);
  space.step_threads.push_back(machine.cores.logical);
  if (dice.chance(0.5)) space.precision.push_back(Precision::bf16);
  return space;
}

/// Without workers every prefetch is the same.
inline std::size_t count_of(const Space& space) {
  const std::size_t rest =
      space.pinned.size() * space.step_threads.size() * space.precision.size() * space.batch.size();
  return ((space.workers.size() - 1) * space.prefetch.size() + 1) * rest;
}

/// Leaves out a value of the longest list; its ends stay.
inline void thin(Dice& dice, Space& space) {
  const auto longer = [](const auto* a, const auto* b) { return a->size() < b->size(); };
  std::vector<int>* longest =
      std::max({&space.workers, &space.prefetch, &space.step_threads, &space.batch}, longer);
  const int inner = dice.integer(1, static_cast<int>(longest->size()) - 2);
  longest->erase(longest->begin() + inner);
}

inline Space draw_space(Dice& dice, const Machine& machine, double rate, const SpaceSize& size) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Space space = draw_space_once(dice, machine, rate);
    while (count_of(space) > size.most) thin(dice, space);
    if (count_of(space) >= size.least) return space;
  }
  throw Error(Fault::usage, "No space has so many configs: ask for spaces of 200 to 2000.");
}

/// What frameworks do when told nothing.
inline Config draw_reference(Dice& dice, const Machine& machine, const Space& space) {
  Config reference;
  reference.step_threads = space.step_threads.back();
  reference.batch = space.batch[static_cast<std::size_t>(
      dice.below(std::min<int>(static_cast<int>(space.batch.size()), 4)))];
  if (machine.accelerator) reference.step_threads = 1;
  if (dice.chance(0.3)) {  // somebody has tuned it already, by hand
    reference.workers = space.workers[space.workers.size() / 2];
    reference.prefetch = space.prefetch.front();
  }
  return canonical(reference);
}

}  // namespace detail
}  // namespace feedrate::simulate
