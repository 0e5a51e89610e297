// SPDX-License-Identifier: Apache-2.0
// Tests of who has which slot: kept leases, copies, and the bytes of short samples.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <deque>
#include <exception>
#include <limits>
#include <optional>
#include <ranges>
#include <vector>

#include "datasets.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/load/sources/subset.hpp"

namespace feedrate::slots_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Numbers;

TEST_CASE("A batch that failed is not trimmed by lengths that nobody wrote", "[loader]") {
  // Bug: rows that are moved by the bytes of an earlier batch, and out of the memory.
  const BatchLayout layout({{"tokens", DType::i32, {8}, true}}, 4);
  std::vector<std::byte> memory(2 * layout.bytes(), std::byte{1});
  Ring ring(layout, 2, memory.data(), true);
  ring.assign(0, 0, 1);
  ring.slot_of(0).fail(0, std::make_exception_ptr(1));
  CHECK(ring.finish_run(0, 4));
  CHECK(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(layout.bytes()), memory.end(),
                    [](std::byte b) { return b == std::byte{1}; }));
}

TEST_CASE("A lease that is kept costs its slot, and does not stop the loader", "[loader]") {
  // Bug: slots that become free in the order of their batches alone, so that one kept batch ends
  // the epoch after `prefetch` more.
  for (const int workers : {0, 2}) {
    Loader loader(
        Numbers{100},
        {.batch = 4, .workers = workers, .prefetch = 2, .order = {.shuffle = false}, .epochs = 4});
    const auto kept = loader.next();
    for (std::uint64_t b = 1; b < 100; ++b) {
      const auto batch = loader.next();
      REQUIRE(batch);
      CHECK(batch->number() == b);
      CHECK(batch->get<std::int32_t>("label")[0] == static_cast<std::int32_t>(4 * b % 100));
    }
    CHECK(kept->get<std::int32_t>("label")[3] == 3);
    CHECK(!loader.next());
  }
}

TEST_CASE("Leases that end in the reverse order leave every batch whole", "[loader]") {
  // Bug: a slot that goes to a batch while another still has it.
  Loader loader(Numbers{1000},
                {.batch = 5, .workers = 4, .prefetch = 6, .order = {.shuffle = false}});
  std::deque<Lease> held;
  for (int b = 0; b < 600; ++b) {
    held.push_back(*loader.next());
    CHECK(held.back().get<std::int32_t>("label")[4] == (5 * b + 4) % 1000);
    if (held.size() < 6) continue;
    held.erase(held.begin() + (b % 2 == 0 ? 5 : 2));
    held.pop_back();
    for (const Lease& lease : held) {
      const auto first = static_cast<std::int32_t>(5 * lease.number() % 1000);
      CHECK(lease.get<std::int32_t>("label")[0] == first);
    }
  }
}

TEST_CASE("An epoch is a range of C++20, and a batch can be kept from a loop over it", "[loader]") {
  // Bug: a range that no view takes, or a batch that ends with the loop that kept it.
  static_assert(std::ranges::input_range<Loader::Epoch>);
  Loader loader(Numbers{40},
                {.batch = 4, .workers = 1, .prefetch = 4, .order = {.shuffle = false}});
  std::vector<std::size_t> seen;
  std::vector<Lease> kept;
  for (auto& batch : loader.epoch() | std::views::take(3)) {
    seen.push_back(batch.index());
    kept.push_back(std::move(batch));
  }
  CHECK(seen == std::vector<std::size_t>{0, 1, 2});
  for (const auto& batch : loader.epoch()) seen.push_back(batch.index());
  CHECK(seen.size() >= 9);
  CHECK(seen.back() == 9);
  for (std::int32_t b = 0; b < 3; ++b) {
    CHECK(kept[static_cast<std::size_t>(b)].get<std::int32_t>("label")[0] == 4 * b);
  }
}

