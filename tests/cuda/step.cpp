// SPDX-License-Identifier: Apache-2.0
// Tests of the step on the GPU, on the stand-in: its results are those of the step on the CPU.
#include "feedrate/cuda/train/step.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <vector>

#include "device_toys.hpp"
#include "feedrate/cuda/check.hpp"
#include "feedrate/cuda/train/blas.hpp"
#include "feedrate/train/cpu/cpu_step.hpp"
#include "feedrate/train/zoo.hpp"
#include "harness.hpp"
#include "standin.hpp"

namespace feedrate::step_tests {
using namespace feedrate::test;
using Catch::Matchers::ContainsSubstring;
using feedrate::testing::start_device_for_steps;

namespace {

/// For parameters after one step.
double bound_of(Precision precision) {
  if (precision == Precision::fp32) return 1e-5;
  return precision == Precision::tf32 ? 1e-3 : 1e-2;
}

}  // namespace

TEST_CASE("A step on the GPU moves parameters as one on the CPU, for every kind of layer") {
  // Bug: any wrong body, product, chunk or place. With and without fused epilogues, in both orders
  // of work. Parameters of order 1 round the gradient to 6e-8 of them, as on the CPU.
  const bool refuse = GENERATE(false, true);
  const auto schedule = GENERATE(standin::lazy, standin::eager);
  start_device_for_steps(schedule);
  standin::refuses_epilogues = refuse;
  for (const ModelSpec& model : models_of_each_kind()) {
    CAPTURE(model.layers.size(), model.input[0]);
    CHECK(gradient_distance(model, Precision::fp32, 5, 5) < 2e-5);
    CHECK(gradient_distance(model, Precision::fp32, 7, 3) < 2e-5);
  }
}

TEST_CASE("Each precision follows fp32 within what it resolves, for every kind of layer") {
  // Bug: a sum that is rounded at every addition, or an operand of the wrong type.
  start_device_for_steps();
  const Precision precision =
      GENERATE(Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16);
  for (const ModelSpec& model : models_of_each_kind()) {
    CAPTURE(name_of(precision), model.layers.size(), model.input[0]);
    CHECK(gradient_distance(model, precision, 5, 5, 3) < gradient_bound_of(precision));
  }
}

TEST_CASE("Every model of the zoo takes the same step as on the CPU, in every precision",
          "[numbers]") {
  // Bug: a shape of a real workload that no toy has.
  start_device_for_steps();
  const Precision precision =
      GENERATE(Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16);
  for (std::string_view name : zoo_names) {
    const ModelSpec model = zoo_model(name);
    CpuStep<float> cpu(model, sgd(0.01f, 0.9f), 3, 2, 3);
    StreamStep gpu(model, sgd(0.01f, 0.9f), precision, 5);
    ToyBatch batch(model, 3);
    cpu.run(batch.view(), batch.labels);
    gpu.run(batch);
    CAPTURE(name, name_of(precision));
    CHECK(distance(gpu.parameters(), saved(cpu)) < bound_of(precision));
    CHECK(std::abs(gpu.step->loss() - cpu.loss()) < 0.02 * cpu.loss());
    CHECK(gradient_distance(model, precision, 5, 3) < zoo_gradient_bound_of(precision));
  }
}

TEST_CASE("Columns that are made in several chunks give the same gradient", "[numbers]") {
  // Bug: the second chunk overwrites the first one's gradient. An image has 2.4 MB of columns in
  // fp32: 1, 7 or 18 are made at a time.
  start_device_for_steps(GENERATE(standin::lazy, standin::eager));
  standin::set_l2_bytes(GENERATE(6u, 50u, 126u) << 20);
  const ModelSpec model =
      with_layers({64, 64, 16}, {Conv2d{.out = 2, .padding = 1}, Relu{}, Conv2d{.out = 8},
                                 MaxPool{.kernel = 4, .stride = 4}, Flatten{}, Linear{3}});
  CHECK(gradient_distance(model, Precision::fp32, 22, 20) < 2e-5);
}

TEST_CASE("Columns take a third of the L2 cache that the GPU reports, whatever the batch") {
  // Bug: columns that exceed the cache from which their product is to read them.
  start_device_for_steps();
  const ModelSpec model =
      with_layers({64, 64, 16}, {Conv2d{.out = 2, .padding = 1}, Flatten{}, Linear{3}});
  constexpr std::size_t image = 64 * 64 * 9 * 16 * sizeof(float);
  const auto bytes = [&](std::size_t l2_mib, std::size_t batch) {
    standin::set_l2_bytes(l2_mib << 20);
    return cuda::cuda_step_bytes(model, sgd(0.1f), Precision::fp32, batch);
  };
  for (const std::size_t batch : {100, 1000}) {
    CHECK(bytes(50, batch) - bytes(6, batch) == 6 * image);
    CHECK(bytes(126, batch) - bytes(50, batch) == 11 * image);
  }
  CHECK(bytes(126, 5) == bytes(50, 5));
}

TEST_CASE("Optimizers, accumulation and decay give what they give on the CPU") {
  // Bug: a momentum of the padding, a mean that is a sum, Adam's step counted per batch.
  start_device_for_steps();
  OptimizerSpec momentum = sgd(0.1f, 0.9f), slow = adam(0.01f);
  momentum.weight_decay = 0.01f;
  momentum.accumulate = 3;
  slow.weight_decay = 0.02f;
  OptimizerSpec twice = adam(0.01f);
  twice.accumulate = 2;
  for (const OptimizerSpec& optimizer : {sgd(0.1f), momentum, slow, twice}) {
    CpuStep<float> cpu(toy_cnn(), optimizer, 6, 1, 3);
    StreamStep gpu(toy_cnn(), optimizer, Precision::fp32, 6);
    for (std::size_t i = 0; i < 7; ++i) {
      ToyBatch batch(toy_cnn(), 1 + i % 6, i);
      cpu.run(batch.view(), batch.labels);
      gpu.run(batch);
      REQUIRE(std::abs(gpu.step->loss() - cpu.loss()) < 2e-5);
    }
    CHECK(distance(gpu.parameters(), saved(cpu)) < 1e-5);
  }
}

TEST_CASE("A gradient that is longer than allowed is shortened to that") {
  // Bug: each element is cut on its own, or the loss scale is part of the length.
  start_device_for_steps();
  const Precision precision = GENERATE(Precision::fp32, Precision::fp16);
  ToyBatch batch(toy_cnn(), 4);
  StreamStep free(toy_cnn(), sgd(1.0f), precision, 4);
  const std::vector<float> start = free.parameters();
  free.run(batch);
  const std::vector<float> gradient = moved(start, free.parameters());
  double norm = 0;
  for (float g : gradient) norm += double{g} * double{g};
  norm = std::sqrt(norm);
  for (double share : {0.25, 4.0}) {
    StreamStep clipped(toy_cnn(), sgd(1.0f), precision, 4,
                       {.clip_norm = static_cast<float>(share * norm)});
    clipped.run(batch);
    std::vector<float> expected = gradient;
    for (float& g : expected) g *= static_cast<float>(std::min(share, 1.0));
    CHECK(distance(moved(start, clipped.parameters()), expected) < 1e-4);
  }
}

TEST_CASE("A batch of ignored samples changes nothing, and one of u8 is that of its values / 255") {
  // Bug: 0 / 0 spreads NaN, or bytes are read as they are.
  start_device_for_steps();
  StreamStep gpu(toy_cnn(), sgd(0.5f, 0.9f), Precision::fp16, 3);
  const std::vector<float> start = gpu.parameters();
  ToyBatch batch(toy_cnn(), 3);
  std::ranges::fill(batch.labels, -1);
  gpu.run(batch);
  CHECK(gpu.step->loss() == 0);
  CHECK(gpu.parameters() == start);

  std::vector<std::uint8_t> bytes(batch.images.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 7);
    batch.images[i] = static_cast<float>(bytes[i]) / 255.0f;
  }
  std::ranges::fill(batch.labels, 1);
  StreamStep of_bytes(toy_cnn(), sgd(0.5f), Precision::fp32, 3);
  StreamStep of_floats(toy_cnn(), sgd(0.5f), Precision::fp32, 3);
  const TensorView view{bytes.data(), DType::u8, batch.shape};
  const DeviceBatch there(view, batch.labels, of_bytes.stream.handle());
  of_bytes.run(there);
  of_floats.run(batch);
  CHECK(distance(of_bytes.parameters(), of_floats.parameters()) < 1e-6);
}

