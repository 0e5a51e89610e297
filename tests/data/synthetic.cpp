// SPDX-License-Identifier: Apache-2.0
// Tests of data/synthetic.hpp: noise of any layout, the same in every epoch.
#include "feedrate/data/synthetic.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "support.hpp"

namespace feedrate::synthetic_tests {
using namespace feedrate::test;

static_assert(Dataset<Synthetic>);

TEST_CASE("Synthetic samples differ from each other but not from epoch to epoch") {
  // Bug: noise drawn from the epoch's generator, so that no reader can expect a value.
  const Synthetic data(10, {{"x", DType::f32, {64}}, {"label", DType::i32, {}}}, 3);
  const auto load = [&](std::size_t i, std::uint64_t epoch) {
    OneSample one(data.layout());
    Random random(1, epoch, i);
    data.load(i, one.sample(), random);
    const auto x = one.sample().get<float>("x");
    CHECK(one.sample().scalar<std::int32_t>("label") == static_cast<std::int32_t>(i % 3));
    CHECK(std::all_of(x.begin(), x.end(), [](float v) { return v >= 0 && v < 1; }));
    return std::vector<float>(x.begin(), x.end());
  };
  CHECK(load(4, 0) == load(4, 1));
  CHECK(load(4, 0) != load(5, 0));
}

TEST_CASE("Every element type can be synthesised") {
  // Bug: a type that is left out keeps the bytes of an earlier batch.
  for (const DType dtype :
       {DType::u8, DType::i32, DType::i64, DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const Synthetic data(2, {{"x", dtype, {256}}});
    OneSample one(data.layout());
    Random random(1, 0, 0);
    data.load(1, one.sample(), random);
    const std::byte* bytes = one.sample().place(0);
    CHECK(std::count(bytes, bytes + 256, std::byte{0}) < 256);
  }
  CHECK_THROWS_AS(Synthetic(2, {}, 0), Error);
}

}  // namespace feedrate::synthetic_tests
