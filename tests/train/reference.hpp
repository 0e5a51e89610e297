// SPDX-License-Identifier: Apache-2.0
// A model computed layer by layer, in double and as plainly as possible: the tests' oracle.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "feedrate/train/model.hpp"
#include "feedrate/train/shapes.hpp"

namespace feedrate::test {

using Numbers = std::vector<double>;

/// One layer: `x` has the shape `in`; parameters are taken from `next` on.
struct ReferenceLayer {
  const Numbers& x;
  const Shape& in;
  const Shape& out;
  const double*& next;

  Numbers operator()(const Linear& layer) const {
    return convolve(Conv2d{.out = layer.out, .kernel = 1}, Shape{1, 1, in[0]}, Shape{1, 1, out[0]});
  }
  Numbers operator()(const Conv2d& layer) const { return convolve(layer, in, out); }
  Numbers operator()(const Relu&) const {
    Numbers y = x;
    for (double& value : y) value = std::max(value, 0.0);
    return y;
  }
  Numbers operator()(const Gelu&) const {
    Numbers y = x;
    for (double& z : y) {
      z *= 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
    }
    return y;
  }
  Numbers operator()(const Flatten&) const { return x; }
  Numbers operator()(const MaxPool& layer) const {
    Numbers y(out.elements(), -1e300);
    for_each(out, [&](std::size_t h, std::size_t w, std::size_t c) {
      for (std::size_t i = 0; i < layer.kernel * layer.kernel; ++i) {
        const std::size_t row = h * layer.stride + i / layer.kernel;
        const std::size_t column = w * layer.stride + i % layer.kernel;
        double& best = y[(h * out[1] + w) * out[2] + c];
        best = std::max(best, x[(row * in[1] + column) * in[2] + c]);
      }
    });
    return y;
  }

 private:
  template <class F>
  static void for_each(const Shape& s, const F& f) {
    for (std::size_t h = 0; h < s[0]; ++h) {
      for (std::size_t w = 0; w < s[1]; ++w) {
        for (std::size_t c = 0; c < s[2]; ++c) f(h, w, c);
      }
    }
  }

  Numbers convolve(const Conv2d& layer, const Shape& from, const Shape& to) const {
    const std::size_t k = layer.kernel;
    const double* const weights = next;
    const double* const bias = weights + k * k * from[2] * layer.out;
    next = bias + layer.out;
    Numbers y(to.elements());
    for_each(to, [&](std::size_t h, std::size_t w, std::size_t c) {
      double sum = bias[c];
      for_each(Shape{k, k, from[2]}, [&](std::size_t i, std::size_t j, std::size_t b) {
        const std::size_t row = h * layer.stride + i - layer.padding;  // wraps round when outside
        const std::size_t column = w * layer.stride + j - layer.padding;
        if (row >= from[0] || column >= from[1]) return;
        sum += x[(row * from[1] + column) * from[2] + b] *
               weights[((i * k + j) * from[2] + b) * layer.out + c];
      });
      y[(h * to[1] + w) * to[2] + c] = sum;
    });
    return y;
  }
};

/// The scores of one sample.
inline Numbers reference_scores(const ModelSpec& model, const Numbers& parameters, Numbers x) {
  const std::vector<Shape> shapes = shapes_of(model);
  const double* next = parameters.data();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    x = std::visit(ReferenceLayer{x, shapes[i], shapes[i + 1], next}, model.layers[i]);
  }
  return x;
}

/// Mean softmax cross-entropy over the labels that are not -1.
inline double reference_loss(const ModelSpec& model, const Numbers& parameters,
                             const std::vector<float>& images,
                             const std::vector<std::int32_t>& labels) {
  double sum = 0, counted = 0;
  const auto n = static_cast<std::ptrdiff_t>(model.input.elements());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    const auto first = images.begin() + static_cast<std::ptrdiff_t>(i) * n;
    const Numbers scores = reference_scores(model, parameters, Numbers(first, first + n));
    double all = 0;
    for (double score : scores) all += std::exp(score);
    sum += std::log(all) - scores[static_cast<std::size_t>(labels[i])];
    counted += 1;
  }
  return counted > 0 ? sum / counted : 0;
}

}  // namespace feedrate::test
