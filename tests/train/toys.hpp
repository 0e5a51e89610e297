// SPDX-License-Identifier: Apache-2.0
// Small models and batches for the tests of the step.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/core/tensor.hpp"
#include "feedrate/train/model.hpp"
#include "feedrate/train/shapes.hpp"
#include "feedrate/train/step.hpp"

namespace feedrate::test {

/// Random samples with random labels.
struct ToyBatch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  Shape shape;

  ToyBatch(const ModelSpec& model, std::size_t count, std::uint64_t seed = 1)
      : images(count * model.input.elements()), labels(count) {
    Random random(seed, 0, 0);
    for (float& x : images) x = random.uniform(-1, 1);
    for (auto& label : labels) {
      label = static_cast<std::int32_t>(random.below(std::uint32_t(classes_of(model))));
    }
    shape = batch_shape(model, count);
  }

  static Shape batch_shape(const ModelSpec& model, std::size_t count) {
    std::vector<std::size_t> extents{count};
    for (std::size_t extent : model.input.extents()) extents.push_back(extent);
    return Shape(extents);
  }

  TensorView view() { return {images.data(), DType::f32, shape}; }
};

/// A CNN with every kind of layer, padding, strides, and sizes that divide by nothing.
inline ModelSpec toy_cnn() {
  return {"toy-cnn",
          {9, 8, 2},
          {Conv2d{.out = 5, .padding = 1}, Relu{}, MaxPool{.kernel = 3, .stride = 2},
           Conv2d{.out = 7, .kernel = 2, .stride = 2, .padding = 1}, Relu{}, Flatten{}, Linear{6},
           Relu{}, Linear{3}}};
}

inline std::vector<float> saved(AnyStep& step) {
  std::vector<float> parameters(step.parameter_count());
  step.save(parameters);
  return parameters;
}

/// |a - b| / |b| in the Euclidean norm.
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(double{a.at(i)} - double{b[i]}, 2);
    norm += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

}  // namespace feedrate::test
