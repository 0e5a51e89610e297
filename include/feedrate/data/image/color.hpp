// SPDX-License-Identifier: Apache-2.0
// Random changes of a picture's colours: brightness, contrast, saturation and hue.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "feedrate/core/error.hpp"
#include "feedrate/core/random.hpp"

namespace feedrate::inline v0 {

/// Bounds between which a factor is drawn.
struct FactorRange {
  float low = 1;   ///< the least
  float high = 1;  ///< the most

  bool operator==(const FactorRange&) const = default;
};

/// How much the colours of a sample may change. The defaults change nothing.
/// Source: torchvision.transforms.ColorJitter.
struct ColorJitter {
  FactorRange brightness = {};  ///< of all colours
  FactorRange contrast = {};    ///< of the distance to the mean grey
  FactorRange saturation = {};  ///< of the distance to the pixel's own grey
  FactorRange hue = {0, 0};     ///< in turns of the colour wheel, -0.5 to 0.5

  bool operator==(const ColorJitter&) const = default;
};

/// Throws Error(usage) if a range is invalid.
inline void check(const ColorJitter& jitter) {
  for (const FactorRange& range : {jitter.brightness, jitter.contrast, jitter.saturation}) {
    if (!(0 <= range.low && range.low <= range.high && range.high <= 1000)) {
      throw Error(Fault::usage,
                  "Factors of brightness, contrast and saturation must be 0 to 1000, "
                  "the lower bound first.");
    }
  }
  if (!(-0.5f <= jitter.hue.low && jitter.hue.low <= jitter.hue.high && jitter.hue.high <= 0.5f)) {
    throw Error(Fault::usage, "The turn of the hue must be -0.5 to 0.5, the lower bound first.");
  }
}

namespace detail {

/// A pixel as one number: red in the lowest byte, then green and blue. Numbers of 32 bits and
/// selections in place of branches are what a compiler turns into vector instructions.
using Rgbx = std::uint32_t;

struct Channels {
  std::int32_t r, g, b;

  explicit Channels(Rgbx pixel) noexcept
      : r(static_cast<std::int32_t>(pixel & 255)),
        g(static_cast<std::int32_t>(pixel >> 8 & 255)),
        b(static_cast<std::int32_t>(pixel >> 16 & 255)) {}
  Channels(std::int32_t red, std::int32_t green, std::int32_t blue) noexcept
      : r(red), g(green), b(blue) {}

