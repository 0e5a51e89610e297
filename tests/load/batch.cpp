// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/batch.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

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

TEST_CASE("Fields that don't fit into memory together are refused", "[batch]") {
  // Bug: the sum of their bytes wraps around to 0, and samples are written beside the slot.
  const std::size_t rest = std::size_t{0} - 256;
  CHECK_THROWS_AS(BatchLayout({{"a", DType::u8, {256}}, {"b", DType::u8, {rest}}}, 1), Error);
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

TEST_CASE("A row of a ragged field has the true length of its sample", "[batch]") {
  // Bug: a row with the padding of the longest, or one of the sample beside it.
  Loader loader(Sentences{}, {.batch = 5, .order = {.shuffle = false}});
  const auto batch = loader.next();
  for (std::size_t i = 0; i < 5; ++i) {
    const auto words = batch->row<std::int64_t>("words", i);
    CHECK(words.size() == i);
    for (const std::int64_t word : words) CHECK(word == static_cast<std::int64_t>(i));
    CHECK(batch->row<std::uint8_t>("mask", i).size() == 6);
    CHECK(batch->row<std::uint8_t>("mask", i)[5] == i);
  }
  CHECK_THROWS_AS(batch->row<std::int64_t>("words", 5), Error);
  CHECK_THROWS_AS(batch->row<float>("words", 1), Error);
}

/// Lines of text, of up to eight letters.
struct Lines {
  std::vector<std::string> lines = {"", "one", "eighteen", "a b"};

  std::size_t size() const { return lines.size(); }
  Layout layout() const { return {{"line", DType::u8, {8}, true}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    const auto place = sample.get<std::uint8_t>("line");
    std::copy(lines[i].begin(), lines[i].end(), place.begin());
    sample.set_length("line", lines[i].size());
  }
};

TEST_CASE("Text is a ragged field of bytes", "[batch]") {
  // Bug: what a longer line left behind a shorter one.
  Loader loader(Lines{}, {.batch = 3, .prefetch = 1, .order = {.shuffle = false}});
  std::vector<std::string> read;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const auto& batch : loader.epoch()) {
      for (std::size_t i = 0; i < batch.count(); ++i) read.emplace_back(batch.text("line", i));
    }
  }
  CHECK(read ==
        std::vector<std::string>{"", "one", "eighteen", "a b", "", "one", "eighteen", "a b"});
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
