// SPDX-License-Identifier: Apache-2.0
// A model: the shape of its input and a list of layers. Plain data, no device.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "feedrate/core/tensor.hpp"

namespace feedrate::inline v0 {

/// y = x W + b, W being [features, out].
struct Linear {
  std::size_t out = 0;
  bool operator==(const Linear&) const = default;
};

/// Square convolution of height x width x channels images; filters are [kernel, kernel, in, out].
struct Conv2d {
  std::size_t out = 0;  ///< channels
  std::size_t kernel = 3;
  std::size_t stride = 1;
  std::size_t padding = 0;  ///< rows and columns of zeros on each side
  bool operator==(const Conv2d&) const = default;
};

/// y = max(x, 0)
struct Relu {
  bool operator==(const Relu&) const = default;
};

/// y = x P(X <= x) for a standard normal X, by the tanh of Hendrycks and Gimpel, "Gaussian Error
/// Linear Units", 2016; PyTorch's GELU(approximate='tanh').
struct Gelu {
  bool operator==(const Gelu&) const = default;
};

/// The largest value of each window, per channel; windows that don't fit are left out.
struct MaxPool {
  std::size_t kernel = 2;
  std::size_t stride = 2;
  bool operator==(const MaxPool&) const = default;
};

/// Turns an image into features, in the order (row, column, channel).
struct Flatten {
  bool operator==(const Flatten&) const = default;
};

using LayerSpec = std::variant<Linear, Conv2d, Relu, Gelu, MaxPool, Flatten>;

/// The layer's name in messages.
inline std::string_view name_of(const LayerSpec& layer) noexcept {
  constexpr std::string_view names[] = {"Linear", "Conv2d", "ReLU", "GELU", "MaxPool", "Flatten"};
  return names[layer.index()];
}

/// A model that maps one sample to one score per class.
struct ModelSpec {
  std::string name;
  Shape input;  ///< of one sample: {height, width, channels} for images, {features} for tables
  std::vector<LayerSpec> layers;

  bool operator==(const ModelSpec&) const = default;
};

}  // namespace feedrate::inline v0
