// SPDX-License-Identifier: Apache-2.0
// A source whose samples are kept in memory once they were loaded, as far as they fit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/load/sources/as_source.hpp"
#include "feedrate/load/sources/own_sample.hpp"

namespace feedrate::inline v0 {

/// Keeps the samples that are loaded first. Which these are depends on the timing of the workers.
/// What a source draws at random is drawn once for them, so let a source behind the cache draw.
class Cached final : public Source {
 public:
  /// `bytes` that the kept samples may take. Throws Error(usage) where not one fits.
  Cached(std::shared_ptr<const Source> source, std::size_t bytes)
      : source_(std::move(source)),
        form_(source_->layout()),
        slots_(std::min(source_->size(), bytes / std::max<std::size_t>(form_.bytes(), 1))),
        lengths_(slots_ * form_.layout().size()),
        memory_(new std::byte[slots_ * form_.bytes() + detail::SampleForm::alignment]),
        place_(source_->size()) {
    if (slots_ == 0 && source_->size() > 0) {
      throw Error(Fault::usage, "A cache of " + std::to_string(bytes) +
                                    " bytes holds no sample: one takes " +
                                    std::to_string(form_.bytes()) + ".");
    }
  }

  std::size_t size() const override { return source_->size(); }
  Layout layout() const override { return source_->layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const override {
    Random own = random.far_ahead();  // what is behind draws alike, kept or not
    const std::uint64_t place = place_[i].load(std::memory_order_acquire);
    if (place > taken && place < failed) return give(place - taken - 1, sample);
    const auto slot = place == taken ? slots_ : take(i, place);
    if (slot == slots_) return source_->load(i, sample, own);
    fill(i, slot, own, sample.at());
    give(slot, sample);
  }
  std::string name(std::size_t i) const override { return source_->name(i); }
  bool stored() const override { return source_->stored(); }
  std::size_t touch(std::size_t i) const override { return source_->touch(i); }
  bool evict(std::size_t i) const override { return source_->evict(i); }

  /// Samples that are kept now.
  std::size_t kept() const noexcept { return kept_.load(std::memory_order_relaxed); }

 private:
  /// Beyond `taken`: the slot + 2; from `failed` on: a slot that is still to be filled.
  static constexpr std::uint64_t none = 0, taken = 1, failed = std::uint64_t{1} << 63;

  /// A slot for sample i, which has this `place` and is then this thread's to fill; `slots_` where
  /// there is none, or another thread is filling one.
  std::size_t take(std::size_t i, std::uint64_t place) const noexcept {
    if (place == none && next_.load(std::memory_order_relaxed) >= slots_) return slots_;
    if (!place_[i].compare_exchange_strong(place, taken, std::memory_order_acquire)) return slots_;
    if (place != none) return static_cast<std::size_t>(place - failed);
    return std::min(next_.fetch_add(1, std::memory_order_relaxed), slots_);
  }

  /// One that can't be loaded keeps its slot: it is tried again each time.
  void fill(std::size_t i, std::size_t slot, Random& random, const BatchPlace& at) const try {
    thread_local detail::OwnSample of_thread;
    detail::OwnSample own = std::exchange(of_thread, {});
    source_->load(i, own.as(form_, data_of(slot), at), random);
    std::copy_n(own.lengths.begin(), form_.layout().size(), lengths_of(slot));
    of_thread = std::move(own);
    place_[i].store(slot + taken + 1, std::memory_order_release);
    kept_.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    place_[i].store(failed + slot, std::memory_order_release);
    throw;
  }

  void give(std::size_t slot, const Sample& sample) const noexcept {
    detail::copy_sample(form_, data_of(slot), lengths_of(slot), sample);
  }

  std::byte* data_of(std::size_t slot) const noexcept {
    constexpr std::size_t unit = detail::SampleForm::alignment;
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    return memory_.get() + (unit - address % unit) % unit + slot * form_.bytes();
  }
  std::int32_t* lengths_of(std::size_t slot) const noexcept {
    return lengths_.data() + slot * form_.layout().size();
  }

  std::shared_ptr<const Source> source_;
  detail::SampleForm form_;
  std::size_t slots_;
  mutable std::vector<std::int32_t> lengths_;
  std::unique_ptr<std::byte[]> memory_;
  mutable std::vector<std::atomic<std::uint64_t>> place_;  ///< of each sample
  mutable std::atomic<std::size_t> next_{0}, kept_{0};
};

/// A dataset whose samples stay in memory of at most `bytes`, the first that are loaded. Fields are
/// kept as they are loaded, so that what a dataset does at random, or for the batch that it is
/// loaded for, is the same in each epoch: put augmentation behind it, with `map`. Throws
/// Error(usage) where not one sample fits.
template <SourceLike D>
std::shared_ptr<const Source> cache(D dataset, std::size_t bytes) {
  return std::make_shared<const Cached>(detail::as_source(std::move(dataset)), bytes);
}

}  // namespace feedrate::inline v0