TEST_CASE("Samples are cropped, mirrored and normalised on the GPU as the body does on the host") {
  // Bug: the step's number is not passed on, or the pitch of the margin is left out.
  start_device_for_steps();
  const ModelSpec model = with_layers({4, 5, 3}, {Flatten{}, Linear{2}});
  const ModelSpec larger = with_layers({6, 7, 3}, {Flatten{}, Linear{2}});
  cuda::StepOptions options;
  options.preprocess = {.margin = 2, .flip = true, .scale = {2, 3, 4, 1}, .shift = {1, 0, -1, 0}};
  StreamStep gpu(model, sgd(1.0f), Precision::fp32, 4, options, 9);
  CpuStep<float> cpu(model, sgd(1.0f), 4, 1, 9);
  for (std::uint64_t step = 0; step < 3; ++step) {
    ToyBatch sent(larger, 4, step), read(model, 4, step);
    const PrepareSamples<float, float> body(options.preprocess, {4, 5, 3}, 9, step,
                                            sent.images.data(), read.images.data());
    Cpu{}.for_rows(4 * 4, body);
    read.labels = sent.labels;
    gpu.run(sent);
    cpu.run(read.view(), read.labels);
    REQUIRE(distance(gpu.parameters(), saved(cpu)) < 1e-5);
  }
}

