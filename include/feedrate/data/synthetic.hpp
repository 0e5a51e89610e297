// SPDX-License-Identifier: Apache-2.0
// Synthetic samples: data of any layout and size without storage or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
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
    if (layout_[f].name == "label" && layout_[f].dtype == DType::i32) {
      const auto label = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes_));
      return fill<std::int32_t>(f, sample, [label] { return label; });
    }
    with_type_of(layout_[f].dtype, [&](auto zero) {
      using T = decltype(zero);
      fill<T>(f, sample, [&] { return any<T>(noise); });
    });
  }

  /// A byte as an integer, a bit as a bool, 0 to 1 as a float.
  template <class T>
  static T any(Random& noise) {
    if constexpr (std::is_same_v<T, bool>) {
      return (noise.next() & 1) != 0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint8_t>(noise.next()));
    } else {
      return static_cast<T>(noise.uniform());
    }
  }

  template <class T, class Make>
  static void fill(std::size_t f, const Sample& sample, Make&& make) {
    for (T& element : sample.get<T>(f)) element = make();
  }

  std::size_t samples_;
  Layout layout_;
  std::int32_t classes_;
  std::uint64_t seed_;
};

}  // namespace feedrate::inline v0
