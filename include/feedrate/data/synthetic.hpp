// SPDX-License-Identifier: Apache-2.0
// Synthetic samples: data of any layout and size without storage or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "feedrate/data/dataset.hpp"

namespace feedrate::inline v0 {

/// Uniform noise of a given layout: f32 and f64 in [0, 1), u8 in 0..255, other integers and bf16
/// likewise but for "label", an i32 below `classes`. Sample i is the same in every epoch.
class Synthetic {
 public:
  Synthetic(std::size_t samples, Layout layout, std::int32_t classes = 2, std::uint64_t seed = 0)
      : samples_(samples), layout_(std::move(layout)), classes_(classes), seed_(seed) {
    if (classes < 1) throw Error(Fault::usage, "Synthetic data need at least one class.");
  }

  std::size_t size() const noexcept { return samples_; }
  const Layout& layout() const noexcept { return layout_; }

  void load(std::size_t i, const Sample& sample, Random&) const {
    Random noise(seed_, 0, i);
    for (std::size_t f = 0; f < layout_.size(); ++f) fill(i, f, sample, noise);
  }

 private:
  void fill(std::size_t i, std::size_t f, const Sample& sample, Random& noise) const {
    const Field& field = layout_[f];
    const bool is_label = field.name == "label" && field.dtype == DType::i32;
    const auto label = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes_));
    const std::size_t width = bytes_of(field.dtype);
    std::byte* const begin = sample.place(f);
    for (std::byte* place = begin; place != begin + field.bytes(); place += width) {
      is_label ? put(label, place) : draw(field.dtype, noise, place, width);
    }
  }

  /// One element; an integer has a random byte, whatever its width.
  static void draw(DType dtype, Random& noise, std::byte* place, std::size_t width) noexcept {
    switch (dtype) {
      case DType::f32:
        return put(noise.uniform(), place);
      case DType::f64:
        return put(double{noise.uniform()}, place);
      case DType::bf16:
        return put(BFloat16(noise.uniform()), place);
      case DType::f16:
        return put(Float16(noise.uniform()), place);
      case DType::boolean:
        return put((noise.next() & 1) != 0, place);
      default:
        std::memset(place, 0, width);
        return put(static_cast<std::byte>(noise.next()), place);
    }
  }

  template <class T>
  static void put(T value, std::byte* place) noexcept {
    std::memcpy(place, &value, sizeof value);
  }

  std::size_t samples_;
  Layout layout_;
  std::int32_t classes_;
  std::uint64_t seed_;
};

}  // namespace feedrate::inline v0
