// SPDX-License-Identifier: Apache-2.0
// Where a training stands in its epochs.
#pragma once

#include <cstdint>

#include "feedrate/load/options.hpp"

namespace feedrate::python {

/// One loop over a loader. Only the loader changes it, under its lock.
struct Loop {
  std::uint64_t iteration = 0;  ///< of the loader
  bool ended = false;
};

/// Behind the last batch of a loop, and where the next loop begins.
class Place {
 public:
  /// Where training stands: what a checkpoint holds.
  Cursor cursor() const noexcept { return at_end() || is_set_ ? next_ : stands_; }
  bool at_end() const noexcept { return stands_.epoch != epoch_; }  ///< of the epoch of the loop
  std::uint64_t epoch() const noexcept { return epoch_; }  ///< of the loop, or the last one
  Cursor next() const noexcept { return next_; }
  bool is_next() const noexcept { return stands_ == next_; }

  /// The next loop begins there.
  void set(Cursor at) noexcept {
    next_ = at;
    is_set_ = true;
  }
  /// The loader begins there.
  void stand(Cursor at) noexcept { stands_ = at; }
  /// A loop over the epoch where the loader stands.
  void begin_epoch() noexcept { epoch_ = stands_.epoch; }
  /// The same, and the next one is of the epoch behind it.
  void begin_loop() noexcept {
    begin_epoch();
    next_ = {epoch_ + 1, 0};
    is_set_ = false;
  }
  void take(Cursor behind) noexcept {
    stands_ = behind;
    is_set_ = false;
  }
  /// Every sample that the epoch still had was left out.
  void end_epoch() noexcept { stands_ = {epoch_ + 1, 0}; }

 private:
  Cursor stands_, next_;
  std::uint64_t epoch_ = 0;
  bool is_set_ = false;  ///< since the last batch
};

}  // namespace feedrate::python
