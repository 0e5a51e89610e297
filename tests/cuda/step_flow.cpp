// SPDX-License-Identifier: Apache-2.0
// Tests of how the step on the GPU goes on from batch to batch, on the stand-in: graphs, overflows,
// wrong labels, lack of memory, and that it waits for nothing.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <vector>

#include "device_toys.hpp"
#include "feedrate/core/half.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/cuda/check.hpp"
#include "feedrate/cuda/train/step.cuh"
#include "feedrate/train/cpu/cpu_step.hpp"
#include "feedrate/train/zoo.hpp"
#include "harness.hpp"
#include "standin.hpp"

namespace feedrate::step_flow_tests {
using namespace feedrate::test;
using Catch::Matchers::ContainsSubstring;
using feedrate::testing::start_device_for_steps;

namespace {

using HalfStep = cuda::CudaStep<Float16>;

const StepState& state_of(StreamStep& gpu, StepState& state) {
  return state = dynamic_cast<HalfStep&>(*gpu.step).read_state();
}

}  // namespace

TEST_CASE("The loss of a set that can be learnt goes down in every precision", "[numbers]") {
  // Bug: gradients that are right at the start but stale or of the wrong sign later.
  start_device_for_steps(GENERATE(standin::lazy, standin::eager));
  ToyBatch batch = learnable(24);
  for (Precision precision : precisions) {
    for (const OptimizerSpec& optimizer : {sgd(0.1f, 0.9f), adam(0.02f)}) {
      StreamStep gpu(toy_cnn(), optimizer, precision, 24);
      const DeviceBatch there(batch, gpu.stream.handle());
      for (int i = 0; i < 120; ++i) gpu.run(there);
      CAPTURE(name_of(precision));
      CHECK(gpu.step->loss() < 0.05);
    }
  }
}

TEST_CASE("With graphs and without, the parameters are the same to the last bit") {
  // Bug: a recording holds the learning rate, Adam's time or the size of its first batch.
  const auto schedule = GENERATE(standin::lazy, standin::eager, standin::random(1));
  start_device_for_steps(schedule);
  OptimizerSpec accumulating = adam(0.01f);
  accumulating.accumulate = 3;
  for (Precision precision : precisions) {
    for (const OptimizerSpec& optimizer : {sgd(0.1f, 0.9f), adam(0.01f), accumulating}) {
      CHECK(after_some(precision, optimizer, {.graph = true}) ==
            after_some(precision, optimizer, {.graph = false}));
    }
  }
}

TEST_CASE("Orders of work that are all legal give the same parameters") {
  // Bug: a kernel that relies on one that was queued on another stream or not at all.
  std::vector<std::vector<float>> ends;
  for (const auto& schedule : {standin::lazy, standin::eager, standin::random(7)}) {
    start_device_for_steps(schedule);
    ends.push_back(after_some(Precision::bf16, adam(0.01f), {.graph = true}));
    CHECK(standin::complaints().empty());
  }
  CHECK(ends[0] == ends[1]);
  CHECK(ends[0] == ends[2]);
}

TEST_CASE("A running step waits for nothing and allocates nothing on the GPU") {
  // Bug: a scalar that is read back in each step, which stops the queue.
  start_device_for_steps();
  for (bool graph : {false, true}) {
    for (Precision precision : precisions) {
      StreamStep gpu(toy_cnn(), adam(), precision, 6, {.graph = graph, .clip_norm = 1});
      ToyBatch batch(toy_cnn(), 6);
      const DeviceBatch there(batch, gpu.stream.handle());
      const standin::Counts before = standin::counts();
      const std::size_t memory = standin::living().device_bytes;
      for (int i = 0; i < 4; ++i) gpu.run(there);
      CHECK(standin::counts().host_blocking == before.host_blocking);
      CHECK(standin::counts().copies == before.copies);
      CHECK(standin::living().device_bytes == memory);
    }
  }
}

TEST_CASE("A recorded step is three launches: preprocessing, labels, graph") {
  // Bug: a graph per kernel, or a step that is recorded again each time.
  start_device_for_steps();
  StreamStep gpu(toy_cnn(), adam(), Precision::bf16, 6, {.graph = true});
  ToyBatch batch(toy_cnn(), 6);
  const DeviceBatch there(batch, gpu.stream.handle());
  for (int i = 0; i < 2; ++i) gpu.run(there);
  const std::uint64_t before = standin::counts().launches;
  for (int i = 0; i < 5; ++i) gpu.run(there);
  CHECK(standin::counts().launches - before == 5 * 3);
  CHECK(standin::calls_of("cudaGraphInstantiate") == 1);
}

TEST_CASE("A changed learning rate reaches all later updates, recorded or not") {
  // Bug: the rate of the recording, or one that lasts for a single update.
  const bool graph = GENERATE(false, true);
  start_device_for_steps(GENERATE(standin::lazy, standin::eager));
  for (const OptimizerSpec& optimizer : {sgd(0.1f), sgd(0.1f, 0.9f), adam(0.01f)}) {
    CpuStep<float> cpu(toy_cnn(), optimizer, 6, 1, 3);
    StreamStep gpu(toy_cnn(), optimizer, Precision::fp32, 6, {.graph = graph, .clip_norm = 100});
    ToyBatch batch(toy_cnn(), 6);
    for (const float rate : {0.1f, 0.02f, 0.004f}) {
      cpu.set_learning_rate(rate);
      gpu.step->set_learning_rate(rate);
      for (int i = 0; i < 3; ++i) {
        cpu.run(batch.view(), batch.labels);
        gpu.run(batch);
      }
    }
    CHECK(distance(gpu.parameters(), saved(cpu)) < 1e-4);
    const std::vector<float> before = gpu.parameters();
    gpu.step->set_learning_rate(0);
    gpu.run(batch);
    CHECK(gpu.parameters() == before);
    CHECK_THROWS_AS(gpu.step->set_learning_rate(-1), Error);
  }
}

TEST_CASE("A new step has not trained, although it ran to warm up") {
  // Bug: momentum, Adam's time or a loss scale from samples that nobody gave it.
  start_device_for_steps();
  OptimizerSpec accumulating = adam(0.01f);
  accumulating.accumulate = 3;
  for (const OptimizerSpec& optimizer : {sgd(0.1f, 0.9f), adam(), accumulating}) {
    StreamStep gpu(toy_cnn(), optimizer, Precision::fp16, 6, {.graph = true});
    CpuStep<float> cpu(toy_cnn(), optimizer, 6, 1, 3);
    StepState state;
    state_of(gpu, state);
    CHECK(gpu.parameters() == saved(cpu));
    CHECK(state.loss_scale == 65536.0f);
    CHECK((state.updates == 0 && state.refused == 0 && state.skipped == 0 && state.good == 0));
    CHECK_NOTHROW(gpu.step->synchronize());
  }
}

TEST_CASE(
    "An overflow in fp16 halves the loss scale, leaves the update out, and is recovered from") {
  // Bug: infinities reach the parameters, the scale falls for ever, or Adam's time goes on.
  const bool graph = GENERATE(false, true);
  start_device_for_steps();
  ToyBatch batch = learnable(24);
  StreamStep gpu(toy_cnn(), adam(0.02f), Precision::fp16, 24,
                 {.graph = graph, .first_loss_scale = 16777216.0f});
  const DeviceBatch there(batch, gpu.stream.handle());
  const std::vector<float> start = gpu.parameters();
  gpu.run(there);
  StepState state;
  CHECK(state_of(gpu, state).loss_scale == 8388608.0f);
  CHECK(state.skipped == 1);
  CHECK(state.updates == 0);
  CHECK(gpu.parameters() == start);
  for (int i = 0; i < 140; ++i) gpu.run(there);
  state_of(gpu, state);
  CHECK(state.skipped > 1);
  CHECK(state.updates + state.skipped == 141);
  CHECK(state.loss_scale < 8388608.0f);
  CHECK(gpu.step->loss() < 0.05);
}

TEST_CASE("A wrong label is reported once with its position, and nothing trains until then") {
  // Bug: it indexes past the scores, or is silently a sample less.
  const bool graph = GENERATE(false, true);
  start_device_for_steps();
  StreamStep gpu(toy_cnn(), adam(), Precision::fp32, 4, {.graph = graph});
  ToyBatch good(toy_cnn(), 4), bad(toy_cnn(), 4);
  bad.labels[2] = 3;
  bad.labels[3] = -2;
  const DeviceBatch there(good, gpu.stream.handle()), wrong(bad, gpu.stream.handle());
  for (int i = 0; i < 3; ++i) gpu.run(there);
  const std::vector<float> before = gpu.parameters();
  gpu.run(wrong);
  gpu.run(there);
  CHECK(gpu.parameters() == before);
  try {
    gpu.step->synchronize();
    FAIL("a wrong label was not told");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::data);
    CHECK_THAT(error.what(), ContainsSubstring("Sample 2") && ContainsSubstring("label 3"));
  }
  CHECK_NOTHROW(gpu.step->synchronize());
  gpu.run(wrong);
  CHECK_THROWS_AS(gpu.step->loss(), Error);
  gpu.run(there);
  CHECK_NOTHROW(gpu.step->loss());
  CHECK(gpu.parameters() != before);
}

