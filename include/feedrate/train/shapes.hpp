// SPDX-License-Identifier: Apache-2.0
// The shapes between the layers of a model; refuses models whose layers don't fit together.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/train/model.hpp"

namespace feedrate::inline v0 {

/// "28x28x1"
inline std::string text_of(const Shape& shape) {
  std::string text;
  for (std::size_t extent : shape.extents()) {
    if (!text.empty()) text += "x";
    text += std::to_string(extent);
  }
  return text.empty() ? "scalar" : text;
}

namespace detail {

/// Maps the shape before one layer to the shape after it.
struct ShapeAfter {
  const Shape& in;

  Shape operator()(const Linear& layer) const {
    require(in.rank() == 1, "needs a row of features; put a Flatten before it");
    require(layer.out > 0, "has no outputs");
    return {layer.out};
  }

  Shape operator()(const Conv2d& layer) const {
    require_image();
    require(layer.out > 0, "has no output channels");
    require(static_cast<double>(layer.kernel) * static_cast<double>(layer.kernel) *
                    static_cast<double>(in[2]) <=
                std::numeric_limits<int>::max(),
            "has more than 2147483647 inputs per output");
    require(layer.padding < layer.kernel, "has padding that is not smaller than its kernel");
    return {slide(in[0], layer), slide(in[1], layer), layer.out};
  }

  Shape operator()(const Relu&) const { return in; }
  Shape operator()(const Gelu&) const { return in; }

  Shape operator()(const MaxPool& layer) const {
    require_image();
    const Conv2d window{.out = in[2], .kernel = layer.kernel, .stride = layer.stride};
    return {slide(in[0], window), slide(in[1], window), in[2]};
  }

  Shape operator()(const Flatten&) const { return {in.elements()}; }

 private:
  static void require(bool ok, const std::string& defect) {
    if (!ok) throw Error(Fault::usage, defect);
  }

  void require_image() const {
    require(in.rank() == 3, "needs an image of height x width x channels");
  }

  static std::size_t slide(std::size_t extent, const Conv2d& window) {
    require(window.kernel > 0 && window.stride > 0, "needs a kernel and a stride of at least 1");
    const std::size_t padded = extent + 2 * window.padding;
    require(padded >= window.kernel, "has a kernel that is larger than its input");
    return (padded - window.kernel) / window.stride + 1;
  }
};

inline void require_countable(const ModelSpec& model, const Shape& shape) {
  constexpr double most = std::numeric_limits<int>::max();
  double elements = 1;
  for (std::size_t extent : shape.extents()) elements *= static_cast<double>(extent);
  if (elements < 1 || elements > most) {
    throw Error(Fault::usage, "Model '" + model.name + "' has a tensor of shape " + text_of(shape) +
                                  "; each must have between 1 and 2147483647 elements a sample.");
  }
}

inline Shape shape_after(const ModelSpec& model, std::size_t layer, const Shape& in) {
  try {
    return std::visit(ShapeAfter{in}, model.layers[layer]);
  } catch (const Error& defect) {
    throw Error(Fault::usage, "Layer " + std::to_string(layer + 1) + " (" +
                                  std::string(name_of(model.layers[layer])) + ") of model '" +
                                  model.name + "' " + defect.what() + "; its input is " +
                                  text_of(in) + ".");
  }
}

}  // namespace detail

/// shapes[i] enters layer i, and the last one, {classes}, leaves the model. Throws Error(usage)
/// naming the first layer that does not fit its input.
inline std::vector<Shape> shapes_of(const ModelSpec& model) {
  std::vector<Shape> shapes{model.input};
  detail::require_countable(model, model.input);
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    shapes.push_back(detail::shape_after(model, layer, shapes.back()));
    detail::require_countable(model, shapes.back());
  }
  if (shapes.back().rank() != 1 || shapes.size() == 1) {
    throw Error(Fault::usage, "Model '" + model.name + "' ends in the shape " +
                                  text_of(shapes.back()) +
                                  "; end it with a Linear layer of one output per class.");
  }
  return shapes;
}

/// How many classes the model tells apart.
inline std::size_t classes_of(const ModelSpec& model) {
  return shapes_of(model).back()[0];
}

}  // namespace feedrate::inline v0
