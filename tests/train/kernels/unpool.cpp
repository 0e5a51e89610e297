// SPDX-License-Identifier: Apache-2.0
// Tests of the way back through pooling as seen from the inputs.
#include "feedrate/train/kernels/unpool.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/train/cpu/cpu.hpp"
#include "image_shapes.hpp"

namespace feedrate::unpool_tests {
using feedrate::test::windows_of;

TEST_CASE(
    "Each input gets the gradients of the windows that it won, as the outputs would give it") {
  // Bug: a tie that two inputs win, a window that is left out at an edge, or an input outside all
  // windows that keeps what was there.
  Random random(4, 0, 0);
  constexpr std::size_t images = 2;
  for (const PoolWindows& windows :
       {windows_of({7, 6, 3}, 3, 1), windows_of({9, 8, 5}, 3, 2), windows_of({6, 6, 2}, 2, 2),
        windows_of({7, 9, 1}, 4, 3), windows_of({8, 7, 2}, 2, 3)}) {
    std::vector<BFloat16> x(images * windows.from.elements()), y(images * windows.to.elements());
    std::vector<float> bias(windows.from.channels, 0.25f), dy(y.size());
    // Few different values, so that there are ties.
    for (BFloat16& each : x) each = BFloat16(float(random.below(4)) - 2.0f);
    for (float& each : dy) each = float(random.below(100));
    const Pooling<BFloat16> of{x.data(), bias.data(), windows, floor_of(true)};
    Cpu{}.for_rows(images * windows.to.pixels(), PoolForward<BFloat16>{of, y.data()});
    std::vector<float> dx(x.size(), -7.0f), expected(x.size());
    Cpu{}.for_rows(images * windows.from.pixels(),
                   GatherPool<BFloat16, float>{of, y.data(), dy.data(), dx.data()});
    Cpu{}.for_rows(images * windows.to.pixels(),
                   PoolBackward<BFloat16, float>{of, y.data(), dy.data(), expected.data()});
    REQUIRE(dx == expected);
  }
}

TEST_CASE("Pooling passes gradients of 16 bits on without changing them") {
  // Bug: a gradient type that is read as float.
  const PoolWindows windows = windows_of({2, 4, 1}, 2, 2);
  const std::vector<Float16> x{Float16(1), Float16(2), Float16(3), Float16(0),
                               Float16(0), Float16(2), Float16(1), Float16(9)};
  const float bias = 0;
  const std::vector<Float16> y{Float16(2), Float16(9)};
  std::vector<Float16> dy{Float16(0.1f), Float16(1e-7f)}, dx(8);
  const std::vector<Float16> given = dy;
  Cpu{}.for_rows(2,
                 PoolBackward<Float16, Float16, Float16>{
                     {x.data(), &bias, windows, floor_of(false)}, y.data(), dy.data(), dx.data()});
  REQUIRE(dx[1] == given[0]);
  REQUIRE(dx[7] == given[1]);
  REQUIRE(dx[5] == Float16(0));
}

}  // namespace feedrate::unpool_tests
