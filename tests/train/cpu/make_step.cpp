// SPDX-License-Identifier: Apache-2.0
// Tests of choosing the precision of a step at run time.
#include "feedrate/train/cpu/make_step.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/train/zoo.hpp"
#include "toys.hpp"

namespace feedrate::make_step_tests {
using namespace feedrate::test;

TEST_CASE("The CPU makes steps in fp32 and bf16, and refuses the others as not applicable") {
  // Bug: tf32 silently becomes fp32, and a report names a precision that never ran.
  for (Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    const auto make = [&] { return make_step(toy_cnn(), sgd(0.1f), precision, 2, 1); };
    if (cpu_supports(precision)) {
      REQUIRE(make()->parameter_count() > 0);
    } else {
      REQUIRE_THROWS_WITH(make(), Catch::Matchers::ContainsSubstring(
                                      std::string(name_of(precision)) + " is not applicable"));
    }
  }
  REQUIRE(cpu_supports(Precision::fp32));
  REQUIRE(cpu_supports(Precision::bf16));
}

TEST_CASE("The memory of a step is known before it is made") {
  // Bug: a prediction that grows with the batch although a step works in chunks, or that forgets
  // optimizer state or threads: a batch that fits is refused, or one that does not is tried.
  for (const OptimizerSpec& optimizer : {sgd(0.1f), sgd(0.1f, 0.9f), adam()}) {
    for (Precision precision : {Precision::fp32, Precision::bf16}) {
      for (std::size_t batch : {1u, 3u, 64u}) {
        for (int threads : {1, 3}) {
          const auto step = make_step(toy_cnn(), optimizer, precision, batch, threads);
          CHECK(step_bytes(toy_cnn(), optimizer, precision, batch, threads) ==
                step->memory_bytes());
        }
      }
    }
  }
  REQUIRE_THROWS_WITH(step_bytes(toy_cnn(), adam(), Precision::fp16, 1, 1),
                      Catch::Matchers::ContainsSubstring("not applicable"));
}

TEST_CASE("Every built-in model trains in both precisions") {
  // Bug: a model of the zoo needs a tile or panel larger than was carved.
  for (std::string_view name : zoo_names) {
    const ModelSpec model = zoo_model(name);
    for (Precision precision : {Precision::fp32, Precision::bf16}) {
      const auto step = make_step(model, sgd(0.001f), precision, 2, 2);
      ToyBatch batch(model, 2);
      step->run(batch.view(), batch.labels);
      const double before = step->loss();
      step->run(batch.view(), batch.labels);
      REQUIRE(step->loss() < before);
    }
  }
}

}  // namespace feedrate::make_step_tests
