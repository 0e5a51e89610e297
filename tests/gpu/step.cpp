// SPDX-License-Identifier: Apache-2.0
// Tests of the step on a GPU: each precision against the step on the CPU.
#include "feedrate/cuda/train/step.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <vector>

#include "../cuda/device_toys.hpp"
#include "feedrate/cuda/check.hpp"
#include "feedrate/train/cpu/cpu_step.hpp"
#include "feedrate/train/zoo.hpp"

using namespace feedrate;
using namespace feedrate::test;

namespace {

/// Relative, for parameters after a few steps.
double bound_of(Precision precision) {
  if (precision == Precision::fp32) return 1e-5;
  return precision == Precision::tf32 ? 1e-3 : 1e-2;
}

double distance_after_one(const ModelSpec& model, Precision precision, std::size_t batch,
                          std::size_t count, const cuda::StepOptions& options = {}) {
  ToyBatch samples(model, count);
  if (count > 2) samples.labels[1] = -1;
  CpuStep<float> cpu(model, sgd(0.01f, 0.9f), batch, 2, 3);
  StreamStep gpu(model, sgd(0.01f, 0.9f), precision, batch, options);
  cpu.run(samples.view(), samples.labels);
  gpu.run(samples);
  CHECK(std::abs(gpu.step->loss() / cpu.loss() - 1) < 2e-2);
  return distance(gpu.parameters(), saved(cpu));
}

}  // namespace

TEST_CASE("Toys of every kind of layer take the step that they take on the CPU") {
  // Bug: a kernel or a product that is wrong on a real GPU alone.
  for (Precision precision : precisions) {
    for (const ModelSpec& model : models_of_each_kind()) {
      CAPTURE(name_of(precision), model.input[0], model.layers.size());
      CHECK(distance_after_one(model, precision, 9, 9) < bound_of(precision));
      CHECK(distance_after_one(model, precision, 37, 13) < bound_of(precision));
      CHECK(gradient_distance(model, precision, 9, 9, 9) < gradient_bound_of(precision));
    }
  }
}

TEST_CASE("The models of the zoo take the step that they take on the CPU") {
  // Bug: shapes of real workloads: many rows, chunks of columns, wide layers.
  for (Precision precision : precisions) {
    for (std::string_view name : zoo_names) {
      CAPTURE(name, name_of(precision));
      CHECK(distance_after_one(zoo_model(name), precision, 33, 31) < bound_of(precision));
      CHECK(gradient_distance(zoo_model(name), precision, 5, 3, 3) <
            zoo_gradient_bound_of(precision));
    }
  }
}

TEST_CASE("A gradient is right where columns are made in several chunks") {
  // Bug: the second chunk overwrites the first one's gradient, or its columns too early.
  const ModelSpec model = with_layers(
      {64, 64, 16}, {Conv2d{.out = 8, .padding = 1}, Relu{}, Conv2d{.out = 8, .padding = 1},
                     MaxPool{.kernel = 8, .stride = 8}, Flatten{}, Linear{3}});
  for (Precision precision : {Precision::fp32, Precision::bf16}) {
    CHECK(distance_after_one(model, precision, 160, 157) < bound_of(precision));
  }
}

TEST_CASE("The loss of a set that can be learnt goes down on the GPU, with graphs and without") {
  // Bug: stale weights, or a recording that holds what should change.
  const bool graph = GENERATE(false, true);
  ToyBatch batch = learnable(24);
  for (Precision precision : precisions) {
    for (const OptimizerSpec& optimizer : {sgd(0.1f, 0.9f), adam(0.02f)}) {
      StreamStep gpu(toy_cnn(), optimizer, precision, 24, {.graph = graph});
      const DeviceBatch there(batch, gpu.stream.handle());
      for (int i = 0; i < 120; ++i) gpu.run(there);
      CAPTURE(name_of(precision));
      CHECK(gpu.step->loss() < 0.05);
    }
  }
}

TEST_CASE("On the GPU, a recorded step gives the same bits as one that is queued each time") {
  // Bug: a reduction whose order changes, or an algorithm that was chosen again.
  OptimizerSpec accumulating = adam(0.01f);
  accumulating.accumulate = 3;
  for (Precision precision : precisions) {
    for (const OptimizerSpec& optimizer : {sgd(0.1f, 0.9f), adam(0.01f), accumulating}) {
      CHECK(after_some(precision, optimizer, {.graph = true, .clip_norm = 5}) ==
            after_some(precision, optimizer, {.graph = false, .clip_norm = 5}));
    }
  }
}

TEST_CASE("An overflow in fp16 is recovered from on the GPU") {
  // Bug: infinities that reach the parameters.
  ToyBatch batch = learnable(24);
  StreamStep gpu(toy_cnn(), adam(0.02f), Precision::fp16, 24,
                 {.graph = GENERATE(false, true), .first_loss_scale = 16777216.0f});
  const DeviceBatch there(batch, gpu.stream.handle());
  const std::vector<float> start = gpu.parameters();
  gpu.run(there);
  CHECK(gpu.parameters() == start);
  for (int i = 0; i < 140; ++i) gpu.run(there);
  CHECK(gpu.step->loss() < 0.05);
}

/// 2^40 parameters take 4 TiB, and their gradient as much: more than any card has.
ModelSpec too_large_for_any_card() {
  constexpr std::size_t features = std::size_t{1} << 20;
  return with_layers({features}, {Linear{features}});
}

TEST_CASE("A wrong label is reported by the GPU, and too large a step leaves the GPU usable") {
  // Bug: an illegal address, which loses the context for the whole process.
  StreamStep gpu(toy_cnn(), adam(), Precision::bf16, 4);
  ToyBatch good(toy_cnn(), 4), bad(toy_cnn(), 4);
  bad.labels[2] = 1 << 30;
  const DeviceBatch there(good, gpu.stream.handle()), wrong(bad, gpu.stream.handle());
  gpu.run(wrong);
  CHECK_THROWS_AS(gpu.step->synchronize(), Error);
  CHECK_THROWS_AS(StreamStep(too_large_for_any_card(), sgd(0.1f), Precision::fp32, 1),
                  cuda::OutOfMemory);
  gpu.run(there);
  CHECK(gpu.step->loss() > 0);
}
