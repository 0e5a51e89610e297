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

namespace feedrate::inline v0 {

/// The label of a sample that the loss leaves out.
inline constexpr std::int32_t ignored_label = -1;

/// loss[row] = log(sum_c exp(z[c])) - z[label], dz = (softmax(z) - onehot(label)) * scale. Both
/// are 0 for an ignored row. The largest score is taken off first, so that exp can't overflow.
/// G is the type of gradients; `scale` is read where the body runs, since a device computes it.
/// For rows of `classes`.
template <class T, class G = float>
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
    for (std::size_t c = group.lane(); c < classes; c += group.lanes()) {
      const float hot = c == static_cast<std::size_t>(label) ? 1.0f : 0.0f;
      const float dz = std::exp(static_cast<float>(z[c]) - top) / sum - hot;
      gradient[row * classes + c] = G(label == ignored_label ? 0.0f : dz * weight);
    }
    if (group.lane() != 0) return;
    loss[row] = label == ignored_label ? 0.0f : std::log(sum) + top - static_cast<float>(z[label]);
  }

 private:
  template <class Group>
  FEEDRATE_HD float largest(const Group& group, const T* z) const {
    float top = static_cast<float>(z[0]);
    for (std::size_t c = group.lane(); c < classes; c += group.lanes()) {
      const float value = static_cast<float>(z[c]);
      top = value > top ? value : top;
    }
    return group.max(top);
  }

  template <class Group>
  FEEDRATE_HD float sum_of_exp(const Group& group, const T* z, float top) const {
    float sum = 0;
    for (std::size_t c = group.lane(); c < classes; c += group.lanes()) {
      sum += std::exp(static_cast<float>(z[c]) - top);
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
