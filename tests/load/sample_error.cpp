// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/sample_error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <new>
#include <stdexcept>

#include "datasets.hpp"

namespace feedrate::sample_error_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Numbers;

/// Numbers of which some can't be loaded.
Numbers with_bad(std::size_t samples, std::function<bool(std::size_t)> is_bad) {
  return {samples, [is_bad](std::size_t i) {
            if (is_bad(i)) throw std::runtime_error("it is broken.");
          }};
}

TEST_CASE("A sample that can't be loaded fails its batch by name, and the rest goes on",
          "[errors]") {
  // Bug: an error that kills a worker, or that does not say which sample.
  for (int workers : {0, 1, 2, 8}) {
    const auto bad = [](std::size_t i) { return i == 13; };
    Loader loader(with_bad(40, bad),
                  {.batch = 8, .workers = workers, .order = {.shuffle = false}, .epochs = 1});
    CHECK(loader.next());
    CHECK_THROWS_WITH(loader.next(), ContainsSubstring("sample 13 (number-13): it is broken."));
    for (int b = 0; b < 3; ++b) CHECK(loader.next());
    CHECK_FALSE(loader.next());
    const LoaderCounters counters = loader.counters();
    CHECK(counters.samples + counters.skipped + counters.failed == 40);
    CHECK(counters.failed == 8);
  }
}

TEST_CASE("The first of several bad samples in a batch is reported", "[errors]") {
  // Bug: whichever thread fails first deciding what the user reads.
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto bad = [](std::size_t i) { return i % 2 == 1; };
    Loader loader(with_bad(8, bad),
                  {.batch = 8, .workers = 4, .order = {.shuffle = false}, .run_length = 1});
    try {
      loader.next();
      FAIL("a batch with bad samples was delivered");
    } catch (const SampleError& error) {
      CHECK(error.sample() == 1);
    }
  }
}

TEST_CASE("Whatever a dataset throws is reported in words", "[errors]") {
  // Bug: exceptions that are not std::exception, or no memory, ending the process.
  Loader no_memory(Numbers{4, [](std::size_t) { throw std::bad_alloc(); }}, {.workers = 1});
  CHECK_THROWS_WITH(no_memory.next(), ContainsSubstring("out of memory"));
  Loader strange(Numbers{4, [](std::size_t) { throw 42; }}, {.workers = 1});
  CHECK_THROWS_WITH(strange.next(), ContainsSubstring("unknown type"));
}

TEST_CASE("Skipped samples leave no hole, a true count, and labels of -1 behind", "[skips]") {
  // Bug: holes that keep the bytes of an earlier batch, or a count that includes them.
  for (int workers : {0, 2, 8}) {
    const auto bad = [](std::size_t i) { return i == 0 || i == 3 || i == 4; };
    Loader loader(
        with_bad(16, bad),
        {.batch = 8, .workers = workers, .order = {.shuffle = false}, .epochs = 1, .max_skips = 3});
    const auto first = loader.next();
    REQUIRE(first->count() == 5);
    const std::int32_t* labels = first->get<std::int32_t>("label").data();
    const std::vector<std::int32_t> expected = {1, 2, 5, 6, 7, -1, -1, -1};
    CHECK(std::vector<std::int32_t>(labels, labels + 8) == expected);
    CHECK(first->get<float>("x")[0] == 1.0f);
    CHECK(loader.next()->count() == 8);
    CHECK(loader.counters().samples + loader.counters().skipped == 16);
    REQUIRE(loader.skips().size() == 3);
    CHECK(loader.skips()[0].reason == "it is broken.");
  }
}

TEST_CASE("The limit of skips counts different samples, and one more is an error", "[skips]") {
  // Bug: a cap that is never enforced, or that the same file uses up epoch after epoch.
  const auto two_bad = [](std::size_t i) { return i == 2 || i == 9; };
  Loader enough(with_bad(12, two_bad), {.batch = 4, .workers = 2, .epochs = 5, .max_skips = 2});
  CHECK(testing::drain_epochs(enough, 5).labels.size() == 50);
  CHECK(enough.skips().size() == 2);
  Loader short_of_one(with_bad(12, two_bad), {.batch = 12, .epochs = 1, .max_skips = 1});
  CHECK_THROWS_WITH(short_of_one.next(), ContainsSubstring("one more than the 1 samples"));
}

