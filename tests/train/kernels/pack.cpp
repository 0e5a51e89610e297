// SPDX-License-Identifier: Apache-2.0
// Tests of bodies that take eight elements at once.
#include "feedrate/train/kernels/pack.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/train/kernels/kernels.hpp"

namespace feedrate::pack_tests {

namespace {

struct Scalar {
  void operator()(std::size_t) const {}
};

}  // namespace

static_assert(sizeof(Pack<BFloat16>) == 16 && alignof(Pack<BFloat16>) == 16);
static_assert(sizeof(Pack<float>) == 32 && alignof(Pack<float>) == 16);
static_assert(sizeof(Pack<std::uint8_t>) == 8 && alignof(Pack<std::uint8_t>) == 8);
static_assert(PackedBody<ReluBackward<float>> && !PackedBody<Scalar>);

TEST_CASE("A pack does to its eight elements what the body does to each") {
  // Bug: packs are counted in elements, or one of the types has another width.
  alignas(16) std::uint8_t bytes[24];
  alignas(16) Float16 one_by_one[24], packed[24];
  for (std::size_t i = 0; i < 24; ++i) bytes[i] = static_cast<std::uint8_t>(11 * i);
  const Convert<std::uint8_t, Float16> scalar{bytes, one_by_one, 0.5f}, wide{bytes, packed, 0.5f};
  REQUIRE(wide.packs());
  for (std::size_t i = 0; i < 24; ++i) scalar(i);
  for (std::size_t i = 0; i < 3; ++i) wide.pack(i);
  for (std::size_t i = 0; i < 24; ++i) REQUIRE(packed[i] == one_by_one[i]);

  alignas(16) float y[8] = {0, 1, -1, 2, 0, 0, 3, 4}, dy[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  ReluBackward<float>{y, dy}.pack(0);
  REQUIRE(std::vector<float>(dy, dy + 8) == std::vector<float>{0, 2, 0, 4, 0, 0, 7, 8});
}

TEST_CASE("An array that does not begin where a pack may is not taken in packs") {
  // Bug: a misaligned access, which a GPU refuses by losing its context.
  alignas(16) float x[12];
  REQUIRE(is_packed(x));
  REQUIRE_FALSE(is_packed(x + 1));
  REQUIRE_FALSE((ReluBackward<float>{x, x + 1}.packs()));
  REQUIRE((ReluBackward<float>{x, x + 4}.packs()));
}

}  // namespace feedrate::pack_tests
