// SPDX-License-Identifier: Apache-2.0
// Tests of the training step on the CPU: gradients, PyTorch's results, batches, threads, memory.
#include "feedrate/train/cpu/cpu_step.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <string>

#include "../../allocations.hpp"
#include "feedrate/core/half.hpp"
#include "feedrate/train/zoo.hpp"
#include "reference.hpp"
#include "toys.hpp"

namespace feedrate::cpu_step_tests {
using namespace feedrate::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The gradient that a step computes: what plain descent at a rate of 1 takes off.
std::vector<float> gradient_of(const ModelSpec& model, ToyBatch& batch, int threads) {
  CpuStep<float> step(model, sgd(1.0f), batch.labels.size(), threads, 3);
  std::vector<float> gradient = saved(step);
  step.run(batch.view(), batch.labels);
  const std::vector<float> after = saved(step);
  for (std::size_t i = 0; i < after.size(); ++i) gradient[i] -= after[i];
  return gradient;
}

/// Central differences of the reference in double.
std::vector<float> reference_gradient(const ModelSpec& model, const ToyBatch& batch) {
  CpuStep<float> step(model, sgd(1.0f), 1, 1, 3);
  const std::vector<float> start = saved(step);
  Numbers at(start.begin(), start.end());
  std::vector<float> gradient(at.size());
  constexpr double h = 1e-6;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double here = at[i];
    at[i] = here + h;
    const double above = reference_loss(model, at, batch.images, batch.labels);
    at[i] = here - h;
    const double below = reference_loss(model, at, batch.images, batch.labels);
    at[i] = here;
    gradient[i] = static_cast<float>((above - below) / (2 * h));
  }
  return gradient;
}

/// Named rows of numbers, as tests/fixtures/make_train_oracles.py writes them.
std::map<std::string, std::vector<float>> read_oracle(const std::string& name) {
  std::ifstream file(FEEDRATE_TEST_DATA "/train/" + name + ".txt");
  std::map<std::string, std::vector<float>> rows;
  std::size_t count = 0;
  for (std::string row; file >> row >> count;) {
    rows[row].resize(count);
    for (float& value : rows[row]) file >> value;
  }
  REQUIRE(rows.size() == 5);
  return rows;
}

/// The model of that script.
ModelSpec oracle_model() {
  return {"oracle",
          {9, 9, 2},
          {Conv2d{.out = 4, .padding = 1}, Relu{}, MaxPool{.kernel = 3, .stride = 2},
           Conv2d{.out = 6, .stride = 2, .padding = 1}, Relu{}, Flatten{}, Linear{8}, Relu{},
           Linear{3}}};
}

void run_oracle(const std::string& name, const OptimizerSpec& optimizer, int threads) {
  const auto oracle = read_oracle(name);
  const std::size_t steps = oracle.at("losses").size(), count = oracle.at("labels").size() / steps;
  CpuStep<float> step(oracle_model(), optimizer, count, threads);
  step.load(oracle.at("start"));
  ToyBatch batch(oracle_model(), count);
  for (std::size_t s = 0; s < steps; ++s) {
    std::copy_n(oracle.at("images").data() + s * batch.images.size(), batch.images.size(),
                batch.images.data());
    for (std::size_t i = 0; i < count; ++i) {
      batch.labels[i] = static_cast<std::int32_t>(oracle.at("labels")[s * count + i]);
    }
    step.run(batch.view(), batch.labels);
    REQUIRE(std::abs(step.loss() - double{oracle.at("losses")[s]}) < 2e-6);
  }
  REQUIRE(distance(saved(step), oracle.at("end")) < 2e-6);
}

/// Images whose class is the quarter with the brightest pixels.
void make_learnable(ToyBatch& batch) {
  Random random(5, 0, 0);
  const std::size_t pixels = batch.images.size() / batch.labels.size();
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    batch.labels[i] = static_cast<std::int32_t>(i % 3);
    for (std::size_t p = 0; p < pixels; ++p) {
      const bool bright = p * 3 / pixels == i % 3;
      batch.images[i * pixels + p] = random.uniform(0, bright ? 1.0f : 0.5f);
    }
  }
}

}  // namespace

