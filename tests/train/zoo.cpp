// SPDX-License-Identifier: Apache-2.0
// Tests of the models of the built-in workloads.
#include "feedrate/train/zoo.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/train/shapes.hpp"

namespace feedrate::zoo_tests {

TEST_CASE("Every name gives the model of that name, whose layers fit together") {
  // Bug: the list of names and the list of models are in a different order.
  for (std::string_view name : zoo_names) {
    const ModelSpec model = zoo_model(name);
    REQUIRE(model.name == name);
    REQUIRE(classes_of(model) >= 2);
  }
  REQUIRE(zoo_model("small_images") == zoo::small_images());
}

TEST_CASE("An unknown model is refused with the names of those there are") {
  // Bug: a misspelt name silently gives some other model.
  REQUIRE_THROWS_WITH(zoo_model("imagenet"), Catch::Matchers::ContainsSubstring("'imagenet'") &&
                                                 Catch::Matchers::ContainsSubstring("wide-linear"));
}

}  // namespace feedrate::zoo_tests
