// SPDX-License-Identifier: Apache-2.0
// Tests of pooling eight channels at a time: it is pooling.
#include "feedrate/train/kernels/pool_packs.hpp"

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "image_shapes.hpp"

namespace feedrate::pool_packs_tests {
using feedrate::test::windows_of;

namespace {

constexpr std::size_t images = 2;

/// Elements in aligned memory, read as packs or one by one.
template <class T>
struct Packs {
  std::vector<Pack<T>> packs;
  explicit Packs(std::size_t count) : packs(count / pack_width) {}
  T* data() { return packs.data()->at; }
  std::size_t size() const { return packs.size() * pack_width; }
};

}  // namespace

TEMPLATE_TEST_CASE("Packs of channels are pooled, forward and back, as each channel is", "", float,
                   BFloat16, Float16) {
  // Bug: a place that is counted in channels where packs are meant, or a tie that two win.
  Random random(9, 0, 0);
  for (const PoolWindows& at : {windows_of({6, 8, 8}, 2, 2), windows_of({9, 7, 24}, 3, 3),
                                windows_of({7, 9, 16}, 2, 3), windows_of({8, 8, 32}, 3, 2)}) {
    Packs<TestType> x(images * at.from.elements()), y(images * at.to.elements());
    Packs<TestType> expected(y.size()), dy(y.size()), dx(x.size()), expected_dx(x.size());
    Packs<float> bias(at.from.channels);
    for (std::size_t i = 0; i < x.size(); ++i)
      x.data()[i] = TestType(float(random.below(5)) - 2.0f);
    for (std::size_t i = 0; i < dy.size(); ++i) dy.data()[i] = TestType(float(random.below(99)));
    for (std::size_t i = 0; i < bias.size(); ++i) bias.data()[i] = 0.25f;
    const Pooling<TestType> of{x.data(), bias.data(), at, 0.0f};
    REQUIRE(pools_in_packs<TestType>(of, y.data()));
    const std::size_t rows = images * at.to.pixels();
    Cpu{}.for_rows(rows, PoolForwardPacks<TestType>{of, y.data()});
    Cpu{}.for_rows(rows, PoolForward<TestType>{of, expected.data()});
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y.data()[i] == expected.data()[i]);
    if (at.overlap()) continue;
    Cpu{}.for_rows(rows, PoolBackwardPacks<TestType, TestType>{of, y.data(), dy.data(), dx.data()});
    Cpu{}.for_rows(rows, PoolBackward<TestType, TestType, TestType>{of, y.data(), dy.data(),
                                                                    expected_dx.data()});
    for (std::size_t i = 0; i < dx.size(); ++i) REQUIRE(dx.data()[i] == expected_dx.data()[i]);
  }
}

TEST_CASE("Channels that don't come in eights, or lie badly, are not pooled in packs") {
  // Bug: the last channels are left out, or an access that a GPU refuses.
  const PoolWindows odd = windows_of({4, 4, 12}, 2, 2), even = windows_of({4, 4, 8}, 2, 2);
  Packs<float> x(256), y(64), bias(16);
  const auto packs = [&](const PoolWindows& at, const float* from) {
    return pools_in_packs<float>({from, bias.data(), at, 0.0f}, y.data());
  };
  REQUIRE_FALSE(packs(odd, x.data()));
  REQUIRE(packs(even, x.data()));
  REQUIRE_FALSE(packs(even, x.data() + 1));
}

}  // namespace feedrate::pool_packs_tests
