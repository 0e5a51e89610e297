// SPDX-License-Identifier: Apache-2.0
// A subset of a source: a fixed random selection of its samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/data/order.hpp"
#include "feedrate/load/source.hpp"

namespace feedrate::inline v0 {

/// `samples` of the samples of a source, chosen by a keyed permutation, so that a folder sorted by
/// class still gives all classes. Sample i of the subset is always the same one.
class Subset final : public Source {
 public:
  /// Throws Error(usage) where the source has fewer samples.
  Subset(std::shared_ptr<const Source> whole, std::size_t samples, std::uint64_t seed)
      : whole_(std::move(whole)), samples_(samples), choice_(whole_->size(), seed, 0) {
    if (samples <= whole_->size()) return;
    throw Error(Fault::usage, "A subset of " + std::to_string(samples) +
                                  " samples can't be taken from a source of " +
                                  std::to_string(whole_->size()) + ": ask for fewer.");
  }

  std::size_t size() const override { return samples_; }
  Layout layout() const override { return whole_->layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const override {
    whole_->load(choice_(i), sample, random);
  }
  std::string name(std::size_t i) const override { return whole_->name(choice_(i)); }
  bool stored() const override { return whole_->stored(); }
  std::size_t touch(std::size_t i) const override { return whole_->touch(choice_(i)); }
  bool evict(std::size_t i) const override { return whole_->evict(choice_(i)); }

 private:
  std::shared_ptr<const Source> whole_;
  std::size_t samples_;
  Permutation choice_;
};

}  // namespace feedrate::inline v0
