// SPDX-License-Identifier: Apache-2.0
// Tests of what is done to samples before they enter a model.
#include "feedrate/train/kernels/preprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/train/cpu/cpu.hpp"

namespace feedrate::preprocess_tests {

namespace {

constexpr Image to{4, 5, 3};
const PreprocessSpec spec{.margin = 2, .flip = true, .scale = {2, 3, 4, 9}, .shift = {1, 0, -1, 5}};

}  // namespace

TEST_CASE("Each pixel is the one that crop and mirror say, scaled and shifted per channel") {
  // Bug: the pitch of the margin is left out, mirrored crops start at the wrong side, or channels
  // take the constants of their neighbour.
  constexpr std::size_t samples = 16, height = 6, width = 7;
  std::vector<std::uint8_t> x(samples * height * width * 3);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i * 37 + i / 256);
  std::vector<float> y(samples * to.elements(), NAN);
  const PrepareSamples<std::uint8_t, float> body(spec, to, 5, 11, x.data(), y.data());
  Cpu{}.for_rows(samples * to.height, body);
  for (std::size_t s = 0; s < samples; ++s) {
    const Cut cut = body.draw(static_cast<std::uint32_t>(s));
    REQUIRE((cut.top <= 2 && cut.left <= 2));
    for (std::size_t i = 0; i < to.elements(); ++i) {
      const std::size_t c = i % 3, column = i / 3 % 5, row = i / 15;
      const std::size_t from = cut.left + (cut.mirrored ? 4 - column : column);
      const double value = x[((s * height + cut.top + row) * width + from) * 3 + c] / 255.0;
      const double expected = value * double{spec.scale[c]} + double{spec.shift[c]};
      REQUIRE(std::abs(double{y[s * to.elements() + i]} - expected) < 1e-6);
    }
  }
}

TEST_CASE("Every crop offset is drawn, and another step draws others") {
  // Bug: the largest offset is never drawn, or each epoch sees the same crops.
  std::set<std::uint32_t> seen;
  std::size_t same = 0, mirrored = 0;
  for (std::uint32_t s = 0; s < 1000; ++s) {
    const Cut cut = CutDraw{3, true, 1, 2}(s), later = CutDraw{3, true, 1, 3}(s);
    seen.insert(cut.top * 3 + cut.left);
    mirrored += cut.mirrored;
    same += cut.top == later.top && cut.left == later.left && cut.mirrored == later.mirrored;
  }
  REQUIRE(seen.size() == 9);
  REQUIRE((mirrored > 400 && mirrored < 600));
  REQUIRE(same < 150);  // 1000 / 18 by chance
}

TEST_CASE("By default samples change only their type") {
  // Bug: a default that crops, or f32 divided by 255.
  REQUIRE(PreprocessSpec{}.only_scales());
  REQUIRE_FALSE(spec.only_scales());
  REQUIRE_FALSE(PreprocessSpec{.scale = {1, 2, 1, 1}}.only_scales());
  const std::vector<float> x{0.5f, -3.0f, 1e-4f, 7.0f};
  std::vector<Float16> y(4);
  const PrepareSamples<float, Float16> body({}, {1, 1, 4}, 0, 0, x.data(), y.data());
  Cpu{}.for_rows(1, body);
  for (std::size_t i = 0; i < 4; ++i) REQUIRE(y[i] == Float16(x[i]));
}

}  // namespace feedrate::preprocess_tests
