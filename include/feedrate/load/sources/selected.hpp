// SPDX-License-Identifier: Apache-2.0
// Chosen samples of a source, and a source cut in two at random.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/order.hpp"
#include "feedrate/load/sources/as_source.hpp"

namespace feedrate::inline v0 {

/// Sample i is sample `chosen[i]` of another source; one may be chosen several times.
class Selected final : public Source {
 public:
  /// Throws Error(usage) where the source has no such sample.
  Selected(std::shared_ptr<const Source> whole, std::vector<std::size_t> chosen)
      : whole_(std::move(whole)), chosen_(std::move(chosen)) {
    const auto beyond = std::find_if(chosen_.begin(), chosen_.end(),
                                     [&](std::size_t sample) { return sample >= whole_->size(); });
    if (beyond == chosen_.end()) return;
    throw Error(Fault::usage, "Sample " + std::to_string(*beyond) + " can't be chosen: there are " +
                                  std::to_string(whole_->size()) + ", counted from 0.");
  }

  std::size_t size() const override { return chosen_.size(); }
  Layout layout() const override { return whole_->layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const override {
    whole_->load(chosen_[i], sample, random);
  }
  std::string name(std::size_t i) const override { return whole_->name(chosen_[i]); }
  bool stored() const override { return whole_->stored(); }
  std::size_t touch(std::size_t i) const override { return whole_->touch(chosen_[i]); }
  bool evict(std::size_t i) const override { return whole_->evict(chosen_[i]); }

 private:
  std::shared_ptr<const Source> whole_;
  std::vector<std::size_t> chosen_;
};

/// Samples of a dataset by their numbers. Throws Error(usage) where there is no such sample.
template <SourceLike D>
std::shared_ptr<const Source> select(D dataset, std::vector<std::size_t> chosen) {
  return std::make_shared<const Selected>(detail::as_source(std::move(dataset)), std::move(chosen));
}

/// Two parts of a dataset.
struct Split {
  std::shared_ptr<const Source> first;  ///< the share that was asked for
  std::shared_ptr<const Source> rest;   ///< all others
};

/// Cuts a dataset in two: `share` of its samples, to the nearest, drawn at random by `seed`, and
/// all others. The same seed cuts in the same way. Throws Error(usage) where a part would be empty.
template <SourceLike D>
Split split(D dataset, double share, std::uint64_t seed = 0) {
  const std::shared_ptr<const Source> whole = detail::as_source(std::move(dataset));
  const std::size_t samples = whole->size();
  const double wanted = std::round(share * static_cast<double>(samples));
  if (!(wanted >= 1 && wanted < static_cast<double>(samples))) {
    throw Error(Fault::usage, "A share of " + std::to_string(share) + " of " +
                                  std::to_string(samples) +
                                  " samples leaves a part empty: choose one between 0 and 1.");
  }
  const Permutation order(samples, seed, 0);
  std::vector<std::size_t> drawn(samples);
  for (std::size_t i = 0; i < samples; ++i) drawn[i] = order(i);
  const auto cut = drawn.begin() + static_cast<std::ptrdiff_t>(wanted);
  return {std::make_shared<const Selected>(whole, std::vector(drawn.begin(), cut)),
          std::make_shared<const Selected>(whole, std::vector(cut, drawn.end()))};
}

}  // namespace feedrate::inline v0
