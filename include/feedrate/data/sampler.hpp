// SPDX-License-Identifier: Apache-2.0
// A sampler: an order of samples that is the user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "feedrate/core/random.hpp"

namespace feedrate::inline v0 {

/// The samples of each epoch, where neither a shuffled nor a sequential order is wanted: weighted
/// sampling, a curriculum, the order of another program. Workers call `at` at the same time, and
/// the same arguments must give the same sample.
class Sampler {
 public:
  Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  virtual ~Sampler() = default;

  /// Samples in one epoch, of all ranks together.
  virtual std::size_t size() const = 0;
  /// The sample at `position`, 0 <= position < size(), of an epoch: an index into the dataset.
  virtual std::size_t at(std::uint64_t epoch, std::size_t position) const = 0;
  /// The random numbers of the sample at `position`. A sample that is chosen twice gets others.
  virtual Random random(std::uint64_t seed, std::uint64_t epoch, std::size_t position) const {
    return {seed, epoch, position};
  }
};

/// The same samples in every epoch, in the order of a list.
class ListSampler final : public Sampler {
 public:
  explicit ListSampler(std::vector<std::size_t> samples) : samples_(std::move(samples)) {}

  std::size_t size() const override { return samples_.size(); }
  std::size_t at(std::uint64_t, std::size_t position) const override {
    return samples_.at(position);
  }

 private:
  std::vector<std::size_t> samples_;
};

}  // namespace feedrate::inline v0
