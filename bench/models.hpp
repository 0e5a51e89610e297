// SPDX-License-Identifier: Apache-2.0
// The models of the GPU benches.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "feedrate/train/zoo.hpp"

namespace feedrate::bench {

/// `layers` products, `width` wide, with ReLUs between them.
inline ModelSpec mlp(std::string name, std::size_t width, int layers, std::size_t classes) {
  ModelSpec model{std::move(name), {width}, {}};
  for (int layer = 1; layer < layers; ++layer) {
    model.layers.push_back(Linear{width});
    model.layers.push_back(Relu{});
  }
  model.layers.push_back(Linear{classes});
  return model;
}

/// The models of the benches: those of the built-in workloads, and two stacks of products.
inline ModelSpec model_of(std::string_view name) {
  if (name == "mlp") return mlp("mlp", 512, 4, 10);
  if (name == "wide-mlp") return mlp("wide-mlp", 4096, 4, 4096);
  return zoo_model(name);
}

}  // namespace feedrate::bench
