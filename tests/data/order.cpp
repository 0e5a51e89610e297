// SPDX-License-Identifier: Apache-2.0
#include "feedrate/data/order.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

namespace feedrate::order_tests {
namespace {

std::vector<std::size_t> epoch_of(const Order& order, std::uint64_t epoch) {
  std::vector<std::size_t> samples;
  for (std::size_t b = 0; b < order.batches_per_epoch(); ++b) {
    order.for_each(epoch, b, 0, order.count(epoch, b),
                   [&](std::size_t, std::size_t i) { samples.push_back(i); });
  }
  return samples;
}

std::vector<std::size_t> all_below(std::size_t n) {
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

TEST_CASE("A keyed permutation visits every number once, for every size", "[order]") {
  // Bug: a cycle walk that skips or repeats values for sizes that are no power of four.
  for (std::uint64_t n : {1u, 2u, 3u, 4u, 5u, 15u, 16u, 17u, 63u, 64u, 65u, 1000u, 4097u}) {
    const Permutation permutation(n, 7, 3);
    std::vector<std::size_t> image;
    for (std::uint64_t i = 0; i < n; ++i) image.push_back(permutation(i));
    std::sort(image.begin(), image.end());
    REQUIRE(image == all_below(n));
  }
}

TEST_CASE("Another seed or epoch gives another order, the same ones the same", "[order]") {
  // Bug: a key that ignores the seed or the epoch, so that each epoch has the same order.
  const Order a(1000, 10, {.seed = 1});
  const Order b(1000, 10, {.seed = 2});
  CHECK(epoch_of(a, 0) == epoch_of(Order(1000, 10, {.seed = 1}), 0));
  CHECK(epoch_of(a, 0) != epoch_of(a, 1));
  CHECK(epoch_of(a, 0) != epoch_of(b, 0));
}

TEST_CASE("A shuffled order separates neighbours", "[order]") {
  // Bug: a weak mix, after which neighbours stay neighbours. Of 10,000 pairs of a random order 2
  // * 10,000 / 10,000 = 2 are expected to be neighbours; 20 or more has a chance below 1e-12.
  const auto samples = epoch_of(Order(10'000, 100, {.seed = 5}), 0);
  int neighbours = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    neighbours += samples[i] + 1 == samples[i - 1] || samples[i - 1] + 1 == samples[i];
  }
  CHECK(neighbours < 20);
}

TEST_CASE("Without shuffling the samples come in their own order", "[order]") {
  // Bug: batches cut from a sequential order that is not sequential.
  CHECK(epoch_of(Order(10, 3, {.shuffle = false}), 4) == all_below(10));
}

TEST_CASE("The last batch is short, or dropped where that was asked for", "[order]") {
  // Bug: a last batch that is lost, or padded, or kept although it should be dropped.
  const Order keeps(10, 4, {});
  CHECK(keeps.batches_per_epoch() == 3);
  CHECK(keeps.count(0, 2) == 2);
  const Order drops(10, 4, {.drop_last = true});
  CHECK(drops.batches_per_epoch() == 2);
  CHECK(epoch_of(drops, 0).size() == 8);
}

TEST_CASE("Shards are equally long and together hold every sample", "[order]") {
  // Bug: ranks that overlap, or that get different numbers of batches and so hang in a reduction.
  std::vector<std::size_t> together;
  for (int rank = 0; rank < 3; ++rank) {
    const auto part = epoch_of(Order(10, 2, {.shard = {rank, 3}, .seed = 9}), 1);
    CHECK(part.size() == 4);
    together.insert(together.end(), part.begin(), part.end());
  }
  std::sort(together.begin(), together.end());
  together.erase(std::unique(together.begin(), together.end()), together.end());
  CHECK(together == all_below(10));
}

TEST_CASE("An order without a single batch is refused in a sentence", "[order]") {
  // Bug: an endless loop or a division by zero where no batch can be filled.
  CHECK_THROWS_AS(Order(3, 4, {.drop_last = true}), Error);
  CHECK_THROWS_AS(Order(3, 0, {}), Error);
  CHECK_THROWS_AS(Order(3, 1, {.shard = {2, 2}}), Error);
}

}  // namespace
}  // namespace feedrate::order_tests
