// SPDX-License-Identifier: Apache-2.0
#include "feedrate/measure/pipeline.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <set>
#include <vector>

#include "feedrate/data/in_memory.hpp"
#include "feedrate/measure/warm.hpp"

namespace feedrate::pipeline_tests {
namespace {

/// Remembers what was loaded, touched and evicted.
struct Observed {
  std::size_t samples = 400;
  std::shared_ptr<std::vector<std::size_t>> touched = std::make_shared<std::vector<std::size_t>>();
  std::shared_ptr<std::set<std::size_t>> evicted = std::make_shared<std::set<std::size_t>>();

  std::size_t size() const { return samples; }
  Layout layout() const { return {{"label", DType::i32, {}}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    sample.get<std::int32_t>(0)[0] = static_cast<std::int32_t>(i);
  }
  std::size_t touch(std::size_t i) const {
    touched->push_back(i);
    return 100;
  }
  bool evict(std::size_t i) const { return evicted->insert(i).second; }
};

struct Setup {
  Observed data;
  std::vector<int> made;            ///< batch sizes that steps were made for
  std::vector<std::size_t> counts;  ///< of the batches trained on
  std::set<std::int32_t> trained;   ///< labels

  Workload workload() {
    Workload workload;
    workload.name = "observed";
    workload.source = make_source(data);
    workload.step_bytes = [](const Config& config) { return 100 * std::size_t(config.batch); };
    workload.make_step = [this](const Config& config) -> TrainStep {
      if (config.batch > 100) throw Error(Fault::device, "No memory for so large a batch.");
      made.push_back(config.batch);
      return [this](const Batch& batch) {
        counts.push_back(batch.count());
        for (const auto label : batch.get<std::int32_t>("label")) trained.insert(label);
      };
    };
    return workload;
  }
};

constexpr RoundOptions three_batches{.seconds = 0, .max_batches = 3};

TEST_CASE("A step is made once per precision and threads, for the largest batch", "[pipeline]") {
  // Bug: a step made again for every config, whose set-up would count in the measurement.
  Setup setup;
  Pipeline pipeline(setup.workload(), 64, CacheMode::warm);
  for (const int batch : {8, 64, 16}) {
    const Round round =
        pipeline.coupled({.workers = 2, .prefetch = 2, .batch = batch}, three_batches);
    CHECK(round.samples == static_cast<std::uint64_t>(3 * batch));
  }
  CHECK(setup.made == std::vector{64});
  pipeline.coupled({.workers = 1, .prefetch = 1, .step_threads = 2, .batch = 8}, three_batches);
  CHECK(setup.made == std::vector{64, 64});
  CHECK(pipeline.memory_bytes({.batch = 8}) == 256 + 800);
}

TEST_CASE("Each part of a round's set-up counts as progress", "[pipeline]") {
  // Bug: a large step that is made, and data that are evicted, within the time of one batch.
  Setup setup;
  std::atomic<std::uint64_t> progress{0};
  std::vector<std::uint64_t> seen;
  Workload workload = setup.workload();
  workload.make_step = [&](const Config&) -> TrainStep {
    seen.push_back(progress);
    return [&](const Batch&) { seen.push_back(progress); };
  };
  Pipeline pipeline(workload, 8, CacheMode::cold);
  RoundOptions options = three_batches;
  options.progress = &progress;
  pipeline.run({Part::coupled, {.batch = 8}, options});
  // The step was made, the loader was started, the first batch was filled.
  CHECK(seen.at(1) == seen.at(0) + 3);
}

TEST_CASE("A batch too large for its step fails alone", "[pipeline]") {
  // Bug: one batch that is too large making all the others fail.
  Setup setup;
  Pipeline pipeline(setup.workload(), 128, CacheMode::warm);
  CHECK_THROWS_AS(pipeline.coupled({.batch = 128}, three_batches), Error);
  CHECK(pipeline.coupled({.batch = 32}, three_batches).samples == 96);
  CHECK(setup.made == std::vector{32});
}

TEST_CASE("A config whose batches exceed the free memory is refused in a sentence", "[pipeline]") {
  // Bug: slots for which the machine has no memory, touched until something is killed.
  Setup setup;
  Workload workload = setup.workload();
  workload.memory_bytes = 1000;
  Pipeline pipeline(workload, 64, CacheMode::warm);
  CHECK_THROWS_AS(pipeline.coupled({.workers = 1, .prefetch = 3, .batch = 64}, three_batches),
                  Error);
  CHECK(pipeline.coupled({.batch = 64}, three_batches).batches == 3);
}

TEST_CASE("The device alone trains on one batch again and again", "[pipeline]") {
  // Bug: a device ceiling that still pays for loading.
  Setup setup;
  Pipeline pipeline(setup.workload(), 16, CacheMode::warm);
  CHECK(pipeline.device_alone({.workers = 2, .prefetch = 2, .batch = 16}, three_batches).batches ==
        3);
  CHECK(setup.counts == std::vector<std::size_t>(4, 16));
  CHECK(setup.trained.size() == 16);
}

TEST_CASE("The loader alone runs no step", "[pipeline]") {
  // Bug: a loader ceiling that runs the step.
  Setup setup;
  Pipeline pipeline(setup.workload(), 16, CacheMode::warm);
  CHECK(pipeline.loader_alone({.workers = 1, .prefetch = 2, .batch = 16}, three_batches).samples ==
        48);
  CHECK(setup.counts.empty());
}

TEST_CASE("Cold rounds use samples that were evicted first, and not those of the last round",
          "[pipeline]") {
  // Bug: cold rounds that read what an earlier round has brought into the page cache.
  Setup setup;
  Pipeline pipeline(setup.workload(), 8, CacheMode::cold);
  pipeline.coupled({.batch = 8}, three_batches);
  const std::set<std::int32_t> first = setup.trained;
  setup.trained.clear();
  pipeline.coupled({.batch = 8}, three_batches);
  for (const std::int32_t label : setup.trained) {
    CHECK(setup.data.evicted->contains(static_cast<std::size_t>(label)));
    CHECK_FALSE(first.contains(label));
  }
}

TEST_CASE("The cost of an epoch boundary is measured across one", "[pipeline]") {
  // Bug: an epoch boundary that is never crossed, or a time below zero.
  Setup setup;
  Pipeline pipeline(setup.workload(), 8, CacheMode::warm);
  CHECK(pipeline.epoch_boundary_s({.workers = 1, .prefetch = 2, .batch = 8}) >= 0);
  CHECK(setup.counts.size() == 11);
}

TEST_CASE("Warming reads a fixed random part within its limit, and trials use that", "[warm]") {
  // Bug: a subset that is another one for each loader, or larger than what was read.
  Observed data;
  const auto part = warmed(make_source(data), {.bytes = 5'000, .seed = 3});
  REQUIRE(part->size() == 50);
  std::set<std::size_t> touched(data.touched->begin(), data.touched->end());
  Loader loader(part, {.batch = 50});
  const auto batch = loader.next();
  for (const std::int32_t label : batch->get<std::int32_t>("label")) {
    CHECK(touched.contains(static_cast<std::size_t>(label)));
  }
  CHECK(*touched.rbegin() > 200);
}

TEST_CASE("Warming reads as many samples as are needed, whatever its limits", "[warm]") {
  // Bug: a slow storage of which fewer samples were read than the batch has that was measured.
  Observed data;
  CHECK(warmed(make_source(data), {.bytes = 1, .seconds = 0, .least = 32})->size() == 32);
}

TEST_CASE("A part that is told is read as a whole, and nothing beyond it", "[warm]") {
  // Bug: after a reboot `check` read 10 s of what it measured, and the rest was cold.
  const Observed data;
  const WarmLimits told{.bytes = 1, .seconds = 0, .samples = 40};
  CHECK(warmed(make_source(data), told)->size() == 40);
  CHECK(data.touched->size() == 40);
}

TEST_CASE("Data in memory are already warm", "[warm]") {
  // Bug: data without storage that are cut to one sample because nothing could be touched.
  InMemory table(30, {{"label", DType::i32, {}}});
  CHECK(warmed(make_source(std::move(table)), {.bytes = 1})->size() == 30);
}

}  // namespace
}  // namespace feedrate::pipeline_tests
