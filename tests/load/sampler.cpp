// SPDX-License-Identifier: Apache-2.0
// Tests of samplers: an order that is the user's.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "datasets.hpp"
#include "feedrate/data/samplers.hpp"
#include "feedrate/load/loader.hpp"

namespace feedrate::sampler_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Numbers;

LoaderOptions options(std::shared_ptr<const Sampler> sampler, int workers = 2) {
  return {.batch = 4,
          .workers = workers,
          .prefetch = 2,
          .order = {.seed = 9'000'017, .sampler = std::move(sampler)},
          .epochs = 2};
}

struct Taken {
  std::vector<int> labels;
  std::vector<float> randoms;
};

Taken take_all(Loader& loader) {
  Taken taken;
  while (const auto batch = loader.next()) {
    for (const auto label : batch->get<std::int32_t>("label").first(batch->count())) {
      taken.labels.push_back(label);
    }
    const auto x = batch->get<float>("x");
    for (std::size_t i = 0; i < batch->count(); ++i) taken.randoms.push_back(x[2 * i + 1]);
  }
  return taken;
}

TEST_CASE("A sampler chooses the samples of every epoch, for any number of workers", "[loader]") {
  // Bug: a list longer or shorter than the dataset that ends an epoch where the dataset does, or a
  // last batch without its true count.
  const auto list = std::make_shared<ListSampler>(std::vector<std::size_t>{7, 7, 3, 9, 7, 0});
  for (const int workers : {0, 1, 3}) {
    Loader loader(Numbers{10}, options(list, workers));
    CHECK(loader.batches_per_epoch() == 2);
    const Taken taken = take_all(loader);
    CHECK(taken.labels == std::vector<int>{7, 7, 3, 9, 7, 0, 7, 7, 3, 9, 7, 0});
    // Bug: the random numbers of a sample that is chosen three times are the same each time.
    CHECK(std::set(taken.randoms.begin(), taken.randoms.end()).size() == 12);
  }
}

TEST_CASE("Ranks share what a sampler chooses", "[loader]") {
  const auto list = std::make_shared<ListSampler>(std::vector<std::size_t>{4, 5, 6, 7, 8});
  LoaderOptions second = options(list);
  second.order.shard = {1, 2};
  second.epochs = 1;
  Loader loader(Numbers{10}, second);
  CHECK(take_all(loader).labels == std::vector<int>{5, 7, 4});
}

TEST_CASE("Ranks get batches of like length at the same time", "[loader]") {
  // Bug: a rank's batch out of several buckets, and ranks that wait for the one with the long
  // samples.
  std::vector<std::size_t> lengths(960);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i * 7919 % lengths.size();
  std::vector<std::vector<int>> labels;
  for (const int rank : {0, 1}) {
    LoaderOptions asked = options(std::make_shared<LengthSampler>(lengths, 8, 9'000'059, 120));
    asked.order.shard = {rank, 2};
    asked.epochs = 1;
    Loader loader(Numbers{960}, asked);
    labels.push_back(take_all(loader).labels);
  }
  REQUIRE(labels[0].size() == 480);
  for (std::size_t step = 0; step < 480; step += 4) {
    std::set<std::size_t> of_step;
    for (std::size_t i = step; i < step + 4; ++i) {
      for (const auto& rank : labels) of_step.insert(lengths[static_cast<std::size_t>(rank[i])]);
    }
    CHECK(*of_step.rbegin() - *of_step.begin() == 7);
  }
}

struct Epochs final : Sampler {
  std::size_t size() const override { return 4; }
  std::size_t at(std::uint64_t epoch, std::size_t position) const override {
    if (position == 3 && epoch == 1) throw std::runtime_error("no more of these");
    return epoch + position;
  }
};

TEST_CASE("What a sampler throws reaches the consumer, and the next batch comes", "[loader]") {
  // Bug: an exception in a worker that ends the program.
  for (const int workers : {0, 2}) {
    LoaderOptions asked = options(std::make_shared<Epochs>(), workers);
    asked.epochs = 3;
    Loader loader(Numbers{10}, asked);
    CHECK(loader.next()->get<std::int32_t>("label")[3] == 3);
    CHECK_THROWS_WITH(loader.next(), "no more of these");
    CHECK(loader.next()->get<std::int32_t>("label")[0] == 2);
  }
}

TEST_CASE("A sampler that chooses a sample beyond the dataset is told so", "[loader]") {
  // Bug: memory behind the dataset is read.
  const auto list = std::make_shared<ListSampler>(std::vector<std::size_t>{0, 1, 10, 2});
  Loader loader(Numbers{10}, options(list));
  CHECK_THROWS_WITH(loader.next(), ContainsSubstring("sample 10") &&
                                       ContainsSubstring("the dataset has 10 samples"));
  Loader none(Numbers{10}, options(std::make_shared<ListSampler>(std::vector<std::size_t>{0}), 0));
  CHECK(none.next()->count() == 1);
  CHECK_THROWS_AS(
      Loader(Numbers{10}, options(std::make_shared<ListSampler>(std::vector<std::size_t>{}))),
      Error);
}

TEST_CASE("Epochs can be added after the last one, while batches are held", "[loader]") {
  // Bug: workers that sleep at the end are not woken, or slots are laid out anew below a held
  // batch.
  const auto list = std::make_shared<ListSampler>(std::vector<std::size_t>{1, 2, 3, 4, 5, 6});
  for (const int workers : {0, 2}) {
    LoaderOptions asked = options(list, workers);
    asked.epochs = 1;
    Loader loader(Numbers{10}, asked);
    const auto kept = loader.next();
    CHECK(loader.next()->last());
    CHECK_FALSE(loader.next());
    loader.add_epochs(2);
    for (const int first : {1, 5, 1, 5}) {
      CHECK(loader.next()->get<std::int32_t>("label")[0] == first);
    }
    CHECK_FALSE(loader.next());
    CHECK(kept->get<std::int32_t>("label")[3] == 4);
  }
}

TEST_CASE("A consumer can wait for a while, and look at other things", "[loader]") {
  testing::Gate gate;
  Loader loader(Numbers{8, [&](std::size_t) { gate.wait(); }},
                {.batch = 8, .workers = 1, .order = {.shuffle = false}, .epochs = 1});
  CHECK_FALSE(loader.wait(0.01));
  gate.open();
  while (!loader.wait(1)) {
  }
  CHECK(loader.next());
  CHECK(loader.wait(0));  // behind the last batch
  CHECK(loader.counters().wait_s >= 0.01);
}

}  // namespace
}  // namespace feedrate::sampler_tests
