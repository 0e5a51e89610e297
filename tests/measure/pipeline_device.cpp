// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../load/datasets.hpp"
#include "fake_device.hpp"
#include "feedrate/data/in_memory.hpp"
#include "feedrate/measure/pipeline.hpp"

namespace feedrate::pipeline_device_tests {
namespace {

using namespace std::chrono_literals;

/// 64 pictures of 16 bytes with a label each, on a device that counts.
struct Setup {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();

  Workload workload() const {
    Workload workload;
    workload.name = "bytes";
    workload.source =
        make_source(InMemory(64, {{"image", DType::u8, {4, 4, 1}}, {"label", DType::i32, {}}}));
    workload.pixels = "image";
    workload.device = device;
    return workload;
  }
};

constexpr RoundOptions three_batches{.seconds = 0, .max_batches = 3};

std::string text(const std::vector<char>& calls) {
  return {calls.begin(), calls.end()};
}

TEST_CASE("A coupled round uploads each batch and steps on it", "[pipeline]") {
  // Bug: a step on a batch that was not uploaded, or leases that outlive the round.
  Setup setup;
  Pipeline pipeline(setup.workload(), 8, CacheMode::warm);
  CHECK(pipeline.copies());
  const Round round = pipeline.coupled({.workers = 1, .prefetch = 2, .batch = 8}, three_batches);
  CHECK(round.samples == 24);
  CHECK(text(setup.device->calls) == "usfusususf");
  CHECK(setup.device->leased == 0);
}

TEST_CASE("A round that fails midway leaves no batch with the device", "[pipeline]") {
  // Bug: one unreadable sample, after which no later round of that loader can begin.
  Setup setup;
  Workload workload = setup.workload();
  std::atomic<bool> broken = true;
  workload.source = make_source(testing::Numbers{.samples = 64, .before = [&](std::size_t i) {
                                                   if (broken && i == 61) {
                                                     throw std::runtime_error("torn");
                                                   }
                                                 }});
  workload.pixels = "";
  Pipeline pipeline(workload, 8, CacheMode::warm);
  const Request request{
      Part::coupled, {.batch = 4}, {.seconds = 0, .min_batches = 40, .max_batches = 40}};
  CHECK_THROWS_AS(pipeline.run(request), SampleError);
  CHECK(setup.device->leased == 0);
  broken = false;
  CHECK(pipeline.run(request).batches == 40);
}

TEST_CASE("Threads that may load share the one batch of a step alone", "[pipeline]") {
  // Bug: 32,768 samples of 100 us, loaded by one thread of sixteen in a third of the budget; or a
  // second slot for a batch that hardly fits once.
  Setup setup;
  Workload workload = setup.workload();
  std::mutex mutex;  // a thread that rests behind the batch may still note itself
  std::set<std::thread::id> threads;
  workload.source = make_source(testing::Numbers{.samples = 64, .before = [&](std::size_t) {
                                                   std::this_thread::sleep_for(1ms);
                                                   const std::lock_guard lock(mutex);
                                                   threads.insert(std::this_thread::get_id());
                                                 }});
  workload.pixels = "";
  workload.loading_threads = 4;
  Pipeline pipeline(workload, 64, CacheMode::warm);
  workload.memory_bytes = pipeline.memory_bytes({.batch = 64});
  Pipeline tight(workload, 64, CacheMode::warm);
  for (const Part part : {Part::device, Part::copy}) {
    CHECK(tight.run({part, {.batch = 64}, three_batches}).samples == 192);
    const std::lock_guard lock(mutex);
    CHECK(threads.size() > 1);
    CHECK_FALSE(threads.contains(std::this_thread::get_id()));
    threads.clear();
  }
}

TEST_CASE("The copy and the device are measured alone", "[pipeline]") {
  // Bug: a copy ceiling that steps, or a device ceiling that copies.
  Setup setup;
  Pipeline pipeline(setup.workload(), 8, CacheMode::warm);
  CHECK(pipeline.run({Part::copy, {.batch = 8}, three_batches}).samples == 24);
  CHECK(text(setup.device->calls) == "ufuuuf");
  setup.device->calls.clear();
  CHECK(pipeline.run({Part::device, {.batch = 8}, three_batches}).samples == 24);
  CHECK(text(setup.device->calls) == "ufsfsssf");
}

TEST_CASE("Without the copy all steps are on one batch, and the others are still loaded",
          "[pipeline]") {
  // Bug: a what-if without the copy that copies, that loads nothing, or that keeps the batches.
  Setup setup;
  Pipeline pipeline(setup.workload(), 8, CacheMode::warm);
  const Config config{.workers = 1, .prefetch = 2, .batch = 8};
  const Request uncopied{Part::coupled, config, three_batches, Variant::uncopied};
  CHECK(pipeline.run(uncopied).samples == 24);
  CHECK(text(setup.device->calls) == "ufsfsssf");
  setup.device->calls.clear();
  CHECK(pipeline.run({Part::coupled, config, three_batches}).samples == 24);
  CHECK(text(setup.device->calls) == "usfusususf");
  Workload in_place = setup.workload();
  in_place.device = nullptr;
  CHECK_THROWS_WITH(Pipeline(in_place, 8, CacheMode::warm).run(uncopied),
                    "the device reads batches where they lie");
}

TEST_CASE("Pinned memory is set up once for all batches, and its failure is told", "[pipeline]") {
  // Bug: memory that is pinned again for each config, or a config called pinned that isn't.
  Setup setup;
  Pipeline pipeline(setup.workload(), 16, CacheMode::warm);
  const Config pinned{.workers = 1, .prefetch = 2, .pinned = true, .batch = 4};
  for (const int batch : {4, 16, 8}) {
    Config config = pinned;
    config.batch = batch;
    pipeline.coupled(config, three_batches);
  }
  CHECK(setup.device->slabs.size() == 1);
  Setup unlucky;
  unlucky.device->can_pin = false;
  Pipeline refused(unlucky.workload(), 16, CacheMode::warm);
  CHECK_THROWS_WITH(refused.coupled(pinned, three_batches),
                    "Page-locked memory is not available: too much is locked.");
  CHECK(refused.skips().empty());
  Config plain = pinned;
  plain.pinned = false;
  CHECK(refused.coupled(plain, three_batches).batches == 3);
}

TEST_CASE("All loaders together take no more memory than there is", "[pipeline]") {
  // Bug: a slab of every kind of batch, each within the limit, until the machine swaps.
  Setup setup;
  Workload workload = setup.workload();
  workload.memory_bytes = 32'000;
  Pipeline pipeline(workload, 16, CacheMode::warm);
  Config config{.workers = 1, .prefetch = 4, .pinned = true, .batch = 64};
  const std::size_t bytes = pipeline.memory_bytes(config);
  config.preprocess = Preprocess::host;
  REQUIRE(bytes + pipeline.memory_bytes(config) > 32'000);
  FakeDevice::most_pinned_bytes = FakeDevice::pinned_bytes;
  for (const Preprocess place : {Preprocess::device, Preprocess::host, Preprocess::device}) {
    config.preprocess = place;
    CHECK(pipeline.coupled(config, three_batches).batches == 3);
  }
  CHECK(setup.device->slabs.size() == 3);
  CHECK(FakeDevice::most_pinned_bytes <= 32'000);
}

TEST_CASE("What a larger batch needs first is no memory that others hold", "[pipeline]") {
  // Bug: room for the largest batch beside what is held already, beyond the limit.
  Setup setup;
  Workload workload = setup.workload();
  workload.memory_bytes = 12'288;
  Pipeline pipeline(workload, 8, CacheMode::warm);
  Config config{.workers = 1, .prefetch = 5, .pinned = true, .batch = 64};
  FakeDevice::most_pinned_bytes = FakeDevice::pinned_bytes;
  pipeline.coupled(config, three_batches);
  config = {
      .workers = 1, .prefetch = 1, .pinned = true, .preprocess = Preprocess::host, .batch = 1};
  pipeline.coupled(config, three_batches);
  CHECK(setup.device->slabs == std::vector<std::size_t>{10'240, 2048});
  CHECK(FakeDevice::most_pinned_bytes <= 12'288);
}

TEST_CASE("Skipped samples are still listed after their loader ended", "[pipeline]") {
  // Bug: a report that names no unreadable file, because a larger batch came later.
  Setup setup;
  std::atomic<bool> torn = true;
  Workload workload = setup.workload();
  workload.source = make_source(testing::Numbers{.samples = 64, .before = [&](std::size_t i) {
                                                   if (torn && i == 5)
                                                     throw std::runtime_error("torn");
                                                 }});
  workload.pixels = "";
  workload.max_skips = 1;
  Pipeline pipeline(workload, 4, CacheMode::warm);
  Config config{.workers = 1, .prefetch = 2, .pinned = true, .batch = 4};
  pipeline.coupled(config, {.seconds = 0, .min_batches = 20, .max_batches = 20});
  REQUIRE(pipeline.skips().size() == 1);
  torn = false;
  config.batch = 64;
  pipeline.coupled(config, three_batches);
  CHECK(setup.device->slabs.size() == 2);
  CHECK(pipeline.skips().size() == 1);
}

TEST_CASE("A round has the time to pin its memory", "[pipeline]") {
  // Bug: seconds of page-locking that no report shows.
  Setup setup;
  setup.device->pinning_s = 1.5;
  Pipeline pipeline(setup.workload(), 8, CacheMode::warm);
  const Config pinned{.workers = 1, .prefetch = 2, .pinned = true, .batch = 8};
  CHECK(pipeline.run({Part::coupled, pinned, three_batches}).slab_s == 1.5);
  CHECK(pipeline.run({Part::coupled, pinned, three_batches}).slab_s == 1.5);
  Config plain = pinned;
  plain.pinned = false;
  CHECK(pipeline.run({Part::coupled, plain, three_batches}).slab_s < 1.5);
}

TEST_CASE("Pixels that the workers turn into floats take four times the room", "[pipeline]") {
  // Bug: preprocess host that still sends bytes, or slots that are sized for them.
  Setup setup;
  Pipeline pipeline(setup.workload(), 8, CacheMode::warm);
  Config config{.workers = 1, .prefetch = 1, .batch = 8};
  pipeline.coupled(config, three_batches);
  config.preprocess = Preprocess::host;
  pipeline.coupled(config, three_batches);
  const std::size_t labels = 256;  // 8 labels, aligned
  CHECK(setup.device->slot_bytes.front() == 256 + labels);
  CHECK(setup.device->slot_bytes.back() == 512 + labels);
  CHECK(pipeline.memory_bytes(config) == 4 * (512 + labels));
}

TEST_CASE("A batch too large for the device fails alone", "[pipeline]") {
  // Bug: a config without memory that makes the next one fail.
  Setup setup;
  setup.device->most_batch = 8;
  Pipeline pipeline(setup.workload(), 32, CacheMode::warm);
  CHECK_THROWS_AS(pipeline.coupled({.batch = 32}, three_batches), Error);
  CHECK(pipeline.coupled({.batch = 8}, three_batches).batches == 3);
}

TEST_CASE("An epoch boundary is measured on an asynchronous device", "[pipeline]") {
  // Bug: an interval between two calls that only queue.
  Setup setup;
  Pipeline pipeline(setup.workload(), 8, CacheMode::warm);
  pipeline.epoch_boundary_s({.workers = 1, .prefetch = 2, .batch = 8});
  CHECK(text(setup.device->calls).substr(0, 6) == "usfusf");
}

}  // namespace
}  // namespace feedrate::pipeline_device_tests
