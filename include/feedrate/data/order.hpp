// SPDX-License-Identifier: Apache-2.0
// The order: the samples of each batch of each epoch, a function of seed and epoch only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/data/sampler.hpp"
#include "feedrate/data/shard.hpp"

namespace feedrate::inline v0 {

/// A keyed permutation of {0, ..., n - 1} that needs no index array.
///
/// A Feistel network on the smallest even number of bits that holds n, walked until the value is
/// below n (at most four steps on average). Source: Black and Rogaway, "Ciphers with arbitrary
/// finite domains", CT-RSA 2002, methods 2 and 3.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t seed, std::uint64_t epoch) noexcept
      : n_(n),
        half_bits_(std::max(1, (static_cast<int>(std::bit_width(n - 1)) + 1) / 2)),
        key_(mix(mix(seed) ^ epoch)) {}

  /// Where `i` goes; 0 <= i < n.
  std::uint64_t operator()(std::uint64_t i) const noexcept {
    do i = encrypt(i);
    while (i >= n_);
    return i;
  }

 private:
  /// The finalizer of splitmix64. Source: Steele, Lea, Flood, OOPSLA 2014.
  static std::uint64_t mix(std::uint64_t x) noexcept {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
  }

  std::uint64_t encrypt(std::uint64_t i) const noexcept {
    constexpr int rounds = 6;
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = i >> half_bits_;
    std::uint64_t right = i & mask;
    for (int round = 0; round < rounds; ++round) {
      const std::uint64_t scrambled = mix(key_ ^ (right * rounds + static_cast<unsigned>(round)));
      left ^= (scrambled >> 16) & mask;
      std::swap(left, right);
    }
    return (left << half_bits_) | right;
  }

  std::uint64_t n_;
  int half_bits_;
  std::uint64_t key_;
};

/// How an epoch is cut into batches.
struct OrderOptions {
  bool shuffle = true;     ///< a new order each epoch; else sequential
  bool drop_last = false;  ///< leave out what does not fill a batch (and an even share per rank)
  Shard shard = {};
  std::uint64_t seed = 0;
  std::shared_ptr<const Sampler> sampler = {};  ///< chooses the samples, in place of `shuffle`

  bool operator==(const OrderOptions&) const = default;
};

/// The batches of every epoch of one shard.
///
/// Each rank gets the same number of samples: with drop_last n / world, else that rounded up, and
/// the missing few are repeated from the start of the order, as PyTorch's DistributedSampler does.
class Order {
 public:
  /// `samples` > 0 in the whole dataset, `batch` > 0 of them per batch. Throws Error(usage) where
  /// no batch can be filled.
  Order(std::size_t samples, std::size_t batch, const OrderOptions& options)
      : samples_(options.sampler ? options.sampler->size() : samples),
        batch_(batch),
        options_(options) {
    checked(options.shard);
    if (batch == 0) throw Error(Fault::usage, "A batch needs at least one sample.");
    if (batches_per_epoch() == 0) {
      throw Error(Fault::usage, "A batch of " + std::to_string(batch) + " can't be filled from " +
                                    std::to_string(samples_per_epoch()) +
                                    " samples: choose a smaller batch or keep the last one.");
    }
  }

  /// Samples that this rank sees in one epoch.
  std::size_t samples_per_epoch() const noexcept {
    const auto world = static_cast<std::size_t>(options_.shard.world);
    return options_.drop_last ? samples_ / world : (samples_ + world - 1) / world;
  }

  std::size_t batches_per_epoch() const noexcept {
    const std::size_t n = samples_per_epoch();
    return options_.drop_last ? n / batch_ : (n + batch_ - 1) / batch_;
  }

  /// Samples in the b-th batch of an epoch.
  std::size_t count(std::size_t b) const noexcept {
    return std::min(batch_, samples_per_epoch() - b * batch_);
  }

  /// Calls `visit(position in the batch, sample)` for positions [begin, end) of batch b. Passes on
  /// what a sampler throws.
  template <class Visit>
  void for_each(std::uint64_t epoch, std::size_t b, std::size_t begin, std::size_t end,
                Visit&& visit) const {
    const Permutation permutation(samples_, options_.seed, epoch);
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t place = place_in_epoch(b * batch_ + p);
      if (options_.sampler) {
        visit(p, options_.sampler->at(epoch, place));
      } else {
        visit(p, options_.shuffle ? static_cast<std::size_t>(permutation(place)) : place);
      }
    }
  }

  /// The random numbers of `sample`, which is at position p of batch b.
  Random random(std::uint64_t epoch, std::size_t b, std::size_t p, std::size_t sample) const {
    if (!options_.sampler) return {options_.seed, epoch, sample};
    return options_.sampler->random(options_.seed, epoch, place_in_epoch(b * batch_ + p));
  }

  std::size_t batch() const noexcept { return batch_; }

 private:
  std::size_t place_in_epoch(std::size_t position) const noexcept {
    const auto rank = static_cast<std::size_t>(options_.shard.rank);
    const auto world = static_cast<std::size_t>(options_.shard.world);
    return (position * world + rank) % samples_;
  }

  std::size_t samples_;  ///< of an epoch, of all ranks
  std::size_t batch_;
  OrderOptions options_;
};

}  // namespace feedrate::inline v0
