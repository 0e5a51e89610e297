// SPDX-License-Identifier: Apache-2.0
// The order of samples where Python chooses it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "feedrate/data/sampler.hpp"

namespace feedrate::python {

/// The lists of samples that Python gives, one for each epoch. Workers read those of the epoch that
/// they load; those of the next one are set beside them.
class EpochLists final : public Sampler {
 public:
  explicit EpochLists(std::size_t size) : size_(size) {}

  void set(std::uint64_t epoch, std::vector<std::size_t> samples, std::uint64_t seed) {
    lists_[epoch % lists_.size()] = {std::move(samples), seed};
  }

  std::size_t size() const override { return size_; }
  std::size_t at(std::uint64_t epoch, std::size_t position) const override {
    return lists_[epoch % lists_.size()].samples.at(position);
  }
  /// Of the epoch's own seed alone, however many epochs came before.
  Random random(std::uint64_t, std::uint64_t epoch, std::size_t position) const override {
    return {lists_[epoch % lists_.size()].seed, 0, position};
  }

 private:
  struct List {
    std::vector<std::size_t> samples;
    std::uint64_t seed = 0;
  };

  std::size_t size_;
  std::array<List, 2> lists_;
};

}  // namespace feedrate::python
