// SPDX-License-Identifier: Apache-2.0
// Samplers that are often wanted: by weight, and samples of like length beside each other.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/data/sampler.hpp"

namespace feedrate::inline v0 {

/// A sampler that draws the whole list of an epoch at once. The lists of the last two epochs are
/// kept, since workers load ahead into the next one.
class EpochSampler : public Sampler {
 public:
  std::size_t at(std::uint64_t epoch, std::size_t position) const final {
    return list_of(epoch)->at(position);
  }

 protected:
  /// The samples of an epoch, size() of them; the same ones whenever it is asked.
  virtual std::vector<std::size_t> draw(std::uint64_t epoch) const = 0;

 private:
  struct Drawn {
    std::uint64_t epoch = 0;
    std::shared_ptr<const std::vector<std::size_t>> list;
  };

  std::shared_ptr<const std::vector<std::size_t>> list_of(std::uint64_t epoch) const {
    const std::lock_guard lock(mutex_);
    Drawn& drawn = drawn_[epoch % drawn_.size()];
    if (!drawn.list || drawn.epoch != epoch) {
      drawn = {epoch, std::make_shared<const std::vector<std::size_t>>(draw(epoch))};
    }
    return drawn.list;
  }

  mutable std::mutex mutex_;
  mutable std::array<Drawn, 2> drawn_;
};

/// Different samples in each epoch, those of large weight more often; none twice in one epoch.
/// Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir", IPL 2006.
class WeightedSampler final : public EpochSampler {
 public:
  /// `count` samples of an epoch, at most as many as have a weight above 0. Throws Error(usage) on
  /// more, on a negative weight, or one that is no number.
  WeightedSampler(std::vector<double> weights, std::size_t count, std::uint64_t seed = 0)
      : weights_(std::move(weights)), count_(count), seed_(seed) {
    std::size_t possible = 0;
    for (const double weight : weights_) {
      if (!(weight >= 0) || !std::isfinite(weight)) {
        throw Error(Fault::usage, "The weight of a sample must be a number from 0 on.");
      }
      possible += weight > 0;
    }
    if (count_ == 0 || count_ > possible) {
      throw Error(Fault::usage, "A weighted sampler can't draw " + std::to_string(count_) +
                                    " different samples of " + std::to_string(possible) +
                                    " that have a weight above 0.");
    }
  }

  std::size_t size() const override { return count_; }

 protected:
  std::vector<std::size_t> draw(std::uint64_t epoch) const override {
    using Key = std::pair<double, std::size_t>;
    std::vector<Key> keys;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] <= 0) continue;
      Random random(seed_, epoch, i);
      const double uniform = (static_cast<double>(random.next()) + 0.5) * 0x1p-32;
      keys.emplace_back(-std::log(uniform) / weights_[i], i);
    }
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(count_);
    std::partial_sort(keys.begin(), end, keys.end());
    std::vector<std::size_t> samples;
    for (auto key = keys.begin(); key != end; ++key) samples.push_back(key->second);
    return samples;
  }

 private:
  std::vector<double> weights_;
  std::size_t count_;
  std::uint64_t seed_;
};

/// Every sample once in an epoch, in batches of like length, so that little is padded: the samples
/// are shuffled, those of `batches_each` batches are sorted by length, and the batches are
/// shuffled.
class LengthSampler final : public EpochSampler {
 public:
  /// `lengths` of all samples; `batch` of the loader, times the ranks where several share an epoch:
  /// then their batches of one step are of like length, too. Throws Error(usage) without any, or if
  /// `batch` or `batches_each` is 0.
  LengthSampler(std::vector<std::size_t> lengths, std::size_t batch, std::uint64_t seed = 0,
                std::size_t batches_each = 100)
      : lengths_(std::move(lengths)), batch_(batch), chunk_(batch * batches_each), seed_(seed) {
    if (lengths_.empty() || chunk_ == 0) {
      throw Error(Fault::usage, "A sampler by length needs samples, and a batch of at least one.");
    }
  }

  std::size_t size() const override { return lengths_.size(); }

 protected:
  std::vector<std::size_t> draw(std::uint64_t epoch) const override {
    std::vector<std::size_t> samples(lengths_.size());
    std::iota(samples.begin(), samples.end(), std::size_t{0});
    Random random(seed_, epoch, 0);
    shuffle(samples, random);
    // What fills no batch is not sorted: to leave it out may not cost the longest in each epoch.
    const std::size_t full = samples.size() / batch_ * batch_;
    for (std::size_t begin = 0; begin < full; begin += chunk_) {
      const std::size_t end = std::min(begin + chunk_, full);
      std::stable_sort(place(samples, begin), place(samples, end),
                       [&](std::size_t a, std::size_t b) { return lengths_[a] < lengths_[b]; });
    }
    return in_shuffled_batches(samples, random);
  }

 private:
  static auto place(std::vector<std::size_t>& samples, std::size_t i) -> decltype(samples.begin()) {
    return samples.begin() + static_cast<std::ptrdiff_t>(i);
  }

  /// The last batch, which may be short, stays the last one.
  std::vector<std::size_t> in_shuffled_batches(std::vector<std::size_t>& samples,
                                               Random& random) const {
    std::vector<std::size_t> batches(samples.size() / batch_), mixed;
    std::iota(batches.begin(), batches.end(), std::size_t{0});
    shuffle(batches, random);
    mixed.reserve(samples.size());
    for (const std::size_t b : batches) {
      mixed.insert(mixed.end(), place(samples, b * batch_), place(samples, (b + 1) * batch_));
    }
    mixed.insert(mixed.end(), place(samples, batches.size() * batch_), samples.end());
    return mixed;
  }

  std::vector<std::size_t> lengths_;
  std::size_t batch_, chunk_;
  std::uint64_t seed_;
};

}  // namespace feedrate::inline v0
