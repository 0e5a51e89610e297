// SPDX-License-Identifier: Apache-2.0
// A shard of a stream while it is read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/thread.hpp"
#include "feedrate/load/batch.hpp"
#include "feedrate/load/sample_error.hpp"
#include "feedrate/load/skips.hpp"
#include "feedrate/load/sources/own_sample.hpp"
#include "feedrate/load/stream/stream.hpp"

namespace feedrate::inline v0::detail {

/// A shard while it is read, with the sample that did not fit into its last batch. Who locks its
/// mutex may use it.
class ShardState {
 public:
  ShardState(const AnyStream& stream, std::size_t index, Layout layout)
      : stream_(&stream), index_(index), form_(std::move(layout)) {}

  Mutex& mutex() noexcept { return mutex_; }
  std::size_t index() const noexcept { return index_; }
  bool ended() const noexcept { return ended_; }
  /// Gives its reader's file and memory back.
  void end() noexcept {
    ended_ = true;
    reader_.reset();
  }
  /// Samples that it has given in this epoch, or failed to give.
  std::uint64_t position() const noexcept { return position_; }

  /// From the front again.
  void rewind() noexcept {
    reader_.reset();
    ended_ = false;
    position_ = 0;
  }

  void open(std::uint64_t epoch) {
    if (!reader_) reader_ = stream_->open(index_, epoch);
  }

  /// Writes the next sample; false at the end, which is the shard's.
  bool next(const Sample& sample, std::uint64_t seed, std::uint64_t epoch) {
    if (kept_) {
      copy_sample(form_, memory_.data(), lengths_.data(), sample);
      kept_ = false;
      return true;
    }
    // Shards below 2^24 with samples below 2^40 have random numbers of their own.
    Random random(seed, epoch, (std::uint64_t{index_} << 40) + position_++);
    reading_.store(position_, std::memory_order_relaxed);
    if (!reader_->next(sample, random)) end();
    return !ended_;
  }

  /// The turn is over: nobody reads it now.
  void pause() noexcept { reading_.store(0, std::memory_order_relaxed); }
  /// Number of the sample that is being read, from 1; 0: none. For any thread.
  std::uint64_t reading() const noexcept { return reading_.load(std::memory_order_relaxed); }

  /// The place of a batch's sample, with lengths as of samples that are not ragged.
  Sample sample_at(const BatchLayout& layout, std::byte* slot, const BatchPlace& at) {
    const Layout& fields = layout.fields();
    places_.resize(fields.size());
    length_places_.resize(fields.size());
    for (std::size_t f = 0; f < fields.size(); ++f) {
      places_[f] = layout.place(slot, f, at.position);
      length_places_[f] = layout.length(slot, f, at.position);
      if (length_places_[f]) *length_places_[f] = static_cast<std::int32_t>(fields[f].shape[0]);
    }
    return {fields, places_, length_places_, at};
  }

  /// What sample_at() gave is written: clears what is behind its rows. The longest length of its
  /// ragged fields; 1 where it has none.
  std::size_t finish_sample(const BatchLayout& layout) const noexcept {
    clear_tails(layout.fields(), places_, length_places_);
    std::int32_t longest = 1;
    for (const std::int32_t* length : length_places_) {
      longest = std::max(longest, length ? *length : 0);
    }
    return static_cast<std::size_t>(longest);
  }

  /// Keeps a sample that was just written, as the next one.
  void keep(const BatchLayout& layout, std::byte* slot, std::size_t place) {
    memory_.resize(form_.bytes());
    lengths_.assign(form_.layout().size(), 0);
    for (std::size_t f = 0; f < form_.layout().size(); ++f) {
      const std::byte* from = layout.place(slot, f, place);
      std::copy(from, from + form_.layout()[f].bytes(), memory_.data() + form_.offset(f));
      if (const std::int32_t* length = layout.length(slot, f, place)) lengths_[f] = *length;
    }
    kept_ = true;
  }

 private:
  const AnyStream* stream_;
  std::size_t index_;
  SampleForm form_;
  Mutex mutex_;
  std::unique_ptr<AnyReader> reader_;
  std::uint64_t position_ = 0;
  std::atomic<std::uint64_t> reading_{0};
  bool ended_ = false;

  bool kept_ = false;
  std::vector<std::byte> memory_;  ///< of the kept sample
  std::vector<std::int32_t> lengths_;
  std::vector<std::byte*> places_;  ///< of the sample of sample_at()
  std::vector<std::int32_t*> length_places_;
};

/// A sample of a stream that could not be loaded.
struct FailedSample {
  std::size_t sample;  ///< in its shard; of a dataset, its index there
  std::string name;    ///< of the shard, or of the sample
  Skip skip;
  std::exception_ptr cause;
};

/// The one that a shard has just failed to give. In a shuffled dataset its place is another one in
/// each epoch, so that its index tells which it is.
inline FailedSample failed_sample(const ShardState& shard, const std::string& shard_name,
                                  const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const FailedInSource& of) {
    return {of.sample, of.name, {of.sample, of.name, reason_of(of.cause)}, of.cause};
  } catch (...) {
    const auto sample = static_cast<std::size_t>(shard.position() - 1);
    const std::string title = "sample " + std::to_string(sample) + " of " + shard_name;
    return {sample, shard_name, {(shard.index() << 40) + sample, title, reason_of(cause)}, cause};
  }
}

}  // namespace feedrate::inline v0::detail
