// SPDX-License-Identifier: Apache-2.0
// Tests of shape inference and its refusals.
#include "feedrate/train/shapes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

namespace feedrate::shapes_tests {
using Catch::Matchers::ContainsSubstring;

namespace {

std::string refusal(const Shape& input, std::vector<LayerSpec> layers) {
  try {
    shapes_of({"bad", input, std::move(layers)});
  } catch (const Error& error) {
    REQUIRE(error.fault() == Fault::usage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Kernels, strides and padding give the shapes that their formula says") {
  // Bug: off by one where a stride does not divide, or padding counted once. By hand:
  // (9 + 2 - 3) / 2 + 1 = 5 and (8 + 2 - 3) / 2 + 1 = 4; then (5 - 2) / 2 + 1 = 2 and 2.
  const ModelSpec model{
      "m",
      {9, 8, 3},
      {Conv2d{.out = 5, .stride = 2, .padding = 1}, MaxPool{}, Flatten{}, Linear{4}}};
  const std::vector<Shape> shapes = shapes_of(model);
  REQUIRE(shapes[1] == Shape{5, 4, 5});
  REQUIRE(shapes[2] == Shape{2, 2, 5});
  REQUIRE(shapes[3] == Shape{20});
  REQUIRE(classes_of(model) == 4);
}

TEST_CASE("A model whose layers don't fit is refused in a sentence that names the layer") {
  // Bug: sizes wrap round below zero, and the step reads outside its memory.
  REQUIRE_THAT(refusal({4, 4, 1}, {Conv2d{.out = 2, .kernel = 5}}),
               ContainsSubstring("Layer 1 (Conv2d) of model 'bad' has a kernel that is larger"));
  REQUIRE_THAT(refusal({4, 4, 1}, {Relu{}, Linear{2}}),
               ContainsSubstring("Layer 2 (Linear)") && ContainsSubstring("Flatten"));
  REQUIRE_THAT(refusal({16}, {MaxPool{}}), ContainsSubstring("needs an image"));
  REQUIRE_THAT(refusal({16}, {Linear{0}}), ContainsSubstring("no outputs"));
  REQUIRE_THAT(refusal({4, 4, 1}, {MaxPool{.kernel = 2, .stride = 0}}),
               ContainsSubstring("stride of at least 1"));
  REQUIRE_THAT(refusal({4, 4, 1}, {Conv2d{.out = 1, .kernel = 2, .padding = 2}}),
               ContainsSubstring("padding"));
  REQUIRE_THAT(refusal({4, 4, 1}, {Conv2d{.out = 1, .kernel = 1 << 17, .padding = 1 << 16}}),
               ContainsSubstring("more than 2147483647 inputs"));
}

TEST_CASE("A model must end in one score per class and may not be empty or huge") {
  // Bug: the loss reads an image as scores, or an extent overflows the integers of the BLAS.
  REQUIRE_THAT(refusal({4, 4, 1}, {Relu{}}), ContainsSubstring("end it with a Linear"));
  REQUIRE_THAT(refusal({4}, {}), ContainsSubstring("end it with a Linear"));
  REQUIRE_THAT(refusal({0}, {Linear{2}}), ContainsSubstring("between 1 and 2147483647"));
  REQUIRE_THAT(refusal({std::size_t{1} << 40, std::size_t{1} << 40}, {Flatten{}, Linear{2}}),
               ContainsSubstring("between 1 and 2147483647"));
}

}  // namespace feedrate::shapes_tests
