// SPDX-License-Identifier: Apache-2.0
// The parameters of a step on the CPU: values, gradients per thread, optimizer state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/train/arena.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/optimizer.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// Fills weights and biases uniformly within +-1/sqrt(depth), as PyTorch does by default.
inline void initialise(const std::vector<Block>& blocks, std::uint64_t seed,
                       std::span<float> parameters) {
  for (const Block& block : blocks) {
    if (!block.product) continue;
    Random random(seed, 0, block.weights_at);
    const float bound = 1.0f / std::sqrt(static_cast<float>(block.depth()));
    for (float& x : parameters.subspan(block.weights_at, block.weights() + block.bias())) {
      x = random.uniform(-bound, bound);
    }
  }
}

/// dst[i] += src[i], src[i] = 0. For each element.
struct TakeFrom {
  float* src;
  float* dst;

  FEEDRATE_HD void operator()(std::size_t i) const {
    dst[i] += src[i];
    src[i] = 0;
  }
};

/// All flat arrays that are as long as the parameters.
template <class Storage>
class Parameters {
 public:
  void carve(Arena& arena, std::size_t count, std::size_t parts, const OptimizerSpec& spec) {
    spec_ = spec;
    values_ = arena.take<float>(count);
    copy_ = arena.take<Storage>(narrow ? count : 0);
    first_ = arena.take<float>(state_arrays(spec) > 0 ? count : 0);
    second_ = arena.take<float>(state_arrays(spec) > 1 ? count : 0);
    gradients_.resize(parts);
    for (std::span<float>& gradient : gradients_) gradient = arena.take<float>(count);
  }

  /// The master copy, in float.
  std::span<float> values() noexcept { return values_; }

  /// What the products read: the values, rounded to the storage type.
  const Storage* rounded() const noexcept {
    if constexpr (narrow) {
      return copy_.data();
    } else {
      return values_.data();
    }
  }

  /// The optimizer; its rate may be changed between updates.
  OptimizerSpec& optimizer() noexcept { return spec_; }

  /// Where part `part` of a batch adds its gradients; zero before the first batch of an update.
  float* gradient(std::size_t part) noexcept { return gradients_[part].data(); }

  /// To be called after the values were changed from outside.
  void round(std::size_t begin, std::size_t end) noexcept {
    if constexpr (narrow) {
      const Convert<float, Storage> convert{values_.data() + begin, copy_.data() + begin, 1.0f};
      Cpu{}.for_each(end - begin, convert);
    }
  }

  /// Sums the gradients of all parts, in order, applies update `t` and clears them, for the
  /// parameters begin <= i < end. In blocks, so that each is read from memory once.
  void update(std::size_t begin, std::size_t end, std::uint64_t t) noexcept {
    const UpdateScalars now = scalars_of(spec_, t);
    constexpr std::size_t block = 8192;
    for (std::size_t at = begin; at < end; at += block) {
      const std::size_t stop = std::min(end, at + block);
      sum_gradients(at, stop);
      apply(at, stop, now);
      round(at, stop);
      std::memset(gradients_[0].data() + at, 0, (stop - at) * sizeof(float));
    }
  }

 private:
  static constexpr bool narrow = !std::is_same_v<Storage, float>;

  void sum_gradients(std::size_t begin, std::size_t end) noexcept {
    for (std::size_t part = 1; part < gradients_.size(); ++part) {
      Cpu{}.for_each(end - begin, TakeFrom{gradient(part) + begin, gradient(0) + begin});
    }
  }

  void apply(std::size_t begin, std::size_t end, const UpdateScalars& now) noexcept {
    const auto at = [&](std::span<float> state) {
      return state.empty() ? nullptr : state.data() + begin;
    };
    if (spec_.kind == OptimizerSpec::Kind::adam) {
      const Adam adam{spec_, &now, at(values_), gradient(0) + begin, at(first_), at(second_)};
      Cpu{}.for_each(end - begin, adam);
    } else {
      const Sgd sgd{spec_, &now, at(values_), gradient(0) + begin, at(first_)};
      Cpu{}.for_each(end - begin, sgd);
    }
  }

  OptimizerSpec spec_;
  std::span<float> values_;
  std::span<Storage> copy_;
  std::span<float> first_, second_;
  std::vector<std::span<float>> gradients_;
};

}  // namespace feedrate::inline v0
