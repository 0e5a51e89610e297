// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/resize_kernels.hpp and data/image/resize_simd.hpp: all implementations give
// the same bits.
#include "feedrate/data/image/resize_simd.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "feedrate/core/random.hpp"

namespace feedrate::resize_simd_tests {
using namespace feedrate::detail;

namespace {

std::vector<std::uint8_t> noise(std::size_t bytes) {
  Random random(1, 2, 3);
  std::vector<std::uint8_t> values(bytes);
  for (auto& value : values) value = static_cast<std::uint8_t>(random.next());
  return values;
}

}  // namespace

TEST_CASE("The chosen loops resize rows to the same bits as the portable ones") {
  // Bug: a lane takes its neighbour's weights, or the last odd pixel is left out.
  const int count = GENERATE(1, 2, 7, 8, 31, 224);
  const int length = GENERATE(1, 5, 63, 300, 2000);
  ResizeWeights weights;
  weights.make({0, length, 0, static_cast<double>(length) / count, count}, count % 2 == 0);
  const auto row = noise(static_cast<std::size_t>(length + weights.taps()) * 4);
  std::vector<std::int16_t> fast(static_cast<std::size_t>(count + 1) * 4), slow(fast);
  best_kernels().horizontal(row.data(), weights.first(), weights.weights(), weights.taps(), count,
                            fast.data());
  portable_kernels.horizontal(row.data(), weights.first(), weights.weights(), weights.taps(), count,
                              slow.data());
  fast.resize(static_cast<std::size_t>(count) * 4);
  slow.resize(fast.size());
  CHECK(fast == slow);
}

TEST_CASE("The chosen loops mix rows to the same bits as the portable ones") {
  // Bug: sums leave 16 bits, or bytes are packed in the order of lanes.
  const int taps = GENERATE(2, 4, 6, 130);
  const int count = GENERATE(8, 24, 224);
  Random random(5, 0, 0);
  std::vector<std::vector<std::int16_t>> memory(static_cast<std::size_t>(taps));
  std::vector<const std::int16_t*> rows;
  for (auto& row : memory) {
    for (int e = 0; e < 4 * count; ++e) {
      row.push_back(
          static_cast<std::int16_t>(e % 5 == 0 ? 255 << half_way_bits : random.below(32641)));
    }
    rows.push_back(row.data());
  }
  std::vector<std::int16_t> weights(static_cast<std::size_t>(taps), 0);
  for (int w = 0; w < 1 << weight_bits; ++w) ++weights[random.below(static_cast<unsigned>(taps))];
  std::vector<std::uint8_t> fast(static_cast<std::size_t>(count) * 4), slow(fast);
  best_kernels().vertical(rows.data(), weights.data(), taps, count, fast.data());
  portable_kernels.vertical(rows.data(), weights.data(), taps, count, slow.data());
  CHECK(fast == slow);
}

TEST_CASE("The chosen loops write planes to the same bits as the portable ones") {
  // Bug: a fused multiply-add rounds once where the portable loop rounds twice.
  const int count = GENERATE(1, 7, 8, 9, 224, 255);
  const auto n = static_cast<std::size_t>(count);
  const auto rgbx = noise(n * 4);
  const float scale[3] = {0.0171247f, 0.0175070f, 0.0174292f};
  const float bias[3] = {-2.1179f, -2.0357f, -1.8044f};
  std::vector<float> fast(3 * n), slow(3 * n);
  float* const fast_planes[3] = {&fast[0], &fast[n], &fast[2 * n]};
  float* const slow_planes[3] = {&slow[0], &slow[n], &slow[2 * n]};
  best_kernels().to_f32_planes(rgbx.data(), count, scale, bias, fast_planes);
  portable_kernels.to_f32_planes(rgbx.data(), count, scale, bias, slow_planes);
  CHECK(fast == slow);
  std::vector<std::uint8_t> bytes(3 * n);
  std::uint8_t* const planes[3] = {&bytes[0], &bytes[n], &bytes[2 * n]};
  best_kernels().to_u8_planes(rgbx.data(), count, planes);
  for (std::size_t i = 0; i < 3 * n; ++i) REQUIRE(bytes[i] == rgbx[4 * (i % n) + i / n]);
}

}  // namespace feedrate::resize_simd_tests
