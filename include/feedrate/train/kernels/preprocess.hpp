// SPDX-License-Identifier: Apache-2.0
// Converts loaded samples to the model's input: crop, mirror, scale, shift and rounding in one
// pass.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "feedrate/core/host_device.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/train/kernels/divider.hpp"
#include "feedrate/train/plan.hpp"

namespace feedrate::inline v0 {

/// What a step does to its samples first. Bytes become 0 to 1 in any case.
struct PreprocessSpec {
  std::size_t margin = 0;  ///< rows and columns that samples have more than the model reads
  bool flip = false;       ///< half of the samples are mirrored, left to right
  std::array<float, 4> scale = {1, 1, 1, 1};  ///< per channel; the last one also for those after
  std::array<float, 4> shift = {0, 0, 0, 0};  ///< likewise: y = scale x + shift

  bool operator==(const PreprocessSpec&) const = default;

  /// True where all channels have the same scale and nothing else is asked for.
  bool only_scales() const noexcept {
    return margin == 0 && !flip && shift == std::array<float, 4>{} &&
           std::ranges::count(scale, scale[0]) == 4;
  }
};

/// What bytes are multiplied by; 1 for other types.
template <class In>
inline constexpr float unit_of = std::is_same_v<In, std::uint8_t> ? 1.0f / 255.0f : 1.0f;

/// The part of a sample that is taken, and whether it is mirrored.
struct Cut {
  std::uint32_t top = 0, left = 0;
  bool mirrored = false;
};

/// Where batches are cut: a function of seed, step and place in the batch alone, so that any
/// device and any order gives the same.
struct CutDraw {
  std::uint32_t choices = 1;  ///< places per direction: the margin and 1
  bool flip = false;
  std::uint64_t seed = 0, step = 0;

  FEEDRATE_HD Cut operator()(std::uint32_t sample) const {
    Cut cut;
    if (choices == 1 && !flip) return cut;
    const auto bits = philox(
        {0, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), sample},
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    cut.top = static_cast<std::uint32_t>((std::uint64_t{bits[0]} * choices) >> 32);
    cut.left = static_cast<std::uint32_t>((std::uint64_t{bits[1]} * choices) >> 32);
    cut.mirrored = flip && (bits[2] >> 31) != 0;
    return cut;
  }
};

/// y[sample, line, x, c] = scale[c] input[sample, line + top, x + left, c] + shift[c], mirrored
/// where that was drawn. For rows that are lines, counted through all samples.
template <class In, class Out>
struct PrepareSamples {
  Image to;           ///< what the model reads; the input has `draw.choices - 1` more each way
  Divider by_height;  ///< to.height
  CutDraw draw;
  std::array<float, 4> scale, shift;  ///< the scale includes the unit of bytes
  const In* x;
  Out* y;

  PrepareSamples(const PreprocessSpec& spec, const Image& read, std::uint64_t seed,
                 std::uint64_t step, const In* samples, Out* prepared)
      : to(read),
        by_height(static_cast<std::uint32_t>(read.height)),
        draw{static_cast<std::uint32_t>(spec.margin) + 1, spec.flip, seed, step},
        scale(spec.scale),
        shift(spec.shift),
        x(samples),
        y(prepared) {
    for (float& each : scale) each *= unit_of<In>;
  }

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const std::uint32_t sample = by_height.quotient(static_cast<std::uint32_t>(row));
    const std::uint32_t line = static_cast<std::uint32_t>(row) - sample * by_height.divisor();
    const Cut cut = draw(sample);
    const std::size_t margin = draw.choices - 1, pitch = to.width + margin;
    const std::size_t first = sample * (to.height + margin) + line + cut.top;
    const In* const from = x + (first * pitch + cut.left) * to.channels;
    Out* const into = y + row * to.width * to.channels;
    for (std::size_t i = group.lane(); i < to.width; i += group.lanes()) {
      const std::size_t j = cut.mirrored ? to.width - 1 - i : i;
      for (std::size_t c = 0; c < to.channels; ++c) {
        const float value = static_cast<float>(from[j * to.channels + c]);
        into[i * to.channels + c] = Out(value * of(scale, c) + of(shift, c));
      }
    }
  }

 private:
  /// Written out, since a GPU would put an array that is indexed at run time into slow memory.
  FEEDRATE_HD static float of(const std::array<float, 4>& constants, std::size_t channel) {
    const float late = channel == 2 ? constants[2] : constants[3];
    return channel == 0 ? constants[0] : channel == 1 ? constants[1] : late;
  }
};

}  // namespace feedrate::inline v0