TEST_CASE("A step without the memory for it says so, and the next one that fits works") {
  // Bug: the failed allocation is found by the next check, or half a step stays in memory.
  start_device_for_steps();
  const std::size_t bytes = cuda::cuda_step_bytes(toy_cnn(), adam(), Precision::fp32, 64);
  standin::set_memory_limit(bytes - 1);
  CHECK_THROWS_AS(StreamStep(toy_cnn(), adam(), Precision::fp32, 64), cuda::OutOfMemory);
  CHECK(standin::living().device_blocks == 0);
  StreamStep gpu(toy_cnn(), adam(), Precision::fp16, 4);
  ToyBatch batch(toy_cnn(), 4);
  gpu.run(batch);
  CHECK(gpu.step->loss() > 0);
}

TEST_CASE("A lost device is reported by the call that detects it") {
  // Bug: an endless wait, or a step that goes on as if nothing had been.
  start_device_for_steps();
  StreamStep gpu(toy_cnn(), adam(), Precision::fp32, 4);
  ToyBatch batch(toy_cnn(), 4);
  gpu.run(batch);
  const DeviceBatch there(batch, gpu.stream.handle());
  standin::lose_device();
  CHECK_THROWS_AS(gpu.run(there), cuda::DeviceLost);
  CHECK_THROWS_AS(gpu.step->synchronize(), cuda::DeviceLost);
}

}  // namespace feedrate::step_flow_tests