TEST_CASE("An epoch whose last batch was skipped ends, and the next one starts whole", "[skips]") {
  // Bug: a range that runs on into the next epoch because it never sees the last batch.
  const auto bad = [](std::size_t i) { return i >= 8; };
  Loader loader(with_bad(12, bad), {.batch = 4, .order = {.shuffle = false}, .max_skips = 4});
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::size_t> batches;
    for (const auto& batch : loader.epoch()) batches.push_back(batch.index());
    CHECK(batches == std::vector<std::size_t>{0, 1});
  }
}

TEST_CASE("When every sample is skipped that is an error, not an endless search", "[skips]") {
  // Bug: next() that looks for a batch with samples for ever.
  Loader loader(with_bad(12, [](std::size_t) { return true; }), {.batch = 4, .max_skips = 100});
  CHECK_THROWS_WITH(loader.next(), ContainsSubstring("Every sample of an epoch was skipped"));
}

TEST_CASE("That every sample of an epoch was skipped is said of the last epoch, and of no other",
          "[skips]") {
  // Bug: an only epoch that ends without a batch and without a word, or an error that counts skips
  // across two epochs, each of which has a sample.
  Loader only(with_bad(12, [](std::size_t) { return true; }),
              {.batch = 4, .epochs = 1, .max_skips = 100});
  CHECK_THROWS_WITH(only.next(), ContainsSubstring("Every sample of an epoch was skipped"));
  CHECK_FALSE(only.next());
  Loader one_good(with_bad(3, [](std::size_t i) { return i > 0; }),
                  {.batch = 1, .epochs = 40, .max_skips = 2});
  int batches = 0;
  while (one_good.next()) ++batches;
  CHECK(batches == 40);
}

TEST_CASE("A restart that is refused loses no batch", "[skips]") {
  // Bug: the first batch of an epoch, met while looking for the end of the one before.
  const auto bad = [](std::size_t i) { return i >= 8; };
  Loader loader(with_bad(12, bad), {.batch = 4, .order = {.shuffle = false}, .max_skips = 4});
  for (const auto& batch : loader.epoch()) CHECK(batch.epoch() == 0);
  CHECK_THROWS_AS(loader.restart({.sample = 1 << 30}), Error);
  CHECK(loader.cursor().sample == 0);
  CHECK(loader.next()->get<std::int32_t>("label")[0] == 0);
}

TEST_CASE("A dataset that can't even name its sample fails the batch, not the process",
          "[errors]") {
  // Bug: an exception out of the handler of an exception, on a worker's thread.
  struct Nameless {
    std::size_t size() const { return 8; }
    Layout layout() const { return {{"label", DType::i32, {}}}; }
    void load(std::size_t, const Sample&, Random&) const { throw std::runtime_error("broken"); }
    std::string name(std::size_t) const { throw std::runtime_error("no name"); }
  };
  for (int workers : {0, 2}) {
    Loader loader(Nameless{}, {.batch = 4, .workers = workers});
    CHECK_THROWS_WITH(loader.next(), ContainsSubstring("no name"));
  }
}

TEST_CASE("A batch of which every sample was skipped is passed over", "[skips]") {
  // Bug: an endless wait for a batch that has no sample left.
  const auto bad = [](std::size_t i) { return i >= 4 && i < 8; };
  Loader loader(with_bad(12, bad),
                {.batch = 4, .order = {.shuffle = false}, .epochs = 1, .max_skips = 4});
  CHECK(loader.next()->index() == 0);
  CHECK(loader.next()->index() == 2);
  CHECK_FALSE(loader.next());
}

}  // namespace
}  // namespace feedrate::sample_error_tests
