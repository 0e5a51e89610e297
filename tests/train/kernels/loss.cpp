// SPDX-License-Identifier: Apache-2.0
// Tests of softmax cross-entropy.
#include "feedrate/train/kernels/loss.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "feedrate/train/cpu/cpu.hpp"

namespace feedrate::loss_tests {

namespace {

struct Result {
  std::vector<float> gradient, loss;
};

Result loss_of(const std::vector<float>& scores, const std::vector<std::int32_t>& labels,
               float scale) {
  Result result{std::vector<float>(scores.size(), 9.0f), std::vector<float>(labels.size(), 9.0f)};
  const std::size_t classes = scores.size() / labels.size();
  Cpu{}.for_rows(labels.size(),
                 SoftmaxCrossEntropy<float>{scores.data(), labels.data(), result.gradient.data(),
                                            result.loss.data(), classes, &scale});
  return result;
}

}  // namespace

TEST_CASE("The loss of equal scores is the logarithm of the number of classes") {
  // Bug: a missing logarithm or a wrong sign. The gradient is 1/4 - [c is the label], scaled.
  const Result result = loss_of({3, 3, 3, 3}, {2}, 0.5f);
  REQUIRE(std::abs(result.loss[0] - std::log(4.0f)) < 1e-6f);
  REQUIRE(result.gradient == std::vector<float>{0.125f, 0.125f, -0.375f, 0.125f});
}

TEST_CASE("Scores as large as float allows give finite losses") {
  // Bug: exp overflows. With 1e30 against 0 the loss is 0 for the first class and 1e30 for the
  // other.
  const Result result = loss_of({1e30f, 0, 1e30f, 0}, {0, 1}, 1.0f);
  REQUIRE(result.loss == std::vector<float>{0.0f, 1e30f});
  REQUIRE(result.gradient == std::vector<float>{0, 0, 1, -1});
}

TEST_CASE("An ignored sample has no loss and no gradient, even where its scores are infinite") {
  // Bug: 0 times NaN is NaN, so the tail of a short batch poisons the step.
  const Result result = loss_of({INFINITY, INFINITY, 1, 2}, {-1, 1}, 1.0f);
  REQUIRE(result.loss[0] == 0.0f);
  REQUIRE(result.gradient[0] == 0.0f);
  REQUIRE(result.gradient[1] == 0.0f);
  REQUIRE(result.loss[1] > 0.0f);
}

TEST_CASE("Scores that are read several at a time give the same loss and gradient") {
  // Bug: the label of another unit, or a sum of every fourth score.
  constexpr std::size_t rows = 3, classes = 12, units = classes / 4;
  std::vector<Pack<float, 4>> scores(rows * units), gradient(rows * units);
  for (std::size_t i = 0; i < rows * classes; ++i) {
    scores[i / 4].at[i % 4] = std::sin(static_cast<float>(i));
  }
  const std::vector<std::int32_t> labels{7, -1, 11};
  const auto* const z = reinterpret_cast<const float*>(scores.data());
  auto* const dz = reinterpret_cast<float*>(gradient.data());
  const Result wanted = loss_of(std::vector<float>(z, z + rows * classes), labels, 0.5f);
  std::vector<float> loss(rows);
  const float scale = 0.5f;
  Cpu{}.for_rows(rows, SoftmaxCrossEntropy<float, float, 4>{z, labels.data(), dz, loss.data(),
                                                            classes, &scale});
  REQUIRE(loss == wanted.loss);
  for (std::size_t i = 0; i < rows * classes; ++i) {
    REQUIRE(dz[i] == wanted.gradient[i]);
  }
}

TEST_CASE("Labels are counted, and those that are no class are refused") {
  // Bug: a label of another dataset indexes past the scores.
  REQUIRE(count_labels(std::vector<std::int32_t>{0, -1, 2, -1}, 3) == 2);
  REQUIRE_THROWS_AS(count_labels(std::vector<std::int32_t>{0, 3}, 3), Error);
  REQUIRE_THROWS_AS(count_labels(std::vector<std::int32_t>{-2}, 3), Error);
}

}  // namespace feedrate::loss_tests
