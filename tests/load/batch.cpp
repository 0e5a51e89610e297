// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/batch.hpp"

#include <catch2/catch_test_macros.hpp>

#include "feedrate/load/loader.hpp"

namespace feedrate::batch_tests {
namespace {

/// Sentences of up to five words; sentence i has i % 6 of them.
struct Sentences {
  std::size_t size() const { return 12; }
  Layout layout() const { return {{"words", DType::i64, {5}, true}, {"mask", DType::u8, {3, 2}}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    for (auto& word : sample.get<std::int64_t>("words")) word = static_cast<std::int64_t>(i);
    for (auto& bit : sample.get<std::uint8_t>("mask")) bit = static_cast<std::uint8_t>(i);
    sample.set_length("words", i % 6);
  }
};

TEST_CASE("Fields lie one behind the other, each aligned", "[batch]") {
  // Bug: fields that overlap, or that no device can copy aligned.
  const BatchLayout layout(Sentences{}.layout(), 7);
  std::byte* const base = nullptr;
  CHECK(layout.place(base, 1, 0) - layout.place(base, 0, 0) == 512);  // 7 x 40 bytes, rounded up
  CHECK(layout.place(base, 1, 1) - layout.place(base, 1, 0) == 6);
  CHECK(layout.bytes() % BatchLayout::alignment == 0);
  CHECK(layout.sample_bytes() == 46);
}

TEST_CASE("A ragged field keeps the true length of each sample", "[batch]") {
  // Bug: true lengths that are lost, or taken from the wrong sample.
  Loader loader(Sentences{}, {.batch = 12, .workers = 2, .order = {.shuffle = false}});
  const auto batch = loader.next();
  REQUIRE(batch->lengths("words").size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(batch->lengths("words")[i] == static_cast<std::int32_t>(i % 6));
  }
  CHECK(batch->lengths("mask").empty());
}

TEST_CASE("A batch gives each field as a tensor of count x shape", "[batch]") {
  // Bug: a tensor whose shape forgets the batch.
  Loader loader(Sentences{}, {.batch = 5, .order = {.shuffle = false}});
  const auto batch = loader.next();
  CHECK(batch->tensor("mask").shape == Shape{5, 3, 2});
  CHECK(batch->get<std::uint8_t>("mask")[29] == 4);
  CHECK_THROWS_AS(batch->get<float>("mask"), Error);
  CHECK_THROWS_AS(batch->tensor("masks"), Error);
}

}  // namespace
}  // namespace feedrate::batch_tests
