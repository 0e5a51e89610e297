// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/loader.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "datasets.hpp"
#include "forked.hpp"

namespace feedrate::loader_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Delivered;
using testing::drain_epochs;
using testing::Numbers;

TEST_CASE("The bytes and their order are the same for any number of workers", "[loader]") {
  // Bug: randomness or order that depends on which thread came first.
  for (std::uint64_t seed : {0u, 1u, 2u, 3u, 4u}) {
    Loader alone(Numbers{97}, {.batch = 8, .order = {.seed = seed}});
    const Delivered expected = drain_epochs(alone, 3);
    REQUIRE(expected.labels.size() == 3 * 97);
    for (int workers : {1, 2, 3, 8, 16}) {
      Loader loader(Numbers{97}, {.batch = 8,
                                  .workers = workers,
                                  .prefetch = 1 + workers % 4,
                                  .order = {.seed = seed},
                                  .run_length = 1 + workers % 3});
      CHECK(drain_epochs(loader, 3) == expected);
    }
  }
}

TEST_CASE("Each epoch delivers every sample once", "[loader]") {
  // Bug: a sample that is lost or delivered twice at the border of batches or epochs.
  Loader loader(Numbers{50}, {.batch = 7, .workers = 2, .prefetch = 3});
  for (int epoch = 0; epoch < 4; ++epoch) {
    Delivered delivered = drain_epochs(loader, 1);
    std::sort(delivered.labels.begin(), delivered.labels.end());
    REQUIRE(delivered.labels.size() == 50);
    for (std::int32_t i = 0; i < 50; ++i) CHECK(delivered.labels[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("A loader that starts at a cursor continues what another had begun", "[loader]") {
  // Bug: a resumed run that sees other data than the one that was interrupted.
  Loader whole(Numbers{50}, {.batch = 7, .workers = 1});
  Delivered expected;
  for (int b = 0; b < 30; ++b) {
    const auto batch = whole.next();
    if (b >= 11) append(expected, *batch);
    if (b == 10) CHECK(whole.cursor() == Cursor{1, 21});
  }
  Loader resumed(Numbers{50}, {.batch = 7, .workers = 2, .start = {1, 21}});
  Delivered delivered;
  for (int b = 11; b < 30; ++b) append(delivered, *resumed.next());
  CHECK(delivered == expected);
}

TEST_CASE("Another batch size goes on with the same samples", "[loader]") {
  // Bug: a cursor in batches, with which a larger batch repeats or leaves out samples.
  Loader before(Numbers{50}, {.batch = 7, .workers = 1, .order = {.seed = 3}});
  Delivered expected = drain_epochs(before, 2);
  for (const int batch : {1, 4, 13, 50}) {
    before.restart({});
    Delivered delivered;
    for (int b = 0; b < 3; ++b) append(delivered, *before.next());
    Loader after(Numbers{50}, {.batch = batch,
                               .workers = 2,
                               .order = {.seed = 3},
                               .epochs = 2,
                               .start = before.cursor()});
    std::size_t last_index = 0;
    while (const auto next = after.next()) {
      append(delivered, *next);
      if (next->epoch() == 0) last_index = next->index();
    }
    CHECK(delivered == expected);
    CHECK(last_index == after.batches_per_epoch() - 1);
  }
}

TEST_CASE("A cursor behind the last whole batch begins the next epoch", "[loader]") {
  // Bug: an empty batch where the rest of an epoch is dropped.
  Loader loader(Numbers{10}, {.batch = 4, .order = {.drop_last = true}, .start = {2, 7}});
  const auto batch = loader.next();
  CHECK(batch->epoch() == 3);
  CHECK(batch->index() == 0);
  CHECK_THROWS_AS(Loader(Numbers{10}, {.start = {0, 11}}), Error);
}

TEST_CASE("A loader refuses to begin behind its last epoch", "[loader]") {
  // Bug: a loader of one epoch that validates in each, and gives nothing from the second on.
  Loader loader(Numbers{20}, {.batch = 4, .epochs = 2});
  Delivered last;
  for (const auto& batch : loader.restart({.epoch = 1})) append(last, batch);
  CHECK(last.labels.size() == 20);
  CHECK_THROWS_WITH(loader.restart({.epoch = 2}),
                    ContainsSubstring("2 epochs can't begin epoch 2"));
}

TEST_CASE("A loader begins an epoch again, or another one", "[loader]") {
  // Bug: a restart that keeps batches of before, or the wrong order.
  for (const int workers : {0, 2}) {
    Loader loader(Numbers{20}, {.batch = 4, .workers = workers});
    const Delivered first = drain_epochs(loader, 1);
    drain_epochs(loader, 1);
    const Delivered third = drain_epochs(loader, 1);
    loader.next();
    loader.resize(workers + 1);
    Delivered again;
    for (const auto& batch : loader.restart({.epoch = 2})) append(again, batch);
    CHECK(again == third);
    CHECK(loader.workers() == workers + 1);
    CHECK(loader.cursor() == Cursor{3, 0});
    loader.restart({});
    CHECK(drain_epochs(loader, 1) == first);
    const auto held = loader.next();
    CHECK_THROWS_AS(loader.restart({}), Error);
  }
}

TEST_CASE("A loader moves, with its threads and what it has loaded", "[loader]") {
  // Bug: a loader that can't be returned from a function or kept in a vector.
  Loader expected(Numbers{40}, {.batch = 4});
  Delivered delivered, wanted = drain_epochs(expected, 1);
  Loader first(Numbers{40}, {.batch = 4, .workers = 2});
  for (int b = 0; b < 3; ++b) append(delivered, *first.next());
  std::vector<Loader> kept;
  kept.push_back(std::move(first));
  kept.emplace_back(Numbers{40}, LoaderOptions{.batch = 4, .workers = 3});
  const std::optional<Lease> lease = kept[0].next();
  append(delivered, *lease);
  kept[1] = std::move(kept[0]);
  kept.erase(kept.begin());
  for (int b = 4; b < 10; ++b) append(delivered, *kept[0].next());
  CHECK(delivered == wanted);
  CHECK(kept[0].workers() == 2);
}

TEST_CASE("After a short batch the labels are -1", "[loader]") {
  // Bug: a tail that keeps labels of an earlier batch, on which a step of fixed size would train.
  Loader loader(Numbers{10}, {.batch = 8, .order = {.shuffle = false}});
  CHECK(loader.next()->count() == 8);
  const auto last = loader.next();
  REQUIRE(last->count() == 2);
  CHECK(last->last());
  const std::int32_t* labels = last->get<std::int32_t>("label").data();
  for (std::size_t i = 2; i < last->capacity(); ++i) CHECK(labels[i] == -1);
}

TEST_CASE("After the last epoch there is no batch", "[loader]") {
  // Bug: a loop that never ends, or workers that fill beyond the end.
  for (int workers : {0, 2}) {
    Loader loader(Numbers{10}, {.batch = 4, .workers = workers, .epochs = 2});
    for (int b = 0; b < 6; ++b) CHECK(loader.next());
    CHECK_FALSE(loader.next());
    CHECK_FALSE(loader.next());
    CHECK(loader.counters().samples == 20);
    CHECK(loader.counters().filled == 20);
  }
}

TEST_CASE("The number of workers changes at any batch without changing what comes", "[loader]") {
  // Bug: a resize that loses or repeats a ticket, or that waits for a worker.
  Loader reference(Numbers{97}, {.batch = 4});
  const Delivered expected = drain_epochs(reference, 4);
  Loader loader(Numbers{97}, {.batch = 4, .workers = 1, .prefetch = 3});
  Delivered delivered;
  for (int b = 0; b < 4 * 25; ++b) {
    loader.resize((b * 7) % 6);
    append(delivered, *loader.next());
  }
  CHECK(delivered == expected);
  CHECK(loader.workers() == (99 * 7) % 6);
}

TEST_CASE("A batch that a worker has begun is waited for when no worker is wanted any more",
          "[loader]") {
  // Bug: without workers the caller fills what is left, and takes a batch that is half written.
  testing::Gate gate;
  const auto stop_at_three = [&](std::size_t i) {
    if (i == 3) gate.wait();
  };
  Loader loader(Numbers{8, stop_at_three},
                {.batch = 4, .workers = 1, .order = {.shuffle = false}, .run_length = 1});
  gate.await(1);
  loader.resize(0);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  const auto batch = loader.next();
  opener.join();
  CHECK(batch->get<std::int32_t>("label")[3] == 3);
}

// ThreadSanitizer does not follow a fork of several threads.
#ifndef __SANITIZE_THREAD__
TEST_CASE("After fork() a loader says where its threads are, and ends at once", "[loader]") {
  // Bug: the child waits for threads that it does not have, for a minute, and then for their end.
  std::optional<Loader> loader(std::in_place, Numbers{10}, LoaderOptions{.batch = 4, .workers = 2});
  testing::check_after_fork(loader);
}

TEST_CASE("A loader without threads may start them after fork()", "[loader]") {
  // Bug: threads of the child's own that count as its parent's, and are never told to end.
  Loader loader(Numbers{40}, {.batch = 4});
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    loader.resize(2);
    int batches = 0;
    for (const auto& batch : loader.epoch()) batches += batch.count() == 4;
    ::_exit(batches != 10);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif

TEST_CASE("Automatic workers stay automatic, and as many, where a loader begins anew", "[loader]") {
  // Bug: a search that begins again in each epoch, or a number that is fixed from the second on.
  Loader resized(Numbers{40}, {.batch = 4});
  resized.resize(automatic);
  resized.restart({.epoch = 1});
  CHECK(resized.workers() > 0);
  LoaderOptions options{.batch = 4, .workers = automatic, .max_workers = 1};
  Loader loader(Numbers{40}, options);
  options.max_workers = 8;
  loader.reconfigure(options);
  CHECK(loader.workers() == 1);
}

TEST_CASE("Reconfiguring changes batch and prefetch and starts where it is told", "[loader]") {
  // Bug: slots of the old layout that leak into the new one.
  Loader loader(Numbers{97}, {.batch = 4, .workers = 3, .prefetch = 2});
  for (int b = 0; b < 5; ++b) loader.next();
  for (const int batch : {16, 1, 64, 5}) {
    const LoaderOptions options{.batch = batch, .workers = batch % 4, .prefetch = 1 + batch % 3};
    loader.reconfigure(options);
    Loader fresh(Numbers{97}, options);
    CHECK(drain_epochs(loader, 2) == drain_epochs(fresh, 2));
  }
}

TEST_CASE("All workers share a small batch", "[loader]") {
  // Bug: tickets of many small samples, of which most workers get none while data wait. Each
  // sample waits until as many as there are workers are being loaded at once.
  std::atomic<int> loading{0}, most{0};
  const auto wait_for_all = [&](std::size_t) {
    const int now = ++loading;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
    const double begin_s = SteadyClock{}.now_s();
    while (most < 32 && SteadyClock{}.now_s() < begin_s + 2) std::this_thread::yield();
    --loading;
  };
  Loader loader(Numbers{320, wait_for_all}, {.batch = 32, .workers = 32, .prefetch = 1});
  for (int b = 0; b < 10; ++b) CHECK(loader.next()->count() == 32);
  CHECK(most == 32);
}

TEST_CASE("A reconfiguration that is refused leaves the loader as it was", "[loader]") {
  // Bug: a loader that is closed for good after an option that made no sense.
  Loader loader(Numbers{97},
                {.batch = 4, .workers = 2, .prefetch = 2, .order = {.shuffle = false}});
  CHECK(loader.next()->index() == 0);
  CHECK_THROWS_AS(loader.reconfigure({.batch = 200, .order = {.drop_last = true}}), Error);
  CHECK(loader.workers() == 2);
  for (std::size_t b = 1; b < 10; ++b) CHECK(loader.next()->index() == b);
}

TEST_CASE("A loader with a leased batch refuses to be reconfigured", "[loader]") {
  // Bug: memory of a leased batch that is carved again under the consumer's hands.
  Loader loader(Numbers{97}, {.batch = 4, .workers = 2});
  const auto held = loader.next();
  CHECK_THROWS_AS(loader.reconfigure({.batch = 8}), Error);
}

TEST_CASE("With every slot leased the next batch is refused in a sentence", "[loader]") {
  // Bug: a deadlock when the consumer holds every slot.
  using Catch::Matchers::ContainsSubstring;
  Loader loader(Numbers{97}, {.batch = 4, .workers = 2, .prefetch = 1});
  std::vector<Lease> held;
  held.push_back(*loader.next());
  held.push_back(*loader.next());
  CHECK_THROWS_WITH(loader.next(), ContainsSubstring("All 2 slots"));
  held.clear();
  CHECK(loader.next());
}

TEST_CASE("Leases may end in any order, and after their loader", "[loader]") {
  // Bug: a slot that is handed out again before all earlier ones are back.
  std::optional<Lease> survivor;
  {
    Loader loader(Numbers{97}, {.batch = 4, .workers = 2, .prefetch = 3});
    for (int round = 0; round < 20; ++round) {
      std::vector<Lease> held;
      for (int b = 0; b < 3; ++b) held.push_back(*loader.next());
      CHECK(held[2].number() == held[0].number() + 2);
      std::rotate(held.begin(), held.begin() + round % 3, held.end());
    }
    survivor = loader.next();
  }
  CHECK(survivor->get<float>("x").size() == 8);
  CHECK(survivor->get<std::int32_t>("label")[0] >= 0);
}

TEST_CASE("After a loop that was left early the next one continues the epoch", "[loader]") {
  // Bug: a range that loses the batch on which a loop was left.
  Loader loader(Numbers{20}, {.batch = 4, .workers = 1});
  for (const auto& batch : loader.epoch()) {
    if (batch.index() == 1) break;
  }
  std::vector<std::size_t> rest;
  for (const auto& batch : loader.epoch()) rest.push_back(batch.index());
  CHECK(rest == std::vector<std::size_t>{2, 3, 4});
}

TEST_CASE("Invalid options and data are an error", "[loader]") {
  // Bug: options that reach the engine unchecked.
  CHECK_THROWS_AS(Loader(Numbers{10}, {.batch = 0}), Error);
  CHECK_THROWS_AS(Loader(Numbers{10}, {.workers = -2}), Error);
  CHECK_THROWS_AS(Loader(Numbers{10}, {.max_workers = -1}), Error);
  CHECK_THROWS_AS(Loader(Numbers{10}, {.stall_s = 0}), Error);
  CHECK_THROWS_AS(Loader(Numbers{0}, {}), Error);
}

/// Samples of so many elements, which nobody loads.
struct Huge {
  Shape shape;
  std::size_t size() const { return 1000; }
  Layout layout() const { return {{"x", DType::f32, shape}}; }
  void load(std::size_t, const Sample&, Random&) const {}
};

TEST_CASE("Sizes beyond what can be counted are refused, and ends beyond it are none", "[loader]") {
  // Bug: a product that wraps to nothing, and samples that are written beside their slots.
  constexpr std::size_t large = std::size_t{1} << 32;
  CHECK_THROWS_WITH(Loader(Huge{{large, large}}, {}), ContainsSubstring("'x' has more elements"));
  CHECK_THROWS_WITH(Loader(Huge{{large, 1 << 20}}, {.batch = 1000}),
                    ContainsSubstring("A batch of 1000 samples does not fit"));
  Loader loader(Numbers{10}, {.batch = 5, .epochs = std::uint64_t{1} << 63});
  for (int batch = 0; batch < 5; ++batch) CHECK(loader.next());
  loader.add_epochs(std::uint64_t{1} << 62);
  CHECK(loader.next());
}

TEST_CASE("The counters add up", "[loader]") {
  // Bug: counters that miss what the caller or the workers did.
  for (int workers : {0, 2}) {
    Loader loader(Numbers{40}, {.batch = 8, .workers = workers, .epochs = 1});
    drain_epochs(loader, 1);
    const LoaderCounters counters = loader.counters();
    CHECK(counters.batches == 5);
    CHECK(counters.samples == 40);
    CHECK(counters.filled == 40);
    CHECK(counters.bytes == 40 * 12);
    CHECK((workers == 0) == (counters.fill_s == 0));
    CHECK((workers == 0) == (counters.caller_fill_s > 0));
  }
}

std::size_t descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

std::size_t threads() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

TEST_CASE("A loader that is destroyed at any moment leaves nothing behind", "[loader]") {
  // Bug: threads, descriptors or hangs left by a loader that is destroyed at a bad moment.
  const std::size_t threads_before = threads();
  const std::size_t descriptors_before = descriptors();
  for (int workers : {0, 1, 2, 8}) {
    for (int prefetch : {1, 4}) {
      for (int batches = 0; batches < 20; ++batches) {
        Loader loader(Numbers{97}, {.batch = 4, .workers = workers, .prefetch = prefetch});
        for (int b = 0; b < batches; ++b) loader.next();
      }
    }
  }
  CHECK(threads() == threads_before);
  CHECK(descriptors() == descriptors_before);
}

TEST_CASE("Time counts as quiet by what waits asked for, until a sample is finished", "[loader]") {
  // Bug: training that ends with an error after Ctrl-Z and fg, or `docker pause`: the clock ran on.
  detail::QuietTime quiet;
  quiet.add(3600, 0.2, 0);
  CHECK_FALSE(quiet.reaches(1));
  for (int wait = 0; wait < 4; ++wait) quiet.add(0.2001, 0.2, 0);
  CHECK(quiet.reaches(1));
  quiet.add(0.2, 0.2, 1);
  CHECK_FALSE(quiet.reaches(0.1));
  quiet.add(5, -1, 1);
  quiet.add(0.05, 0.2, 1);
  CHECK_FALSE(quiet.reaches(0.06));
  quiet.end();
  CHECK_FALSE(quiet.reaches(0.01));
}

TEST_CASE("A loader runs as a config says", "[loader]") {
  // Bug: an axis that is swept, and never reaches the loader.
  const auto options =
      loader_options({.workers = 3, .prefetch = 2, .batch = 20, .run_length = 5}, {.seed = 7}, 4);
  CHECK(options == LoaderOptions{.batch = 20,
                                 .workers = 3,
                                 .prefetch = 2,
                                 .order = {.seed = 7},
                                 .max_skips = 4,
                                 .run_length = 5});
}

TEST_CASE("A million samples pass through many workers", "[loader]") {
  // Bug: a race in tickets, slots or leases; meant for ThreadSanitizer.
  Loader loader(Numbers{100'000}, {.batch = 250, .workers = 8, .prefetch = 4, .run_length = 50});
  double sum = 0;
  for (int b = 0; b < 4'000; ++b) {
    const auto batch = loader.next();
    for (const std::int32_t label : batch->get<std::int32_t>("label")) sum += label;
  }
  CHECK(sum == 10.0 * 99'999 * 100'000 / 2);
}

}  // namespace
}  // namespace feedrate::loader_tests