TEST_CASE("The loss is that of the plain reference, for every kind of layer") {
  // Bug: a fused block computes something else than its layers, or a tile is cut wrongly.
  for (const ModelSpec& model : models_of_each_kind()) {
    CpuStep<float> step(model, sgd(0), 4, 1, 3);
    ToyBatch batch(model, 4);
    step.run(batch.view(), batch.labels);
    const std::vector<float> parameters = saved(step);
    const Numbers exact(parameters.begin(), parameters.end());
    const double expected = reference_loss(model, exact, batch.images, batch.labels);
    // A float sum of at most 200 terms below 1 errs by less than 200 x 2^-24 = 1.2e-5.
    REQUIRE(std::abs(step.loss() - expected) < 1.2e-5);
  }
}

TEST_CASE("The gradients are the central differences of the reference, for every kind of layer",
          "[numbers]") {
  // Bug: any wrong backward pass. Central differences in double err by h^2 and 1e-16 / h, about
  // 1e-10 each; taking the step at rate 1 rounds parameters of order 1 to 6e-8, against gradients
  // with norms of 0.1 and more.
  for (const ModelSpec& model : models_of_each_kind()) {
    ToyBatch batch(model, 4);
    batch.labels[1] = -1;
    const std::vector<float> expected = reference_gradient(model, batch);
    REQUIRE(distance(gradient_of(model, batch, 1), expected) < 2e-5);
    REQUIRE(distance(gradient_of(model, batch, 3), expected) < 2e-5);
  }
}

TEST_CASE("Losses and parameters over several steps are those that PyTorch computes") {
  // Bug: an optimizer that differs from PyTorch's in decay, bias correction or momentum.
  const int threads = GENERATE(1, 2);
  run_oracle("sgd", sgd(0.1f), threads);
  OptimizerSpec momentum = sgd(0.1f, 0.9f);
  momentum.weight_decay = 0.01f;
  run_oracle("sgd_momentum", momentum, threads);
  OptimizerSpec decayed = adam(0.01f);
  decayed.weight_decay = 0.01f;
  run_oracle("adam", decayed, threads);
}

TEST_CASE("A batch whose labels are all -1 has no loss and changes nothing") {
  // Bug: the mean over no samples is 0 / 0, and NaN spreads through all parameters.
  CpuStep<float> step(toy_cnn(), sgd(0.5f, 0.9f), 3, 2);
  ToyBatch batch(toy_cnn(), 3);
  std::ranges::fill(batch.labels, -1);
  const std::vector<float> before = saved(step);
  step.run(batch.view(), batch.labels);
  REQUIRE(step.loss() == 0);
  REQUIRE(saved(step) == before);
}

TEST_CASE("Samples labelled -1 count as if they were not there") {
  // Bug: the mean is taken over the whole batch, so a short last batch learns less.
  ToyBatch whole(toy_cnn(), 4), half(toy_cnn(), 2);
  std::copy_n(whole.images.begin(), half.images.size(), half.images.begin());
  std::copy_n(whole.labels.begin(), half.labels.size(), half.labels.begin());
  whole.labels[2] = whole.labels[3] = -1;
  REQUIRE(distance(gradient_of(toy_cnn(), whole, 1), gradient_of(toy_cnn(), half, 1)) < 1e-6);
}

TEST_CASE("Batches smaller than the largest give what a step made for them gives") {
  // Bug: shares of threads or chunks are computed from the largest batch.
  for (std::size_t count : {1, 2, 3, 5, 7}) {
    CpuStep<float> large(toy_cnn(), sgd(0.5f), 64, 2), exact(toy_cnn(), sgd(0.5f), count, 2);
    ToyBatch batch(toy_cnn(), count);
    large.run(batch.view(), batch.labels);
    exact.run(batch.view(), batch.labels);
    REQUIRE(large.loss() == exact.loss());
    REQUIRE(distance(saved(large), saved(exact)) < 1e-7);
  }
}

TEST_CASE("A model too large for one chunk of the cache learns the same as the reference says") {
  // Bug: gradients of all chunks but the last are lost, or a chunk reads another one's samples.
  const ModelSpec model = zoo::small_images();
  CpuStep<float> step(model, sgd(0), 61, 1);
  ToyBatch batch(model, 61);
  step.run(batch.view(), batch.labels);
  const std::vector<float> parameters = saved(step);
  const Numbers exact(parameters.begin(), parameters.end());
  REQUIRE(std::abs(step.loss() - reference_loss(model, exact, batch.images, batch.labels)) < 1e-5);
}

