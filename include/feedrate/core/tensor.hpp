// SPDX-License-Identifier: Apache-2.0
// Element types, shapes, and views of memory owned by others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include "feedrate/core/error.hpp"
#include "feedrate/core/half.hpp"

namespace feedrate::inline v0 {

/// The type of one element.
enum class DType : std::uint8_t { u8, i32, i64, f32, f64, bf16, f16 };

constexpr std::size_t bytes_of(DType dtype) noexcept {
  constexpr std::array<std::size_t, 7> bytes = {1, 4, 8, 4, 8, 2, 2};
  return bytes[static_cast<std::size_t>(dtype)];
}

constexpr std::string_view name_of(DType dtype) noexcept {
  constexpr std::array<std::string_view, 7> names = {"u8",  "i32",  "i64", "f32",
                                                     "f64", "bf16", "f16"};
  return names[static_cast<std::size_t>(dtype)];
}

/// True where a C++ type can be the element of a tensor.
template <class T>
inline constexpr bool is_element =
    std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::int32_t> ||
    std::is_same_v<T, std::int64_t> || std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

/// The DType of a C++ type.
template <class T>
constexpr DType dtype_of() noexcept {
  static_assert(is_element<T>,
                "feedrate: a tensor element must be uint8_t, int32_t, int64_t, float, double, "
                "BFloat16 or Float16");
  if (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if (std::is_same_v<T, std::int32_t>) return DType::i32;
  if (std::is_same_v<T, std::int64_t>) return DType::i64;
  if (std::is_same_v<T, float>) return DType::f32;
  if (std::is_same_v<T, double>) return DType::f64;
  if (std::is_same_v<T, Float16>) return DType::f16;
  return DType::bf16;
}

/// Up to six extents, outermost first. No extents: a scalar (one element).
class Shape {
 public:
  static constexpr std::size_t max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<std::size_t> extents)
      : Shape(std::span<const std::size_t>(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const std::size_t> extents) : rank_(extents.size()) {
    if (rank_ > max_rank) throw Error(Fault::usage, "A shape has at most six extents.");
    for (std::size_t d = 0; d < rank_; ++d) extents_[d] = extents[d];
  }

  std::size_t rank() const noexcept { return rank_; }
  std::size_t operator[](std::size_t d) const noexcept { return extents_[d]; }
  std::span<const std::size_t> extents() const noexcept { return {extents_.data(), rank_}; }

  /// Product of the extents; 1 for a scalar.
  std::size_t elements() const noexcept {
    std::size_t product = 1;
    for (std::size_t d = 0; d < rank_; ++d) product *= extents_[d];
    return product;
  }

  bool operator==(const Shape&) const = default;

 private:
  std::array<std::size_t, max_rank> extents_{};
  std::size_t rank_ = 0;
};

/// Elements of a known type and shape that somebody else owns, in row-major order.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;

  std::size_t bytes() const noexcept { return shape.elements() * bytes_of(dtype); }

  /// The elements as a flat span; throws Error(usage) when T is not the tensor's type.
  template <class T>
  std::span<T> as() const {
    if (dtype_of<T>() != dtype) {
      throw Error(Fault::usage, "A tensor of " + std::string(name_of(dtype)) + " was read as " +
                                    std::string(name_of(dtype_of<T>())) + ".");
    }
    return {static_cast<T*>(data), shape.elements()};
  }
};

}  // namespace feedrate::inline v0
