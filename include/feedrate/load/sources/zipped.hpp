// SPDX-License-Identifier: Apache-2.0
// Sources beside each other: the fields of all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/load/sources/as_source.hpp"

namespace feedrate::inline v0 {

/// Sample i has the fields of sample i of each part, in the parts' order.
class Zipped final : public Source {
 public:
  /// Throws Error(usage) where there is no part, two have different sizes, or share a field's name.
  explicit Zipped(std::vector<std::shared_ptr<const Source>> parts) : parts_(std::move(parts)) {
    if (parts_.empty()) throw Error(Fault::usage, "There is nothing to zip: give a source.");
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      layouts_.push_back(parts_[p]->layout());
      layout_.insert(layout_.end(), layouts_[p].begin(), layouts_[p].end());
      if (parts_[p]->size() == size()) continue;
      throw Error(Fault::usage, "Part " + std::to_string(p + 1) + " has " +
                                    std::to_string(parts_[p]->size()) + " samples, the first has " +
                                    std::to_string(size()) +
                                    ": sources that are zipped have the same number.");
    }
    checked(layout_);
  }

  std::size_t size() const override { return parts_.front()->size(); }
  Layout layout() const override { return layout_; }
  void load(std::size_t i, const Sample& sample, Random& random) const override {
    const Random same = random;
    std::size_t first = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      random = same;
      parts_[p]->load(i, sample.part(layouts_[p], first), random);
      first += layouts_[p].size();
    }
  }
  std::string name(std::size_t i) const override { return parts_.front()->name(i); }
  bool stored() const override {
    return std::any_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part->stored(); });
  }
  std::size_t touch(std::size_t i) const override {
    std::size_t bytes = 0;
    for (const auto& part : parts_) bytes += part->stored() ? part->touch(i) : 0;
    return bytes;
  }
  bool evict(std::size_t i) const override {
    bool all = true;
    for (const auto& part : parts_) all = (!part->stored() || part->evict(i)) && all;
    return all;
  }

 private:
  std::vector<std::shared_ptr<const Source>> parts_;
  std::vector<Layout> layouts_;  ///< of the parts
  Layout layout_;
};

/// Datasets beside each other, such as pictures and their masks: sample i has the fields of sample
/// i of each. All draw the same random numbers, so a crop is the same in each. Throws Error(usage)
/// where they have different sizes, or share a field's name.
template <SourceLike... D>
std::shared_ptr<const Source> zip(D... datasets) {
  return std::make_shared<const Zipped>(
      std::vector<std::shared_ptr<const Source>>{detail::as_source(std::move(datasets))...});
}

}  // namespace feedrate::inline v0
