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
    if (layout_[f].name == "label" && layout_[f].dtype == DType::i32) {
      const auto label = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes_));
      return fill<std::int32_t>(f, sample, [label] { return label; });
    }
    switch (layout_[f].dtype) {
      case DType::f32:
        return fill<float>(f, sample, [&] { return noise.uniform(); });
      case DType::f64:
        return fill<double>(f, sample, [&] { return double{noise.uniform()}; });
      case DType::bf16:
        return fill<BFloat16>(f, sample, [&] { return BFloat16(noise.uniform()); });
      case DType::f16:
        return fill<Float16>(f, sample, [&] { return Float16(noise.uniform()); });
      case DType::boolean:
        return fill<bool>(f, sample, [&] { return (noise.next() & 1) != 0; });
      default:
        return fill_integers(f, sample, noise);
    }
  }

  /// A random byte in each, whatever their width.
  void fill_integers(std::size_t f, const Sample& sample, Random& noise) const {
    const std::size_t width = bytes_of(layout_[f].dtype);
    std::byte* const bytes = sample.place(f);
    std::memset(bytes, 0, layout_[f].bytes());
    for (std::size_t e = 0; e < layout_[f].bytes(); e += width) {
      bytes[e] = static_cast<std::byte>(noise.next());
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