TEST_CASE("Accumulating over k batches is one update with the batch that they make together") {
  // Bug: the gradient is the sum instead of the mean, or is not cleared after the update.
  OptimizerSpec accumulating = sgd(0.5f, 0.9f);
  accumulating.accumulate = 3;
  CpuStep<float> parts(toy_cnn(), accumulating, 4, 2), whole(toy_cnn(), sgd(0.5f, 0.9f), 12, 2);
  ToyBatch batch(toy_cnn(), 12);
  const Shape shape = ToyBatch::batch_shape(toy_cnn(), 4);
  std::vector<float> held = saved(parts);
  for (int update = 0; update < 2; ++update) {
    whole.run(batch.view(), batch.labels);
    for (std::size_t part = 0; part < 3; ++part) {
      REQUIRE(saved(parts) == held);
      float* const images = batch.images.data() + part * 4 * toy_cnn().input.elements();
      parts.run({images, DType::f32, shape}, std::span(batch.labels).subspan(part * 4, 4));
    }
    REQUIRE(saved(parts) != held);
    held = saved(parts);
  }
  REQUIRE(distance(saved(parts), saved(whole)) < 1e-6);
}

TEST_CASE("One thread and two give the same parameters but for rounding, and repeat exactly") {
  // Bug: two threads add to the same gradient, or the sum depends on who is first.
  ToyBatch batch(zoo::small_images(), 17);
  std::vector<std::vector<float>> ends;
  for (int threads : {1, 2, 2}) {
    CpuStep<float> step(zoo::small_images(), sgd(0.05f, 0.9f), 17, threads);
    for (int i = 0; i < 3; ++i) step.run(batch.view(), batch.labels);
    ends.push_back(saved(step));
  }
  REQUIRE(distance(ends[0], ends[1]) < 1e-6);
  REQUIRE(ends[1] == ends[2]);
}

TEST_CASE("More threads than samples leave the surplus threads without work") {
  // Bug: an empty share computes a product of no rows, or its stale gradient is added.
  ToyBatch batch(toy_cnn(), 2);
  REQUIRE(distance(gradient_of(toy_cnn(), batch, 5), gradient_of(toy_cnn(), batch, 1)) < 1e-6);
}

TEST_CASE("bf16 storage follows fp32 within a hundredth") {
  // Bug: the weights are rounded but never refreshed, or sums are rounded at every addition.
  for (const ModelSpec& model : {toy_cnn(), zoo::small_images()}) {
    CpuStep<float> wide(model, sgd(0.05f, 0.9f), 16, 2);
    CpuStep<BFloat16> narrow(model, sgd(0.05f, 0.9f), 16, 2);
    ToyBatch batch(model, 16);
    for (int i = 0; i < 5; ++i) {
      wide.run(batch.view(), batch.labels);
      narrow.run(batch.view(), batch.labels);
      REQUIRE(std::abs(narrow.loss() / wide.loss() - 1) < 1e-2);
    }
    REQUIRE(distance(saved(narrow), saved(wide)) < 1e-2);
    REQUIRE(saved(narrow) != saved(wide));
  }
}

TEST_CASE("u8 input is the same as its values divided by 255") {
  // Bug: bytes are read as they are, so the first layer saturates.
  ToyBatch batch(toy_cnn(), 3);
  std::vector<std::uint8_t> bytes(batch.images.size());
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  std::ranges::transform(bytes, batch.images.begin(), [](int b) { return float(b) / 255.0f; });
  CpuStep<float> of_bytes(toy_cnn(), sgd(0.5f), 3, 1), of_floats(toy_cnn(), sgd(0.5f), 3, 1);
  of_bytes.run({bytes.data(), DType::u8, batch.shape}, batch.labels);
  of_floats.run(batch.view(), batch.labels);
  REQUIRE(std::abs(of_bytes.loss() - of_floats.loss()) < 1e-6);
  REQUIRE(distance(saved(of_bytes), saved(of_floats)) < 1e-6);
}

TEST_CASE("Both optimizers and both precisions learn a set that can be learnt") {
  // Bug: gradients that are right at the start but stale or of the wrong sign later.
  ToyBatch batch(toy_cnn(), 24);
  make_learnable(batch);
  const auto loss_after = [&](AnyStep& step) {
    for (int i = 0; i < 120; ++i) step.run(batch.view(), batch.labels);
    return step.loss();
  };
  CpuStep<float> descent(toy_cnn(), sgd(0.1f, 0.9f), 24, 2);
  CpuStep<float> adaptive(toy_cnn(), adam(0.02f), 24, 1);
  CpuStep<BFloat16> narrow(toy_cnn(), adam(0.02f), 24, 1);
  REQUIRE(loss_after(descent) < 0.05);
  REQUIRE(loss_after(adaptive) < 0.05);
  REQUIRE(loss_after(narrow) < 0.05);
}

