// SPDX-License-Identifier: Apache-2.0
// A dataset as a stream, for batches by total length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/data/order.hpp"
#include "feedrate/load/sample_error.hpp"
#include "feedrate/load/sources/as_source.hpp"
#include "feedrate/load/stream/stream.hpp"

namespace feedrate::inline v0 {

/// The samples of a source in an order, of which shards have runs in turns.
class SourceStream {
 public:
  /// Throws Error(usage) where there is no shard, or a run has no sample; Error(data) without data.
  SourceStream(std::shared_ptr<const Source> source, std::size_t shards, std::size_t run,
               const OrderOptions& order)
      : source_(std::move(source)), order_(order_of(*source_, order)), shards_(shards), run_(run) {
    if (shards_ > 0 && run_ > 0) return;
    throw Error(Fault::usage, "A dataset can't be read in " + std::to_string(shards_) +
                                  " shards of runs of " + std::to_string(run_) + " samples.");
  }

  Layout layout() const { return source_->layout(); }
  std::size_t shards() const { return shards_; }  ///< that are read beside each other

  class Reader {
   public:
    Reader(const SourceStream& stream, std::size_t shard, std::uint64_t epoch)
        : stream_(&stream), epoch_(epoch), position_(shard * stream.run_) {}

    /// Random numbers are those that a Loader would give.
    bool next(const Sample& sample, Random&) {
      const SourceStream& stream = *stream_;
      if (position_ >= stream.order_.samples_per_epoch()) return false;
      const std::size_t at = position_++;
      if (position_ % stream.run_ == 0) position_ += (stream.shards_ - 1) * stream.run_;
      stream.order_.for_each(epoch_, at, 0, 1, [&](std::size_t, std::size_t i) {
        if (i >= stream.source_->size()) throw no_such_sample(stream.source_->size());
        Random random = stream.order_.random(epoch_, at, 0, i);
        try {
          stream.source_->load(i, sample, random);
        } catch (...) {
          throw detail::FailedInSource(i, stream.source_->name(i), std::current_exception());
        }
      });
      return true;
    }

   private:
    const SourceStream* stream_;
    std::uint64_t epoch_;
    std::size_t position_;  ///< in the epoch, of its next sample
  };

  /// A shard of an epoch, from its first sample.
  Reader open(std::size_t shard, std::uint64_t epoch) const { return {*this, shard, epoch}; }

 private:
  /// Batches of one sample: each is a place in the epoch.
  static Order order_of(const Source& source, const OrderOptions& order) {
    if (source.size() == 0)
      throw Error(Fault::data, "The dataset is empty: there is nothing to load.");
    return {source.size(), 1, order};
  }

  std::shared_ptr<const Source> source_;
  Order order_;
  std::size_t shards_, run_;
};

/// A dataset for a StreamLoader, which can make batches by total length: `run` samples of `order`
/// for the first shard, `run` for the second, and so on. With a LengthSampler, `run` is the number
/// of samples that it keeps together. Throws as SourceStream does.
template <SourceLike D>
SourceStream stream_of(D dataset, std::size_t shards = 1, std::size_t run = 1,
                       const OrderOptions& order = {}) {
  return SourceStream(detail::as_source(std::move(dataset)), shards, run, order);
}

}  // namespace feedrate::inline v0
