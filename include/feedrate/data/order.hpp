// SPDX-License-Identifier: Apache-2.0
// The order: the samples of each batch of each epoch, a function of seed and epoch only.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  Shard shard = {};        ///< the part of each epoch that this process of several reads
  std::uint64_t seed = 0;  ///< of the order, and of the samples' random numbers
  std::shared_ptr<const Sampler> sampler = {};  ///< chooses the samples, in place of `shuffle`

  bool operator==(const OrderOptions&) const = default;
};

/// A place in the data: `sample` of its rank's samples in `epoch` lie before it. It is the same for
/// any batch size.
struct Cursor {
  std::uint64_t epoch = 0;  ///< from 0
  std::size_t sample = 0;   ///< within the epoch, from 0

  bool operator==(const Cursor&) const = default;
};

/// The batches of every epoch of one shard.
///
/// Each rank gets the same number of samples: with drop_last n / world, else that rounded up, and
/// the missing few are repeated from the start of the order, as PyTorch's DistributedSampler does.
class Order {
 public:
  /// `samples` > 0 in the whole dataset, `batch` > 0 of them per batch. The epoch of `start` is cut
  /// into batches from there on. Throws Error(usage) where no batch can be filled, or `start` is
  /// behind the end of an epoch.
  Order(std::size_t samples, std::size_t batch, const OrderOptions& options, Cursor start = {})
      : samples_(options.sampler ? options.sampler->size() : samples),
        batch_(batch),
        options_(options),
        start_(start) {
    checked(options.shard);
    if (batch == 0) throw Error(Fault::usage, "A batch needs at least one sample.");
    if (batches_per_epoch() == 0) {
      throw Error(Fault::usage, "A batch of " + std::to_string(batch) + " can't be filled from " +
                                    std::to_string(samples_per_epoch()) +
                                    " samples: choose a smaller batch or keep the last one.");
    }
    if (start.sample > samples_per_epoch()) {
      throw Error(Fault::usage, "Loading can't start at sample " + std::to_string(start.sample) +
                                    " of an epoch that has " + std::to_string(samples_per_epoch()) +
                                    ".");
    }
    const std::size_t left = batches_of(samples_per_epoch() - start.sample);
    if (left == 0) start_ = {start.epoch + 1, 0};
    first_batch_ = left == 0 ? 0 : batches_per_epoch() - left;
  }

  /// Samples that this rank sees in one epoch.
  std::size_t samples_per_epoch() const noexcept {
    const auto world = static_cast<std::size_t>(options_.shard.world);
    return options_.drop_last ? samples_ / world : (samples_ + world - 1) / world;
  }

  /// Of a whole epoch. If loading starts within one, its last batch has the same index as ever.
  std::size_t batches_per_epoch() const noexcept { return batches_of(samples_per_epoch()); }

  /// The number of the batch behind so many epochs, each batch in so many runs. Where there are no
  /// epochs, or more than can be counted, one that nobody reaches.
  std::uint64_t end_of(std::uint64_t epochs, std::uint64_t runs) const noexcept {
    const std::uint64_t never = std::numeric_limits<std::uint64_t>::max() / (2 * runs);
    const std::uint64_t each = batches_per_epoch();
    return epochs > 0 && epochs < never / each ? epochs * each : never;
  }

  /// The number of the first batch, counted across epochs as if all were whole.
  std::uint64_t first() const noexcept { return start_.epoch * batches_per_epoch() + first_batch_; }

  /// Samples in the b-th batch of an epoch.
  std::size_t count(std::uint64_t epoch, std::size_t b) const noexcept {
    return std::min(batch_, samples_per_epoch() - begin_of(epoch, b));
  }

  /// Where the batch with this number begins.
  Cursor cursor_of(std::uint64_t number) const noexcept {
    const std::uint64_t epoch = number / batches_per_epoch();
    return {epoch, begin_of(epoch, static_cast<std::size_t>(number % batches_per_epoch()))};
  }

  /// Calls `visit(position in the batch, sample)` for positions [begin, end) of batch b. Passes on
  /// what a sampler throws.
  template <class Visit>
  void for_each(std::uint64_t epoch, std::size_t b, std::size_t begin, std::size_t end,
                Visit&& visit) const {
    const Permutation permutation(samples_, options_.seed, epoch);
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t place = place_in_epoch(begin_of(epoch, b) + p);
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
    return options_.sampler->random(options_.seed, epoch, place_in_epoch(begin_of(epoch, b) + p));
  }

  std::size_t batch() const noexcept { return batch_; }

 private:
  std::size_t batches_of(std::size_t samples) const noexcept {
    return options_.drop_last ? samples / batch_ : (samples + batch_ - 1) / batch_;
  }

  /// Samples of an epoch before its b-th batch.
  std::size_t begin_of(std::uint64_t epoch, std::size_t b) const noexcept {
    if (epoch != start_.epoch) return b * batch_;
    return start_.sample + (b - first_batch_) * batch_;
  }

  std::size_t place_in_epoch(std::size_t position) const noexcept {
    const auto rank = static_cast<std::size_t>(options_.shard.rank);
    const auto world = static_cast<std::size_t>(options_.shard.world);
    return (position * world + rank) % samples_;
  }

  std::size_t samples_;  ///< of an epoch, of all ranks
  std::size_t batch_;
  OrderOptions options_;
  Cursor start_;
  std::size_t first_batch_ = 0;  ///< of the epoch of start_
};

}  // namespace feedrate::inline v0