TEST_CASE("A step allocates nothing when it runs") {
  // Bug: a temporary per batch, which costs more than a small step itself and fails late.
  ToyBatch batch(toy_cnn(), 6);
  CpuStep<float> wide(toy_cnn(), adam(), 8, 2);
  CpuStep<BFloat16> narrow(toy_cnn(), sgd(0.1f), 8, 2);
  for (AnyStep* step : {static_cast<AnyStep*>(&wide), static_cast<AnyStep*>(&narrow)}) {
    step->run(batch.view(), batch.labels);
    const long before = allocations();
    for (int i = 0; i < 3; ++i) step->run(batch.view(), batch.labels);
    REQUIRE(allocations() == before);
    REQUIRE(step->memory_bytes() > step->parameter_count() * sizeof(float));
  }
}

TEST_CASE("A batch that does not fit the step is refused in a sentence") {
  // Bug: the step reads past the end of the samples or labels.
  CpuStep<float> step(toy_cnn(), sgd(0.1f), 4, 1);
  ToyBatch batch(toy_cnn(), 5);
  REQUIRE_THROWS_WITH(step.run(batch.view(), batch.labels), ContainsSubstring("made for 1 to 4"));
  const std::span<const std::int32_t> three = std::span(batch.labels).first(3);
  REQUIRE_THROWS_WITH(step.run(batch.view(), three), ContainsSubstring("3 samples of 9x8x2"));
  ToyBatch good(toy_cnn(), 2);
  REQUIRE_THROWS_WITH(step.run({good.images.data(), DType::f64, good.shape}, good.labels),
                      ContainsSubstring("not f64"));
  good.labels[1] = 3;
  REQUIRE_THROWS_WITH(step.run(good.view(), good.labels), ContainsSubstring("label 3"));
  good.labels[1] = -2;
  REQUIRE_THROWS_WITH(step.run(good.view(), good.labels), ContainsSubstring("label -2"));
}

TEST_CASE("A refused batch leaves the step as it was") {
  // Bug: half a gradient of the refused batch is added to the next one.
  CpuStep<float> refused(toy_cnn(), sgd(0.1f), 4, 2), calm(toy_cnn(), sgd(0.1f), 4, 2);
  ToyBatch good(toy_cnn(), 4), bad(toy_cnn(), 4);
  bad.labels[3] = 99;
  REQUIRE_THROWS_AS(refused.run(bad.view(), bad.labels), Error);
  refused.run(good.view(), good.labels);
  calm.run(good.view(), good.labels);
  REQUIRE(saved(refused) == saved(calm));
}

TEST_CASE("A step that needs more memory than there is says so when it is made") {
  // Bug: the process is killed later, or std::bad_alloc says nothing about what was too large.
  const ModelSpec model{"huge", {1 << 20}, {Linear{1 << 20}}};
  REQUIRE_THROWS_WITH(CpuStep<float>(model, sgd(0.1f), 1, 1),
                      ContainsSubstring("this machine does not have"));
  REQUIRE_THROWS_AS(CpuStep<float>(toy_cnn(), sgd(0.1f), 0, 1), Error);
  REQUIRE_THROWS_AS(CpuStep<float>(toy_cnn(), sgd(0.1f), 1, 0), Error);
  REQUIRE_THROWS_AS(CpuStep<float>(toy_cnn(), sgd(-1.0f), 1, 1), Error);
}

TEST_CASE("Parameters are saved and loaded as one flat row of the right length") {
  // Bug: a checkpoint of another model is read past its end.
  CpuStep<BFloat16> step(toy_cnn(), sgd(0.1f), 1, 1, 1), other(toy_cnn(), sgd(0.1f), 1, 1, 2);
  ToyBatch batch(toy_cnn(), 1);
  REQUIRE(saved(step) != saved(other));
  other.load(saved(step));
  step.run(batch.view(), batch.labels);
  other.run(batch.view(), batch.labels);
  REQUIRE(saved(step) == saved(other));
  std::vector<float> wrong(step.parameter_count() + 1);
  REQUIRE_THROWS_AS(step.save(wrong), Error);
  REQUIRE_THROWS_AS(step.load(wrong), Error);
}

}  // namespace feedrate::cpu_step_tests
