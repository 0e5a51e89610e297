// SPDX-License-Identifier: Apache-2.0
// Tests of choosing the precision of a step at run time.
#include "feedrate/train/make_step.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/train/zoo.hpp"
#include "toys.hpp"

using namespace feedrate;
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
