// SPDX-License-Identifier: Apache-2.0
// The optimizers. All state is flat and in float.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/host_device.hpp"

namespace feedrate::inline v0 {

/// Which optimizer, and its constants; the defaults are PyTorch's but for the rate of SGD.
struct OptimizerSpec {
  enum class Kind : std::uint8_t { sgd, adam };

  Kind kind = Kind::sgd;
  float rate = 0.01f;
  float momentum = 0;      ///< SGD only
  float weight_decay = 0;  ///< added to the gradient, times the parameter (L2)
  float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;  ///< Adam only
  int accumulate = 1;  ///< batches whose gradients are averaged before each update

  bool operator==(const OptimizerSpec&) const = default;
};

inline OptimizerSpec sgd(float rate, float momentum = 0) {
  return {.kind = OptimizerSpec::Kind::sgd, .rate = rate, .momentum = momentum};
}

inline OptimizerSpec adam(float rate = 1e-3f) {
  return {.kind = OptimizerSpec::Kind::adam, .rate = rate};
}

/// The same with another rate.
constexpr OptimizerSpec with_rate(OptimizerSpec spec, float rate) noexcept {
  spec.rate = rate;
  return spec;
}

/// Arrays of optimizer state, each as long as the parameters.
constexpr std::size_t state_arrays(const OptimizerSpec& spec) noexcept {
  return spec.kind == OptimizerSpec::Kind::adam ? 2 : spec.momentum != 0 ? 1 : 0;
}

/// What changes from update to update. A device keeps it in its own memory, so that a recorded
/// step needs no new arguments.
struct UpdateScalars {
  float rate = 0;
  float bias1 = 1;       ///< 1 - beta1^t, t = 1 for the first update
  float root_bias2 = 1;  ///< sqrt(1 - beta2^t)
};

/// The scalars of update `t`, the first being 1.
FEEDRATE_HD inline UpdateScalars scalars_of(const OptimizerSpec& spec, std::uint64_t t) noexcept {
  const auto power = static_cast<double>(t);
  return {spec.rate, static_cast<float>(1 - std::pow(double{spec.beta1}, power)),
          static_cast<float>(std::sqrt(1 - std::pow(double{spec.beta2}, power)))};
}

/// v = momentum v + g, p -= rate v, as torch.optim.SGD with dampening 0, for one parameter.
/// `velocity` is null without momentum.
FEEDRATE_HD inline void descend(const OptimizerSpec& spec, const UpdateScalars& now, float gradient,
                                float* velocity, float& parameter) {
  float step = gradient + spec.weight_decay * parameter;
  if (velocity != nullptr) step = *velocity = spec.momentum * *velocity + step;
  parameter -= now.rate * step;
}

/// m = beta1 m + (1 - beta1) g, v = beta2 v + (1 - beta2) g^2,
/// p -= rate / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon), as torch.optim.Adam, for
/// one parameter.
/// Source: Kingma, Ba, "Adam: a method for stochastic optimization", ICLR 2015.
FEEDRATE_HD inline void adapt(const OptimizerSpec& spec, const UpdateScalars& now, float gradient,
                              float& mean, float& square, float& parameter) {
  const float g = gradient + spec.weight_decay * parameter;
  mean += (1 - spec.beta1) * (g - mean);
  square = spec.beta2 * square + (1 - spec.beta2) * g * g;
  const float root = std::sqrt(square) / now.root_bias2 + spec.epsilon;
  parameter -= now.rate / now.bias1 * mean / root;
}

/// `descend` for each parameter; `velocity` is null without momentum.
struct Sgd {
  OptimizerSpec spec;
  const UpdateScalars* now;
  float* parameters;
  const float* gradient;
  float* velocity;

  FEEDRATE_HD void operator()(std::size_t i) const {
    descend(spec, *now, gradient[i], velocity == nullptr ? nullptr : velocity + i, parameters[i]);
  }
};

/// `adapt` for each parameter.
struct Adam {
  OptimizerSpec spec;
  const UpdateScalars* now;
  float* parameters;
  const float* gradient;
  float* mean;
  float* square;

  FEEDRATE_HD void operator()(std::size_t i) const {
    adapt(spec, *now, gradient[i], mean[i], square[i], parameters[i]);
  }
};

/// Throws Error(usage) for invalid constants.
inline void require_sane(const OptimizerSpec& spec) {
  const auto require = [](bool ok, const std::string& what) {
    if (!ok) throw Error(Fault::usage, "The optimizer's " + what + ".");
  };
  const auto share = [](float x) { return x >= 0 && x < 1; };
  require(std::isfinite(spec.rate) && spec.rate >= 0, "learning rate must be 0 or more");
  require(share(spec.momentum), "momentum must be at least 0 and below 1");
  require(std::isfinite(spec.weight_decay) && spec.weight_decay >= 0,
          "weight decay must be 0 or more");
  require(share(spec.beta1) && share(spec.beta2), "betas must be at least 0 and below 1");
  require(spec.epsilon > 0, "epsilon must be positive");
  require(spec.accumulate >= 1, "number of batches per update must be at least 1");
}

}  // namespace feedrate::inline v0
