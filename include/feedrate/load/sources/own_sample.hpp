// SPDX-License-Identifier: Apache-2.0
// The memory of one sample outside of any batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "feedrate/data/dataset.hpp"
#include "feedrate/data/scratch.hpp"

namespace feedrate::inline v0::detail {

/// Bytes of a sample's fields, one behind the other, each at a multiple of the alignment.
class SampleForm {
 public:
  static constexpr std::size_t alignment = 64;

  explicit SampleForm(Layout layout) : layout_(std::move(layout)) {
    for (const Field& field : layout_) {
      offsets_.push_back(bytes_);
      bytes_ += (field.bytes() + alignment - 1) / alignment * alignment;
    }
  }

  const Layout& layout() const noexcept { return layout_; }
  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t offset(std::size_t field) const noexcept { return offsets_[field]; }

 private:
  Layout layout_;
  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0;
};

/// A sample that lies in memory of a thread's own, used again for the next.
struct OwnSample {
  std::vector<std::byte> memory;
  std::vector<std::byte*> places;
  std::vector<std::int32_t> lengths;
  std::vector<std::int32_t*> length_places;

  /// In memory of its own, or at `data`, with lengths as of samples that are not ragged. `form`
  /// must outlive it.
  Sample as(const SampleForm& form, std::byte* data = nullptr, const BatchPlace& at = {}) {
    const std::size_t fields = form.layout().size();
    if (!data) data = aligned(grow(memory, form.bytes() + SampleForm::alignment));
    grow(places, fields), grow(lengths, fields), grow(length_places, fields);
    for (std::size_t f = 0; f < fields; ++f) {
      const Field& field = form.layout()[f];
      places[f] = data + form.offset(f);
      lengths[f] = field.ragged ? static_cast<std::int32_t>(field.shape[0]) : 0;
      length_places[f] = &lengths[f];
    }
    return {form.layout(), {places.data(), fields}, {length_places.data(), fields}, at};
  }

 private:
  static std::byte* aligned(std::byte* memory) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    constexpr std::uintptr_t unit = SampleForm::alignment;
    return memory + ((address + unit - 1) / unit * unit - address);
  }
};

/// Copies all fields of a sample, and the lengths of ragged ones, to another place.
inline void copy_sample(const SampleForm& form, const std::byte* from, const std::int32_t* lengths,
                        const Sample& to) noexcept {
  for (std::size_t f = 0; f < form.layout().size(); ++f) {
    const Field& field = form.layout()[f];
    std::memcpy(to.place(f), from + form.offset(f), field.bytes());
    if (field.ragged) *to.length_place(f) = lengths[f];
  }
}

}  // namespace feedrate::inline v0::detail
