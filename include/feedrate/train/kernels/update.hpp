// SPDX-License-Identifier: Apache-2.0
// The update of all parameters in one pass: unscale, clip, optimizer, and the rounded copy.
#pragma once

#include <cstddef>
#include <type_traits>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/pack.hpp"
#include "feedrate/train/kernels/step_state.hpp"
#include "feedrate/train/optimizer.hpp"

namespace feedrate::inline v0 {

/// One update of the parameters with what `PrepareUpdate` decided. `states` is 0 for plain descent,
/// 1 with momentum, 2 for Adam. Each array is read and written once, 16 bytes at a time: the
/// update is as fast as the memory. Without `Storage` other than float there is no copy.
/// All arrays must begin as packs do. For each element.
template <class Storage, int states>
struct Update {
  OptimizerSpec spec;
  const StepState* state;
  float* values;
  Storage* copy;
  const float* gradient;
  float* first;
  float* second;

  static constexpr bool narrow = !std::is_same_v<Storage, float>;

  FEEDRATE_HD void operator()(std::size_t i) const {
    if (off()) return;
    float none = 0;
    one(gradient[i], states > 0 ? first[i] : none, states > 1 ? second[i] : none, values[i]);
    if constexpr (narrow) copy[i] = Storage(values[i]);
  }

  bool packs() const { return is_packed(values) && is_packed(gradient); }
  FEEDRATE_HD void pack(std::size_t i) const {
    if (off()) return;
    Pack<float> value = pack_at(values, i), mean{}, square{};
    const Pack<float> g = pack_at(gradient, i);
    if constexpr (states > 0) mean = pack_at(first, i);
    if constexpr (states > 1) square = pack_at(second, i);
    for (int j = 0; j < pack_width; ++j) one(g.at[j], mean.at[j], square.at[j], value.at[j]);
    pack_at(values, i) = value;
    if constexpr (states > 0) pack_at(first, i) = mean;
    if constexpr (states > 1) pack_at(second, i) = square;
    if constexpr (narrow) {
      Pack<Storage> rounded;
      for (int j = 0; j < pack_width; ++j) rounded.at[j] = Storage(value.at[j]);
      pack_at(copy, i) = rounded;
    }
  }

 private:
  FEEDRATE_HD bool off() const { return state->apply == 0 || state->refused != 0; }

  FEEDRATE_HD void one(float g, float& mean, float& square, float& value) const {
    g *= state->factor;
    if constexpr (states == 2) {
      adapt(spec, state->now, g, mean, square, value);
    } else {
      descend(spec, state->now, g, states == 1 ? &mean : nullptr, value);
    }
  }
};

}  // namespace feedrate::inline v0
