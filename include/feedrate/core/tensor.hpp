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
enum class DType : std::uint8_t {
  u8,
  i32,
  i64,
  f32,
  f64,
  bf16,
  f16,
  boolean,
  i8,
  i16,
  u16,
  u32,
  u64
};

namespace detail {

/// The C++ types of the elements, and their names, in the order of DType.
template <class... Ts>
struct TypeList {
  static constexpr std::array<std::size_t, sizeof...(Ts)> bytes = {sizeof(Ts)...};

  /// The place of T among the types; their number if it is none of them.
  template <class T>
  static constexpr std::size_t place() noexcept {
    std::size_t place = 0;
    (void)((std::is_same_v<T, Ts> || (++place, false)) || ...);
    return place;
  }
};
using ElementTypes =
    TypeList<std::uint8_t, std::int32_t, std::int64_t, float, double, BFloat16, Float16, bool,
             std::int8_t, std::int16_t, std::uint16_t, std::uint32_t, std::uint64_t>;
inline constexpr std::array<std::string_view, 13> element_names = {
    "u8", "i32", "i64", "f32", "f64", "bf16", "f16", "bool", "i8", "i16", "u16", "u32", "u64"};
static_assert(element_names.size() == ElementTypes::bytes.size());
static_assert(sizeof(bool) == 1, "as NumPy and DLPack have it");

}  // namespace detail

constexpr std::size_t bytes_of(DType dtype) noexcept {
  return detail::ElementTypes::bytes[static_cast<std::size_t>(dtype)];
}

constexpr std::string_view name_of(DType dtype) noexcept {
  return detail::element_names[static_cast<std::size_t>(dtype)];
}

constexpr bool is_signed_integer(DType dtype) noexcept {
  return name_of(dtype)[0] == 'i';
}
constexpr bool is_unsigned_integer(DType dtype) noexcept {
  return name_of(dtype)[0] == 'u';
}
constexpr bool is_integer(DType dtype) noexcept {
  return is_signed_integer(dtype) || is_unsigned_integer(dtype);
}

/// True where a C++ type can be the element of a tensor.
template <class T>
inline constexpr bool is_element = detail::ElementTypes::place<T>() < detail::element_names.size();

/// The DType of a C++ type.
template <class T>
constexpr DType dtype_of() noexcept {
  static_assert(is_element<T>,
                "feedrate: a tensor element must be bool, an integer of 8 to 64 bits, float, "
                "double, BFloat16 or Float16");
  return static_cast<DType>(detail::ElementTypes::place<T>());
}

/// Up to six extents, outermost first. No extents: a scalar (one element).
class Shape {
 public:
  static constexpr std::size_t max_rank = 6;  ///< extents at most

  Shape() = default;
  Shape(std::initializer_list<std::size_t> extents)
      : Shape(std::span<const std::size_t>(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const std::size_t> extents) : rank_(extents.size()) {
    if (rank_ > max_rank) throw Error(Fault::usage, "A shape has at most six extents.");
    for (std::size_t d = 0; d < rank_; ++d) extents_[d] = extents[d];
  }

  /// How many extents it has; 0 for a scalar.
  std::size_t rank() const noexcept { return rank_; }
  /// Extent `d`, the outermost first.
  std::size_t operator[](std::size_t d) const noexcept { return extents_[d]; }
  /// All extents, the outermost first.
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
  void* data = nullptr;      ///< the first element
  DType dtype = DType::f32;  ///< of each element
  Shape shape;               ///< extents, row-major

  /// Of all elements.
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
