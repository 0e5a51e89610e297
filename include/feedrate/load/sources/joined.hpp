// SPDX-License-Identifier: Apache-2.0
// Sources one behind the other, and one source several times.
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

/// The samples of several sources with the same fields: those of the first, then of the second, ...
class Joined final : public Source {
 public:
  /// Throws Error(usage) where there is no part, or two have different fields.
  explicit Joined(std::vector<std::shared_ptr<const Source>> parts) : parts_(std::move(parts)) {
    if (parts_.empty()) throw Error(Fault::usage, "There is nothing to join: give a source.");
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      ends_.push_back((p > 0 ? ends_.back() : 0) + parts_[p]->size());
      if (parts_[p]->layout() == parts_.front()->layout()) continue;
      throw Error(Fault::usage, "Part " + std::to_string(p + 1) +
                                    " has other fields than the first, in name, type or shape: "
                                    "sources that are joined have the same.");
    }
  }

  std::size_t size() const override { return ends_.back(); }
  Layout layout() const override { return parts_.front()->layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const override {
    const auto [part, at] = place_of(i);
    part->load(at, sample, random);
  }
  std::string name(std::size_t i) const override {
    const auto [part, at] = place_of(i);
    return part->name(at);
  }
  bool stored() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const auto& part) { return part->stored(); });
  }
  std::size_t touch(std::size_t i) const override {
    const auto [part, at] = place_of(i);
    return part->touch(at);
  }
  bool evict(std::size_t i) const override {
    const auto [part, at] = place_of(i);
    return part->evict(at);
  }

 private:
  std::pair<const Source*, std::size_t> place_of(std::size_t i) const noexcept {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), i);
    const auto part = static_cast<std::size_t>(end - ends_.begin());
    return {parts_[part].get(), i - (part > 0 ? ends_[part - 1] : 0)};
  }

  std::vector<std::shared_ptr<const Source>> parts_;
  std::vector<std::size_t> ends_;  ///< samples of the parts up to here, this one included
};

/// Datasets one behind the other. Throws Error(usage) where they have different fields.
template <SourceLike... D>
std::shared_ptr<const Source> concat(D... datasets) {
  return std::make_shared<const Joined>(
      std::vector<std::shared_ptr<const Source>>{detail::as_source(std::move(datasets))...});
}

/// A dataset `times` times in an epoch, each time with random numbers of its own. Throws
/// Error(usage) where that is less than once.
template <SourceLike D>
std::shared_ptr<const Source> repeat(D dataset, int times) {
  if (times < 1) {
    throw Error(Fault::usage, "A dataset can't be repeated " + std::to_string(times) + " times.");
  }
  const std::shared_ptr<const Source> once = detail::as_source(std::move(dataset));
  return std::make_shared<const Joined>(
      std::vector<std::shared_ptr<const Source>>(static_cast<std::size_t>(times), once));
}

}  // namespace feedrate::inline v0
