// SPDX-License-Identifier: Apache-2.0
// State that the device decides by itself: the number of counted labels, the loss scale, whether an
// update is good. A step that asked the host would wait for it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "feedrate/core/host_device.hpp"
#include "feedrate/train/kernels/loss.hpp"
#include "feedrate/train/optimizer.hpp"

namespace feedrate::inline v0 {

/// The scalars of a step, in the device's memory.
struct StepState {
  UpdateScalars now;          ///< of the update that comes next or is under way
  float loss_scale = 1;       ///< gradients are this many times too large, so that fp16 holds them
  float gradient_scale = 0;   ///< of the loss of one sample of this batch: loss scale / samples
  float factor = 1;           ///< what gradients are multiplied by in the update
  float loss = 0;             ///< the mean of the last batch
  float norm = 0;             ///< of the last gradient, where it was asked for
  float counted = 0;          ///< samples of the last batch whose label counts
  std::uint32_t good = 0;     ///< updates since the loss scale changed
  std::uint32_t skipped = 0;  ///< updates left out because of an overflow
  std::uint32_t apply = 1;    ///< 0: this update is left out
  std::uint64_t updates = 0;  ///< done, as far as scalars depend on that: not of plain descent
  std::uint32_t refused = 0;  ///< 1 from a wrong label on, until the host has been told
  std::uint32_t wrong_sample = 0;
  std::int32_t wrong_label = 0;
};

/// Counts the labels, copies them, and scales the loss of the batch. A batch with a wrong label
/// gives no gradient, and no update is done until the host has looked. For one row of `count`.
struct CheckLabels {
  const std::int32_t* labels;
  std::int32_t* copy;
  StepState* state;
  std::size_t count, classes;
  int accumulate;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t) const {
    float counted = 0, wrong = -1;  // floats count exactly up to 16 million
    for (std::size_t i = group.lane(); i < count; i += group.lanes()) {
      const std::int32_t label = labels[i];
      const bool fits = label >= ignored_label && label < static_cast<std::int64_t>(classes);
      copy[i] = fits ? label : ignored_label;
      counted += fits && label != ignored_label ? 1.0f : 0.0f;
      if (!fits && wrong < 0) wrong = static_cast<float>(count - i);
    }
    counted = group.sum(counted);
    wrong = group.max(wrong);
    if (group.lane() == 0) tell(counted, wrong);
  }

 private:
  /// `wrong` is the distance of the first wrong label from the end, or -1.
  FEEDRATE_HD void tell(float counted, float wrong) const {
    const bool learns = wrong < 0 && counted > 0;
    const float weight = counted * static_cast<float>(accumulate);
    state->counted = counted;
    state->gradient_scale = learns ? state->loss_scale / weight : 0.0f;
    if (wrong < 0 || state->refused != 0) return;
    state->refused = 1;
    state->wrong_sample = static_cast<std::uint32_t>(count - static_cast<std::size_t>(wrong));
    state->wrong_label = labels[state->wrong_sample];
  }
};

/// The mean loss of the samples that count. For one row of `count`.
struct MeanLoss {
  const float* losses;
  StepState* state;
  std::size_t count;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t) const {
    float sum = 0;
    for (std::size_t i = group.lane(); i < count; i += group.lanes()) sum += losses[i];
    sum = group.sum(sum);
    if (group.lane() == 0) state->loss = state->counted > 0 ? sum / state->counted : 0.0f;
  }
};

/// sums[part] = the sum of the squares of a part of the gradient, without the loss scale: with it
/// the squares could overflow where the gradient did not. Infinite or NaN if an element is. For
/// rows that are parts.
struct SquareParts {
  const float* gradient;
  const StepState* state;
  float* sums;
  std::size_t count, parts;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t part) const {
    const float unscale = 1.0f / state->loss_scale;
    const std::size_t begin = count * part / parts, end = count * (part + 1) / parts;
    float sum = 0;
    for (std::size_t i = begin + group.lane(); i < end; i += group.lanes()) {
      const float g = gradient[i] * unscale;
      sum += g * g;
    }
    sum = group.sum(sum);
    if (group.lane() == 0) sums[part] = sum;
  }
};

/// What an update needs beside the optimizer.
struct UpdateRules {
  float clip_norm = 0;            ///< gradients longer than this are shortened to it; 0: none
  bool scales = false;            ///< the loss scale changes: fp16
  std::uint32_t patience = 2000;  ///< good updates before the loss scale doubles
  /// Where it ends: a scale is a power of two, and a gradient that overflows without one is lost.
  float largest_scale = 16777216, smallest_scale = 1.0f / 65536;

  bool measures() const noexcept { return scales || clip_norm > 0; }
};

/// Decides on an update: whether it is done, with which factor and scalars, and the next loss
/// scale, which doubles after `patience` good updates and halves at an overflow. Source:
/// P. Micikevicius and others, "Mixed precision training", ICLR 2018. For one row of `parts`.
struct PrepareUpdate {
  OptimizerSpec spec;
  UpdateRules rules;
  StepState* state;
  const float* sums;
  std::size_t parts;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t) const {
    float sum = 0;
    for (std::size_t i = group.lane(); i < parts; i += group.lanes()) sum += sums[i];
    sum = group.sum(sum);
    if (group.lane() == 0) decide(std::sqrt(sum));
  }

 private:
  FEEDRATE_HD void decide(float norm) const {
    StepState& s = *state;
    // Without a loss scale, NaN goes into the parameters as on any device: it must be seen there.
    const bool finite = !rules.scales || norm <= 3.4e38f;
    s.norm = norm;
    s.factor = 1.0f / s.loss_scale;
    if (rules.clip_norm > 0 && norm > rules.clip_norm) s.factor *= rules.clip_norm / norm;
    s.apply = finite && s.refused == 0 ? 1 : 0;
    if (s.apply != 0) {
      const float rate = s.now.rate;  // the host may have changed it
      s.now = scalars_of(spec, ++s.updates);
      s.now.rate = rate;
    }
    if (rules.scales && s.refused == 0) rescale(finite);
  }

  FEEDRATE_HD void rescale(bool finite) const {
    StepState& s = *state;
    if (!finite) {
      ++s.skipped;
      s.good = 0;
      if (s.loss_scale > rules.smallest_scale) s.loss_scale *= 0.5f;
    } else if (++s.good >= rules.patience) {
      s.good = 0;
      if (s.loss_scale < rules.largest_scale) s.loss_scale *= 2.0f;
    }
  }
};

}  // namespace feedrate::inline v0
