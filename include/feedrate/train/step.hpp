// SPDX-License-Identifier: Apache-2.0
// A step: one forward pass, loss, backward pass and update, on any device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/tensor.hpp"

namespace feedrate::inline v0 {

/// A training step whose types are erased: one virtual call per batch.
class AnyStep {
 public:
  AnyStep() = default;
  AnyStep(const AnyStep&) = delete;
  AnyStep& operator=(const AnyStep&) = delete;
  virtual ~AnyStep() = default;

  /// Trains on one batch: `input` is [count, ...sample shape], `labels` has `count` classes, and
  /// a label of -1 is ignored by the loss. `count` may be anything from 1 to the largest batch.
  virtual void run(const TensorView& input, std::span<const std::int32_t> labels) = 0;

  /// Waits until all work that `run` queued is done.
  virtual void synchronize() = 0;

  /// Mean loss over the counted samples of the last batch; synchronizes.
  virtual double loss() = 0;

  /// The rate of all updates from now on, for schedules. Throws Error(usage) below 0.
  virtual void set_learning_rate(float rate) {
    throw Error(Fault::usage,
                "This step has no learning rate to set to " + std::to_string(rate) + ".");
  }

  /// Floating-point operations per sample of one step: 2 per multiply-add; forward, weight
  /// gradient and input gradient (none for the first layer).
  virtual double flops_per_sample() const = 0;

  /// Bytes of memory that the step holds: parameters, optimizer state, activations.
  virtual std::size_t memory_bytes() const = 0;

  /// Number of parameters; 0 for a step that only pretends to train.
  virtual std::size_t parameter_count() const { return 0; }

  /// Copies all parameters out and in: per product its weights [inputs, outputs] (a convolution's
  /// [kernel, kernel, in, out]), then its bias. The span has `parameter_count` elements.
  virtual void save(std::span<float> parameters) { refuse(parameters.size()); }
  virtual void load(std::span<const float> parameters) { refuse(parameters.size()); }

 private:
  static void refuse(std::size_t count) {
    if (count != 0) throw Error(Fault::usage, "This step has no parameters to save or load.");
  }
};

}  // namespace feedrate::inline v0
