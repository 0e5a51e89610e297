// SPDX-License-Identifier: Apache-2.0
// A source that converts bytes to floats when samples are loaded: preprocessing in the workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/data/scratch.hpp"
#include "feedrate/load/source.hpp"

namespace feedrate::inline v0 {

/// Another source with one field of bytes turned into floats, level / 255; all else is as it was.
/// A batch of it takes four times the memory.
class Normalized final : public Source {
 public:
  /// Throws Error(usage) where `bytes` has no such field, or one of another type than u8.
  Normalized(std::shared_ptr<const Source> bytes, std::string_view field)
      : bytes_(std::move(bytes)),
        stored_(bytes_->layout()),
        field_(field_index(stored_, field)),
        layout_(stored_) {
    if (stored_[field_].dtype != DType::u8) {
      throw Error(Fault::usage, "Field '" + std::string(field) + "' holds " +
                                    std::string(name_of(stored_[field_].dtype)) +
                                    ": only bytes (u8) are normalised.");
    }
    layout_[field_].dtype = DType::f32;
  }

  std::size_t size() const override { return bytes_->size(); }
  Layout layout() const override { return layout_; }

  void load(std::size_t i, const Sample& sample, Random& random) const override {
    thread_local Scratch of_thread;
    Scratch scratch = std::exchange(of_thread, {});  // the source may be another such one
    bytes_->load(i, place_of_bytes(sample, scratch), random);
    const std::span<float> floats = sample.get<float>(field_);
    const std::uint8_t* const levels = scratch.levels.data();
    for (std::size_t e = 0; e < floats.size(); ++e) {
      floats[e] = static_cast<float>(levels[e]) * (1.0f / 255);
    }
    of_thread = std::move(scratch);
  }

  std::string name(std::size_t i) const override { return bytes_->name(i); }
  bool stored() const override { return bytes_->stored(); }
  std::size_t touch(std::size_t i) const override { return bytes_->touch(i); }
  bool evict(std::size_t i) const override { return bytes_->evict(i); }

 private:
  /// What a thread uses again for every sample.
  struct Scratch {
    std::vector<std::uint8_t> levels;
    std::vector<std::byte*> places;
    std::vector<std::int32_t*> lengths;
  };

  /// The sample with the place of the one field beside it. Slots may lie in memory that is slow to
  /// read, so that nothing is read back from there.
  Sample place_of_bytes(const Sample& sample, Scratch& scratch) const {
    const std::size_t fields = stored_.size();
    std::byte** const places = detail::grow(scratch.places, fields);
    std::int32_t** const lengths = detail::grow(scratch.lengths, fields);
    for (std::size_t f = 0; f < fields; ++f) {
      places[f] = sample.place(f);
      lengths[f] = sample.length_place(f);
    }
    const std::size_t elements = stored_[field_].shape.elements();
    places[field_] = reinterpret_cast<std::byte*>(detail::grow(scratch.levels, elements));
    return {stored_, {places, fields}, {lengths, fields}, sample.at()};
  }

  std::shared_ptr<const Source> bytes_;
  Layout stored_;
  std::size_t field_;
  Layout layout_;
};

}  // namespace feedrate::inline v0
