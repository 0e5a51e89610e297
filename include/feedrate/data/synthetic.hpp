// SPDX-License-Identifier: Apache-2.0
// Synthetic samples: data of any layout and size without storage or memory.
#pragma once

#include <cstddef>
#include <cstdint>
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
    const auto bytes = [&] { return static_cast<std::uint8_t>(noise.next()); };
    switch (layout_[f].dtype) {
      case DType::f32:
        return fill<float>(f, sample, [&] { return noise.uniform(); });
      case DType::f64:
        return fill<double>(f, sample, [&] { return double{noise.uniform()}; });
      case DType::bf16:
        return fill<BFloat16>(f, sample, [&] { return BFloat16(noise.uniform()); });
      case DType::f16:
        return fill<Float16>(f, sample, [&] { return Float16(noise.uniform()); });
      case DType::u8:
        return fill<std::uint8_t>(f, sample, bytes);
      case DType::i64:
        return fill<std::int64_t>(f, sample, bytes);
      case DType::i32:
        break;
    }
    if (layout_[f].name != "label") return fill<std::int32_t>(f, sample, bytes);
    const auto label = static_cast<std::int32_t>(i % static_cast<std::size_t>(classes_));
    fill<std::int32_t>(f, sample, [label] { return label; });
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
