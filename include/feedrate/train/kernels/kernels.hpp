// SPDX-License-Identifier: Apache-2.0
// The bodies of the elementwise and row-wise parts of a step, for any device. They compute in
// float whatever they store, and know nothing of threads or vectors.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/pack.hpp"

namespace feedrate::inline v0 {

/// What an activation cuts off below: 0 for ReLU, nothing without it. A bool in the inner loops
/// would keep them from being vectorised.
inline float floor_of(bool relu) noexcept {
  return relu ? 0.0f : -std::numeric_limits<float>::infinity();
}

/// max(x, floor); NaN stays NaN, as in PyTorch.
FEEDRATE_HD inline float activate(float x, float floor) {
  return x < floor ? floor : x;
}

/// y[i] = scale x[i], in another type. For each element.
template <class In, class Out>
struct Convert {
  const In* x;
  Out* y;
  float scale;

  FEEDRATE_HD void operator()(std::size_t i) const { y[i] = Out(static_cast<float>(x[i]) * scale); }

  bool packs() const { return is_packed(x) && is_packed(y); }
  FEEDRATE_HD void pack(std::size_t i) const {
    const Pack<In> in = pack_at(x, i);
    Pack<Out> out;
    for (int j = 0; j < pack_width; ++j) out.at[j] = Out(static_cast<float>(in.at[j]) * scale);
    pack_at(y, i) = out;
  }
};

/// dy[i] = 0 where the output of ReLU was not positive; G is the type of gradients. For each
/// element.
template <class T, class G = float>
struct ReluBackward {
  const T* y;
  G* dy;

  FEEDRATE_HD void operator()(std::size_t i) const {
    dy[i] = static_cast<float>(y[i]) <= 0 ? G(0.0f) : dy[i];
  }

  bool packs() const { return is_packed(y) && is_packed(dy); }
  FEEDRATE_HD void pack(std::size_t i) const {
    const Pack<T> out = pack_at(static_cast<const T*>(y), i);
    Pack<G> gradient = pack_at(dy, i);
    for (int j = 0; j < pack_width; ++j) {
      if (static_cast<float>(out.at[j]) <= 0) gradient.at[j] = G(0.0f);
    }
    pack_at(dy, i) = gradient;
  }
};

/// z/2 (1 + tanh(a (z + b z^3))), a = sqrt(2 / pi), b = 0.044715: Hendrycks and Gimpel, "Gaussian
/// Error Linear Units", 2016, section 2.
FEEDRATE_HD inline float gelu(float z) {
  return 0.5f * z * (1.0f + std::tanh(0.7978845608f * (z + 0.044715f * z * z * z)));
}

/// Its derivative. Beyond 10 that is 0 or 1, and squares of z could overflow.
FEEDRATE_HD inline float gelu_slope(float z) {
  z = z > 10.0f ? 10.0f : z;
  z = z < -10.0f ? -10.0f : z;
  const float t = std::tanh(0.7978845608f * (z + 0.044715f * z * z * z));
  const float inner = 0.7978845608f * (1.0f + 3 * 0.044715f * z * z);
  return 0.5f * (1.0f + t) + 0.5f * z * (1.0f - t * t) * inner;
}

/// dy[i] *= gelu'(z[i]). For each element.
template <class T, class G = float>
struct GeluBackward {
  const T* z;
  G* dy;

  FEEDRATE_HD void operator()(std::size_t i) const {
    dy[i] = G(static_cast<float>(dy[i]) * gelu_slope(static_cast<float>(z[i])));
  }

  bool packs() const { return is_packed(z) && is_packed(dy); }
  FEEDRATE_HD void pack(std::size_t i) const {
    const Pack<T> in = pack_at(z, i);
    Pack<G> gradient = pack_at(dy, i);
    for (int j = 0; j < pack_width; ++j) {
      gradient.at[j] =
          G(static_cast<float>(gradient.at[j]) * gelu_slope(static_cast<float>(in.at[j])));
    }
    pack_at(dy, i) = gradient;
  }
};

/// y[row, c] = gelu(x[row, c] + bias[c]). The sum goes to z for the way back, where z is not null;
/// it may be x. For rows of `channels`.
template <class T>
struct BiasGelu {
  const T* x;
  const float* bias;
  T* z;
  T* y;
  std::size_t channels;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    for (std::size_t c = group.lane(); c < channels; c += group.lanes()) {
      const std::size_t i = row * channels + c;
      const float sum = static_cast<float>(x[i]) + bias[c];
      if (z != nullptr) z[i] = T(sum);
      y[i] = T(gelu(sum));
    }
  }
};

/// y[row, c] = activate(x[row, c] + bias[c]); x may be y. For rows of `channels`.
template <class In, class Out>
struct BiasRelu {
  const In* x;
  const float* bias;
  Out* y;
  std::size_t channels;
  float floor;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const In* const from = x + row * channels;
    Out* const to = y + row * channels;
    FEEDRATE_INDEPENDENT
    for (std::size_t c = group.lane(); c < channels; c += group.lanes()) {
      to[c] = Out(activate(static_cast<float>(from[c]) + bias[c], floor));
    }
  }
};

}  // namespace feedrate::inline v0
