// SPDX-License-Identifier: Apache-2.0
// The models of the built-in workloads, by name.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "feedrate/core/error.hpp"
#include "feedrate/train/model.hpp"

namespace feedrate::inline v0 {

/// The names that `zoo_model` knows.
inline constexpr std::array<std::string_view, 5> zoo_names = {"images", "tabular", "wide-linear",
                                                              "small-images", "in-memory"};

namespace zoo {

/// A CNN on 224x224 RGB images, 10 classes; 116 MFLOP forward, spread evenly over four stages.
inline ModelSpec images() {
  return {
      "images",
      {224, 224, 3},
      {Conv2d{.out = 32, .kernel = 7, .stride = 4, .padding = 3}, Relu{}, MaxPool{},
       Conv2d{.out = 64, .padding = 1}, Relu{}, MaxPool{}, Conv2d{.out = 128, .padding = 1}, Relu{},
       MaxPool{}, Conv2d{.out = 256, .padding = 1}, Relu{}, MaxPool{}, Flatten{}, Linear{10}}};
}

/// 2048 features, 2 classes: a step that costs next to nothing.
inline ModelSpec tabular() {
  return {"tabular", {2048}, {Linear{2}}};
}

/// 10,000 features, 100 classes.
inline ModelSpec wide_linear() {
  return {"wide-linear", {10000}, {Linear{100}}};
}

/// The classic CNN of 28x28 grey images, 10 classes.
inline ModelSpec small_images() {
  return {"small-images",
          {28, 28, 1},
          {Conv2d{.out = 32}, Relu{}, MaxPool{}, Conv2d{.out = 64}, Relu{}, MaxPool{},
           Conv2d{.out = 64}, Relu{}, Flatten{}, Linear{64}, Relu{}, Linear{10}}};
}

/// 100x100 floats, 10 classes.
inline ModelSpec in_memory() {
  return {"in-memory", {100, 100}, {Flatten{}, Linear{128}, Relu{}, Linear{10}}};
}

}  // namespace zoo

/// The model of a built-in workload; '_' may be written for '-'. Throws Error(usage) naming
/// those there are.
inline ModelSpec zoo_model(std::string_view name) {
  constexpr std::array models = {zoo::images, zoo::tabular, zoo::wide_linear, zoo::small_images,
                                 zoo::in_memory};
  std::string wanted(name), known;
  std::replace(wanted.begin(), wanted.end(), '_', '-');
  for (std::size_t i = 0; i < zoo_names.size(); ++i) {
    if (zoo_names[i] == wanted) return models[i]();
    known += (i ? ", " : "") + std::string(zoo_names[i]);
  }
  throw Error(Fault::usage,
              "There is no model '" + std::string(name) + "'; the models are: " + known + ".");
}

}  // namespace feedrate::inline v0
