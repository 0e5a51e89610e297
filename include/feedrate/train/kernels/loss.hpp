// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy, the mean over the samples whose label is not -1.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/pack.hpp"

namespace feedrate::inline v0 {

/// The label of a sample that the loss leaves out.
inline constexpr std::int32_t ignored_label = -1;

/// loss[row] = log(sum_c exp(z[c])) - z[label], dz = (softmax(z) - onehot(label)) * scale. Both
/// are 0 for an ignored row. The largest score is taken off first, so that exp can't overflow.
/// G is the type of gradients; `scale` is read where the body runs, since a device computes it.
/// `together` scores are read as one; it must divide `classes`. For rows of `classes` / `together`.
template <class T, class G = float, int together = 1>
struct SoftmaxCrossEntropy {
  const T* scores;
  const std::int32_t* labels;
  G* gradient;
  float* loss;
  std::size_t classes;
  const float* scale;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    const T* const z = scores + row * classes;
    const std::int32_t label = labels[row];
    const float top = largest(group, z);
    const float sum = sum_of_exp(group, z, top);
    const float weight = label == ignored_label ? 0.0f : *scale;
    auto* const to = reinterpret_cast<Pack<G, together>*>(gradient + row * classes);
    for (std::size_t u = group.lane(); u < units(); u += group.lanes()) {
      const Unit in = unit(z, u);
      Pack<G, together> out;
      for (int e = 0; e < together; ++e) {
        const std::size_t c = u * together + static_cast<std::size_t>(e);
        const float hot = c == static_cast<std::size_t>(label) ? 1.0f : 0.0f;
        const float dz = std::exp(static_cast<float>(in.at[e]) - top) / sum - hot;
        out.at[e] = G(label == ignored_label ? 0.0f : dz * weight);
      }
      to[u] = out;
    }
    if (group.lane() != 0) return;
    loss[row] = label == ignored_label ? 0.0f : std::log(sum) + top - static_cast<float>(z[label]);
  }

 private:
  using Unit = Pack<T, together>;

  FEEDRATE_HD std::size_t units() const { return classes / together; }
  FEEDRATE_HD static Unit unit(const T* z, std::size_t u) {
    return reinterpret_cast<const Unit*>(z)[u];
  }

  template <class Group>
  FEEDRATE_HD float largest(const Group& group, const T* z) const {
    float top = static_cast<float>(z[0]);
    for (std::size_t u = group.lane(); u < units(); u += group.lanes()) {
      const Unit in = unit(z, u);
      for (int e = 0; e < together; ++e) {
        const float value = static_cast<float>(in.at[e]);
        top = value > top ? value : top;
      }
    }
    return group.max(top);
  }

  template <class Group>
  FEEDRATE_HD float sum_of_exp(const Group& group, const T* z, float top) const {
    float sum = 0;
    for (std::size_t u = group.lane(); u < units(); u += group.lanes()) {
      const Unit in = unit(z, u);
      for (int e = 0; e < together; ++e) sum += std::exp(static_cast<float>(in.at[e]) - top);
    }
    return group.sum(sum);
  }
};

/// Throws Error(data): sample `sample` of a batch has a label that is neither a class nor -1.
[[noreturn]] inline void refuse_label(std::size_t sample, std::int32_t label, std::size_t classes) {
  throw Error(Fault::data, "Sample " + std::to_string(sample) + " of a batch has the label " +
                               std::to_string(label) + "; labels of this model lie in 0 to " +
                               std::to_string(classes - 1) +
                               ", or are -1 for samples to leave out.");
}

/// How many labels count; throws Error(data) for one that is neither a class nor -1.
inline std::size_t count_labels(std::span<const std::int32_t> labels, std::size_t classes) {
  std::size_t counted = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool fits = labels[i] >= ignored_label && labels[i] < static_cast<std::int64_t>(classes);
    if (!fits) refuse_label(i, labels[i], classes);
    counted += labels[i] != ignored_label;
  }
  return counted;
}

}  // namespace feedrate::inline v0
