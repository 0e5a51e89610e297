// SPDX-License-Identifier: Apache-2.0
// The checks of every step on its batches and parameters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/tensor.hpp"
#include "feedrate/train/shapes.hpp"

namespace feedrate::inline v0 {

/// Throws Error(usage) unless `input` is f32 or u8 of shape [count, ...sample] with 1 to `most`
/// samples.
inline void require_batch(const TensorView& input, const Shape& sample, std::size_t count,
                          std::size_t most) {
  const bool fits = input.shape.rank() == sample.rank() + 1 && input.shape[0] == count &&
                    std::ranges::equal(input.shape.extents().subspan(1), sample.extents());
  if (!fits) {
    throw Error(Fault::usage, "A step of " + std::to_string(count) + " samples of " +
                                  text_of(sample) + " was given an input of " +
                                  text_of(input.shape) + ".");
  }
  if (count == 0 || count > most) {
    throw Error(Fault::usage, "A batch of " + std::to_string(count) +
                                  " samples was given to a step made for 1 to " +
                                  std::to_string(most) + ".");
  }
  if (input.dtype != DType::f32 && input.dtype != DType::u8) {
    throw Error(Fault::usage, "A step reads f32 or u8, not " + std::string(name_of(input.dtype)) +
                                  "; convert the samples when they are loaded.");
  }
}

/// Throws Error(usage) unless `given` parameters are as many as the model has.
inline void require_parameters(std::size_t given, std::size_t parameters) {
  if (given == parameters) return;
  throw Error(Fault::usage, "The model has " + std::to_string(parameters) + " parameters, not " +
                                std::to_string(given) + ".");
}

}  // namespace feedrate::inline v0