TEST_CASE("The bytes that a step takes are known before, and it can't be made for too many") {
  // Bug: a size that was forgotten in advance, or rows that no index can count.
  start_device_for_steps();
  for (Precision precision : precisions) {
    for (const ModelSpec& model : {toy_cnn(), zoo::small_images(), zoo::tabular()}) {
      const std::size_t before = standin::living().device_bytes;
      StreamStep gpu(model, adam(), precision, 9);
      const std::size_t bytes = cuda::cuda_step_bytes(model, adam(), precision, 9);
      CHECK(gpu.step->memory_bytes() == bytes);
      CHECK(standin::living().device_bytes - before == bytes);
    }
  }
  CHECK_THROWS_WITH(cuda::cuda_step_bytes(zoo::images(), adam(), Precision::bf16, 100000),
                    ContainsSubstring("batches of up to"));
  CHECK_THROWS_AS(cuda::cuda_step_bytes(toy_cnn(), adam(), Precision::bf16, 0), Error);
  // 2^31 - 1 rows, of which an image has 224 x 224.
  CHECK(cuda::largest_cuda_batch(zoo::images()) == 42'799);
  CHECK_NOTHROW(cuda::cuda_step_bytes(zoo::images(), adam(), Precision::bf16, 42'799));
  CHECK_THROWS_WITH(cuda::cuda_step_bytes(zoo::images(), adam(), Precision::bf16, 42'800),
                    ContainsSubstring("batches of up to 42799 samples"));
}

TEST_CASE("A batch that does not fit the step is refused in a sentence") {
  // Bug: the step reads past the end of the samples.
  start_device_for_steps();
  StreamStep gpu(toy_cnn(), sgd(0.1f), Precision::fp32, 4);
  ToyBatch batch(toy_cnn(), 5);
  CHECK_THROWS_WITH(gpu.run(batch), ContainsSubstring("made for 1 to 4"));
  std::vector<float> wrong(gpu.step->parameter_count() + 1);
  CHECK_THROWS_AS(gpu.step->save(wrong), Error);
  CHECK_THROWS_AS(gpu.step->load(wrong), Error);
  CHECK_THROWS_WITH(
      cuda::make_cuda_step(toy_cnn(), sgd(0.1f), Precision::fp32, 4, nullptr, 0, {.graph = true}),
      ContainsSubstring("stream of its own"));
}

}  // namespace feedrate::step_tests