TEST_CASE("The copy of a batch outlives its lease and its loader", "[loader]") {
  // Bug: a copy that shares the memory of the slot, or the layout of the loader.
  std::optional<BatchCopy> copy;
  {
    Loader loader(Numbers{10}, {.batch = 4, .prefetch = 0, .order = {.shuffle = false}});
    copy = loader.next()->copy();
    for (int b = 0; b < 20; ++b) loader.next();
  }
  const BatchCopy second = *copy;
  copy.reset();
  CHECK(second.count() == 4);
  CHECK(second.get<std::int32_t>("label")[3] == 3);
  CHECK(second.get<float>("x")[2] == 1);
}

/// Sample i has i % 4 rows of ones.
struct Ragged {
  std::size_t size() const { return 16; }
  Layout layout() const { return {{"rows", DType::f32, {3, 2}, true}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    const std::size_t length = i % 4;
    const auto rows = sample.get<float>(0);
    std::fill_n(rows.begin(), 2 * length, 1.0f);
    sample.set_length("rows", length);
  }
};

TEST_CASE("Behind a short sample are zeros", "[loader]") {
  // Bug: rows of the sample that lay there before, which depend on the number of slots.
  for (const int prefetch : {1, 3}) {
    Loader loader(Ragged{}, {.batch = 5, .workers = 2, .prefetch = prefetch});
    for (int b = 0; b < 40; ++b) {
      const auto batch = loader.next();
      const auto rows = batch->get<float>("rows");
      const auto lengths = batch->lengths("rows");
      for (std::size_t s = 0; s < batch->count(); ++s) {
        for (std::size_t e = 0; e < 6; ++e) {
          CHECK(rows[6 * s + e] == (e < 2 * static_cast<std::size_t>(lengths[s]) ? 1.0f : 0.0f));
        }
      }
    }
  }
}

struct Twins {
  std::size_t size() const { return 4; }
  Layout layout() const { return {{"x", DType::f32, {}}, {"x", DType::f32, {}}}; }
  void load(std::size_t, const Sample&, Random&) const {}
};

/// A ragged field of that shape.
struct RaggedOf {
  Shape shape;
  std::size_t size() const { return 4; }
  Layout layout() const { return {{"x", DType::u8, shape, true}}; }
  void load(std::size_t, const Sample&, Random&) const {}
};

TEST_CASE("What no loader can do is refused in a sentence", "[loader]") {
  // Bug: the second of two fields of a name, which no name reaches; a number of slots that
  // overflows; tens of thousands of threads; a subset that looks for samples for ever.
  CHECK_THROWS_WITH(Loader(Twins{}), ContainsSubstring("two fields named 'x'"));
  CHECK_THROWS_WITH(Loader(Numbers{10}, {.prefetch = std::numeric_limits<int>::max()}),
                    ContainsSubstring("'prefetch' is 2147483647; it must be at most"));
  CHECK_THROWS_WITH(Loader(Numbers{10}, {.workers = 100'000}),
                    ContainsSubstring("'workers' is 100000; it must be at most 4096"));
  Loader loader(Numbers{10});
  CHECK_THROWS_WITH(loader.resize(100'000), ContainsSubstring("at most 4096"));
  CHECK_THROWS_WITH(Subset(make_source(Numbers{10}), 11, 0), ContainsSubstring("11 samples"));
  // Bug: a division by the length of no rows; a length of 32 bits that becomes negative.
  CHECK_THROWS_WITH(Loader(RaggedOf{Shape{}}), ContainsSubstring("'x' needs a first extent"));
  CHECK_THROWS_WITH(Loader(RaggedOf{Shape{std::size_t{1} << 31}}, {.batch = 1}),
                    ContainsSubstring("at most 2147483647"));
}

TEST_CASE("A million skipped samples are recorded once each", "[loader]") {
  // Bug: a list that is searched or moved for each, so that a million bad samples never end.
  constexpr std::size_t bad = 1'000'000;
  Skips skips;
  bool admitted = true;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (std::size_t i = bad; i > 0; --i) admitted = admitted && skips.admit({i, "", ""}, bad);
  }
  CHECK(admitted);
  CHECK_FALSE(skips.admit({0, "", ""}, bad));
  CHECK(skips.distinct().size() == bad);
  CHECK(skips.distinct()[0].sample == bad);
  CHECK(skips.total() == 2 * bad);
}

}  // namespace
}  // namespace feedrate::slots_tests
