// SPDX-License-Identifier: Apache-2.0
// Tests of core/tensor.hpp.
#include "feedrate/core/tensor.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace feedrate::tensor_tests {

TEST_CASE("each element type has the size of its C++ type, and its own name") {
  // Bug: a type added to the enum whose size or name is that of its neighbour.
  const auto is = [](auto element, const std::string& name) {
    using T = decltype(element);
    CHECK(bytes_of(dtype_of<T>()) == sizeof(T));
    CHECK(name_of(dtype_of<T>()) == name);
    constexpr bool is_bool = std::is_same_v<T, bool>;
    CHECK(is_signed_integer(dtype_of<T>()) == (std::is_integral_v<T> && std::is_signed_v<T>));
    CHECK(is_unsigned_integer(dtype_of<T>()) == (std::is_unsigned_v<T> && !is_bool));
  };
  is(std::uint8_t{}, "u8");
  is(std::uint16_t{}, "u16");
  is(std::uint32_t{}, "u32");
  is(std::uint64_t{}, "u64");
  is(std::int8_t{}, "i8");
  is(std::int16_t{}, "i16");
  is(std::int32_t{}, "i32");
  is(std::int64_t{}, "i64");
  is(float{}, "f32");
  is(double{}, "f64");
  is(BFloat16{}, "bf16");
  is(Float16{}, "f16");
  is(bool{}, "bool");
}

TEST_CASE("the elements of a shape are the product of its extents, and a scalar is one") {
  // Bug: a scalar that is counted as no element, and an extent of 0 that is ignored.
  CHECK(Shape{}.elements() == 1);
  CHECK(Shape{}.rank() == 0);
  CHECK(Shape{3, 224, 224}.elements() == 150528);
  CHECK(Shape{3, 0, 224}.elements() == 0);
  CHECK(Shape{3, 224}.rank() == 2);
  CHECK(Shape{3, 224}[1] == 224);
}

TEST_CASE("shapes are equal when all their extents are") {
  // Bug: shapes that are equal because only their products are compared.
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
}

TEST_CASE("a shape of more than six extents is refused") {
  // Bug: a seventh extent written past the end of the array.
  const std::vector<std::size_t> seven(7, 1);
  CHECK_THROWS_AS(Shape(std::span<const std::size_t>(seven)), Error);
  const std::vector<std::size_t> six(6, 2);
  CHECK(Shape(std::span<const std::size_t>(six)).elements() == 64);
}

TEST_CASE("a view gives its elements as their own type and refuses any other") {
  // Bug: a view that hands out memory under another type, or with the wrong length.
  std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  const TensorView view{values.data(), DType::f32, {2, 3}};
  CHECK(view.bytes() == sizeof values);
  CHECK(view.as<float>().size() == 6);
  CHECK(view.as<float>()[5] == 6);
  try {
    view.as<std::int32_t>();
    FAIL("a view of f32 was read as i32");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::usage);
    CHECK(std::string(error.what()) == "A tensor of f32 was read as i32.");
  }
}

}  // namespace feedrate::tensor_tests
