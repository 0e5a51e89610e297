// SPDX-License-Identifier: Apache-2.0
// Small models and batches for the tests of the step.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
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

inline ModelSpec with_layers(const Shape& input, std::vector<LayerSpec> layers) {
  return {"toy", input, std::move(layers)};
}

/// One model for each kind of layer, and those that plan differently: padding, overlapping and cut
/// windows, no product at first, activations alone and after each other.
inline std::vector<ModelSpec> models_of_each_kind() {
  return {
      with_layers({7}, {Linear{3}}),
      with_layers({7}, {Relu{}, Linear{5}, Relu{}, Linear{3}}),
      with_layers({33}, {Relu{}, Linear{65}, Relu{}, Linear{17}, Relu{}, Linear{3}}),
      with_layers({9}, {Gelu{}, Linear{16}, Gelu{}, Linear{5}, Gelu{}, Relu{}, Linear{3}}),
      with_layers({5, 6, 2}, {Conv2d{.out = 3}, Flatten{}, Linear{2}}),
      with_layers({5, 6, 2}, {Conv2d{.out = 3, .kernel = 1}, Relu{}, Flatten{}, Linear{2}}),
      with_layers({5, 6, 8},
                  {Conv2d{.out = 16, .padding = 1}, Relu{},
                   Conv2d{.out = 4, .kernel = 3, .stride = 2, .padding = 2}, Flatten{}, Linear{2}}),
      with_layers({6, 6, 2}, {Conv2d{.out = 8}, Gelu{}, MaxPool{}, Gelu{}, Flatten{}, Linear{2}}),
      with_layers({7, 6, 2}, {Conv2d{.out = 3}, MaxPool{}, Relu{}, Flatten{}, Linear{2}}),
      with_layers({7, 7, 2}, {Conv2d{.out = 3}, MaxPool{3, 1}, Flatten{}, Linear{2}}),
      with_layers({8, 8, 2},
                  {Conv2d{.out = 3, .padding = 1}, MaxPool{}, MaxPool{}, Flatten{}, Linear{2}}),
      with_layers({6, 6, 2},
                  {MaxPool{}, Relu{}, Conv2d{.out = 3, .kernel = 2}, Relu{}, Flatten{}, Linear{2}}),
      toy_cnn(),
  };
}

/// Samples of three classes: the third of the image with the brightest pixels tells which.
inline ToyBatch learnable(std::size_t count) {
  ToyBatch batch(toy_cnn(), count);
  Random random(5, 0, 0);
  const std::size_t pixels = batch.images.size() / count;
  for (std::size_t i = 0; i < count; ++i) {
    batch.labels[i] = static_cast<std::int32_t>(i % 3);
    for (std::size_t p = 0; p < pixels; ++p) {
      const bool bright = p * 3 / pixels == i % 3;
      batch.images[i * pixels + p] = random.uniform(0, bright ? 1.0f : 0.5f);
    }
  }
  return batch;
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
