// SPDX-License-Identifier: Apache-2.0
// The input of a GPU step: copies a loaded batch to the step's own buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/tensor.hpp"
#include "feedrate/cuda/launch.cuh"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/kernels/preprocess.hpp"
#include "feedrate/train/model.hpp"
#include "feedrate/train/plan.hpp"
#include "feedrate/train/shapes.hpp"

namespace feedrate::inline v0::cuda {

/// Preprocesses the samples of a model.
class StepInput {
 public:
  /// Throws Error(usage) where samples that are no images are to be cropped.
  StepInput(const ModelSpec& model, const PreprocessSpec& spec, std::uint64_t seed)
      : spec_(spec),
        sample_(sample_of(model, spec)),
        image_(feedrate::detail::image_of(model.input)),
        seed_(seed) {}

  /// The shape of one sample as it is loaded: the model's, and the margin.
  const Shape& sample() const noexcept { return sample_; }

  /// Queues the preprocessing of `count` samples, f32 or u8, of batch number `step`.
  template <class Storage>
  void queue(cudaStream_t stream, const TensorView& input, std::size_t count, std::uint64_t step,
             Storage* to) const {
    if (input.dtype == DType::u8) {
      queue_type(stream, static_cast<const std::uint8_t*>(input.data), count, step, to);
    } else {
      queue_type(stream, static_cast<const float*>(input.data), count, step, to);
    }
  }

 private:
  template <class In, class Storage>
  void queue_type(cudaStream_t stream, const In* x, std::size_t count, std::uint64_t step,
                  Storage* to) const {
    if (spec_.only_scales()) {
      const Convert<In, Storage> convert{x, to, spec_.scale[0] * unit_of<In>};
      return for_each(stream, count * image_.elements(), convert);
    }
    const PrepareSamples<In, Storage> body(spec_, image_, seed_, step, x, to);
    for_rows(stream, count * image_.height, image_.width, body);
  }

  static Shape sample_of(const ModelSpec& model, const PreprocessSpec& spec) {
    const Shape& sample = model.input;
    if (spec.margin == 0) return sample;
    if (sample.rank() != 3) {
      throw Error(Fault::usage, "Only images can be cropped; the samples of model '" + model.name +
                                    "' are " + text_of(sample) + ".");
    }
    return {sample[0] + spec.margin, sample[1] + spec.margin, sample[2]};
  }

  PreprocessSpec spec_;
  Shape sample_;
  Image image_;  ///< what the model reads of a sample
  std::uint64_t seed_;
};

}  // namespace feedrate::inline v0::cuda