  Rgbx packed() const noexcept { return static_cast<Rgbx>(r | g << 8 | b << 16); }
};

/// Luma of ITU-R BT.601, as PIL rounds it.
inline std::int32_t luma_of(const Channels& c) noexcept {
  return (c.r * 19595 + c.g * 38470 + c.b * 7471 + 0x8000) >> 16;
}

/// From `from` towards `to`, and beyond where `factor` is above 1. Source: PIL.Image.blend.
inline std::int32_t blend(std::int32_t from, std::int32_t to, float factor) noexcept {
  const float level = static_cast<float>(from) + factor * static_cast<float>(to - from);
  return static_cast<std::int32_t>(std::clamp(level, 0.0f, 255.0f));
}

/// Each pixel, blended with what `other(pixel)` is.
template <class Other>
void blend_all(std::span<Rgbx> pixels, float factor, Other other) noexcept {
  for (Rgbx& pixel : pixels) {
    const Channels to(pixel);
    const std::int32_t from = other(to);
    pixel =
        Channels(blend(from, to.r, factor), blend(from, to.g, factor), blend(from, to.b, factor))
            .packed();
  }
}

/// Of at least one pixel, and at most 4096 x 4096: their sum just fits 32 bits.
inline std::int32_t mean_luma(std::span<const Rgbx> pixels) noexcept {
  std::uint32_t sum = 0;
  for (const Rgbx pixel : pixels) sum += static_cast<std::uint32_t>(luma_of(Channels(pixel)));
  const std::uint64_t n = pixels.size();
  return static_cast<std::int32_t>((2 * std::uint64_t{sum} + n) / (2 * n));
}

/// Four numbers at once: compilers leave a loop with so many choices scalar.
using Ints [[gnu::vector_size(16)]] = std::int32_t;
using Floats [[gnu::vector_size(16)]] = float;

inline Floats floats(Ints x) noexcept {
  return __builtin_convertvector(x, Floats);
}
inline Ints truncated(Floats x) noexcept {
  return __builtin_convertvector(x, Ints);
}

/// Pixels of `hue` (0 to 255 is once around the wheel), `saturation` and `value` of 255 each.
/// Source: hsv2rgb of PIL, Convert.c.
inline Ints from_hsv(Ints hue, Ints saturation, Ints value) noexcept {
  const auto scaled = [&](Ints part) {  // value * part / 255^2, rounded
    return truncated(floats(value) * floats(part) * (1 / 65025.0f) + 0.5f);
  };
  const Ints sixths = 6 * hue;
  const Ints sector = (sixths + 1 + (sixths >> 8)) >> 8;  // sixths / 255
  const Ints rest = sixths - 255 * sector;
  const Ints p = scaled(65025 - saturation * 255), q = scaled(65025 - saturation * rest);
  const Ints t = scaled(65025 - saturation * (255 - rest));
  const Ints in0 = (sector == 0) | (sector == 6), high_r = in0 | (sector == 5);
  const Ints high_g = (sector == 1) | (sector == 2), high_b = (sector == 3) | (sector == 4);
  const Ints r = high_r ? value : (sector == 1 ? q : (sector == 4 ? t : p));
  const Ints g = high_g ? value : (in0 ? t : (sector == 3 ? q : p));
  const Ints b = high_b ? value : (sector == 2 ? t : (sector == 5 ? q : p));
  return r | g << 8 | b << 16;
}

/// Source: rgb2hsv_row of PIL, Convert.c, for hue and saturation in steps of 1 / 255.
inline Ints turn_hues(Ints pixels, std::int32_t turn) noexcept {
  const Ints r = pixels & 255, g = pixels >> 8 & 255, b = pixels >> 16 & 255;
  const auto larger = [](Ints x, Ints y) { return x > y ? x : y; };
  const Ints value = larger(r, larger(g, b));
  const Ints range = value + larger(-r, larger(-g, -b));
  const auto divided = [&](Ints above, Ints below) {
    return floats(above) / floats(larger(below, Ints{} + 1));
  };
  const Ints difference = r == value ? g - b : (g == value ? b - r : r - g);
  const Ints sector = r == value ? Ints{} : (g == value ? Ints{} + 2 : Ints{} + 4);
  const Floats sixths = floats(sector) + divided(difference, range);
  const Ints hue = truncated((sixths < 0 ? sixths + 6 : sixths) * 42.5f);
  return from_hsv((hue + turn) & 255, truncated(divided(255 * range, value)), value);
}

/// `turns` of the wheel, -0.5 to 0.5.
inline void turn_hues(std::span<Rgbx> pixels, float turns) noexcept {
  const auto turn = static_cast<std::int32_t>(turns * 255) & 255;
  Ints four{};
  for (; pixels.size() >= 4; pixels = pixels.subspan(4)) {
    std::memcpy(&four, pixels.data(), sizeof(four));
    four = turn_hues(four, turn);
    std::memcpy(pixels.data(), &four, sizeof(four));
  }
  std::memcpy(&four, pixels.data(), pixels.size_bytes());
  four = turn_hues(four, turn);
  std::memcpy(pixels.data(), &four, pixels.size_bytes());
}

/// Draws a factor for each change and their order, and changes the pixels in place.
inline void jitter_colors(std::span<Rgbx> pixels, const ColorJitter& jitter, Random& random) {
  std::array<int, 4> order = {0, 1, 2, 3};
  shuffle(order, random);
  const auto drawn = [&](const FactorRange& range) {
    return random.uniform(range.low, range.high);
  };
  const float brightness = drawn(jitter.brightness), contrast = drawn(jitter.contrast);
  const float saturation = drawn(jitter.saturation), hue = drawn(jitter.hue);
  for (const int change : order) {
    if (change == 0 && brightness != 1) {
      blend_all(pixels, brightness, [](const Channels&) { return 0; });
    } else if (change == 1 && contrast != 1) {
      const std::int32_t mean = mean_luma(pixels);
      blend_all(pixels, contrast, [mean](const Channels&) { return mean; });
    } else if (change == 2 && saturation != 1) {
      blend_all(pixels, saturation, luma_of);
    } else if (change == 3 && hue != 0) {
      turn_hues(pixels, hue);
    }
  }
}

}  // namespace detail

}  // namespace feedrate::inline v0
