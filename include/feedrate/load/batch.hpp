// SPDX-License-Identifier: Apache-2.0
// A batch: the layout of its fields in a slot, and the consumer's view of a filled slot.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/data/dataset.hpp"

namespace feedrate::inline v0 {

/// Where each field of a batch lies in its slot: field after field, each [batch, ...shape] and
/// aligned to 256 bytes, then the lengths of the ragged ones, so that one copy moves it all.
class BatchLayout {
 public:
  static constexpr std::size_t alignment = 256;  ///< of each field, in bytes

  BatchLayout() = default;
  BatchLayout(Layout layout, std::size_t batch) : layout_(std::move(layout)), batch_(batch) {
    for (const Field& field : layout_) offsets_.push_back(reserve(field.bytes()));
    for (const Field& field : layout_) {
      lengths_.push_back(field.ragged ? reserve(sizeof(std::int32_t)) : none);
    }
  }

  const Layout& fields() const noexcept { return layout_; }  ///< of a sample
  std::size_t batch() const noexcept { return batch_; }      ///< samples in a slot
  /// Bytes of one slot, a multiple of the alignment.
  std::size_t bytes() const noexcept { return bytes_; }

  /// Of all fields of one sample.
  std::size_t sample_bytes() const noexcept {
    std::size_t sum = 0;
    for (const Field& field : layout_) sum += field.bytes();
    return sum;
  }

  /// The first byte of sample `p` of field `f`.
  std::byte* place(std::byte* slot, std::size_t f, std::size_t p) const noexcept {
    return slot + offsets_[f] + p * layout_[f].bytes();
  }

  /// Moves the samples of each ragged field together, so that its rows are as many as the longest
  /// of `count` samples has; `rows[f]` becomes that number.
  void trim(std::byte* slot, std::size_t count, std::span<std::uint32_t> rows) const noexcept {
    for (std::size_t f = 0; f < layout_.size(); ++f) {
      const std::int32_t* lengths = length(slot, f, 0);
      if (!lengths || layout_[f].shape[0] == 0) continue;
      const std::int32_t longest = count > 0 ? *std::max_element(lengths, lengths + count) : 0;
      rows[f] = static_cast<std::uint32_t>(longest);
      const std::size_t bytes = layout_[f].bytes() / layout_[f].shape[0] * rows[f];
      if (bytes == layout_[f].bytes()) continue;
      for (std::size_t p = 1; p < count; ++p) {
        std::memmove(place(slot, f, 0) + p * bytes, place(slot, f, p), bytes);
      }
    }
  }

  /// The length of sample `p` of field `f`; nullptr when the field is not ragged.
  std::int32_t* length(std::byte* slot, std::size_t f, std::size_t p) const noexcept {
    if (lengths_[f] == none) return nullptr;
    return reinterpret_cast<std::int32_t*>(slot + lengths_[f]) + p;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1), most_bytes = none / 4;

  std::size_t reserve(std::size_t bytes_per_sample) {
    const std::size_t offset = bytes_;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(bytes_per_sample, batch_, &bytes) || bytes > most_bytes - bytes_) {
      throw Error(Fault::usage, "A batch of " + std::to_string(batch_) +
                                    " samples does not fit into memory: make it smaller.");
    }
    bytes_ += (bytes + alignment - 1) / alignment * alignment;
    return offset;
  }

  Layout layout_;
  std::size_t batch_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> lengths_;
};

/// A filled batch. The memory belongs to the loader's slot and is valid while the lease is held.
class Batch {
 public:
  Batch() = default;
  /// `rows`, where given, are those of each ragged field that was trimmed.
  Batch(const BatchLayout& layout, std::byte* slot, std::size_t count, std::uint64_t epoch,
        std::size_t index, bool last, const std::uint32_t* rows = nullptr) noexcept
      : layout_(&layout),
        slot_(slot),
        count_(count),
        epoch_(epoch),
        index_(index),
        last_(last),
        rows_(rows) {}

  /// Samples in this batch; at most capacity().
  std::size_t count() const noexcept { return count_; }
  /// Samples that the slot has room for. The labels behind count() are -1.
  std::size_t capacity() const noexcept { return layout_->batch(); }
  /// From 0.
  std::uint64_t epoch() const noexcept { return epoch_; }
  /// Which batch of its epoch this is.
  std::size_t index() const noexcept { return index_; }
  /// True for the last batch of its epoch; never of a StreamLoader, which can't know it yet.
  bool last() const noexcept { return last_; }

  /// Field `f` as a tensor of [count, ...shape]; of a ragged field in a loader that trims, the
  /// second extent is the longest length.
  TensorView tensor(std::size_t f) const {
    const Field& field = layout_->fields().at(f);
    std::array<std::size_t, Shape::max_rank> extents{count_};
    const auto inner = field.shape.extents();
    if (inner.size() + 1 > extents.size()) {
      throw Error(Fault::usage, "Field '" + field.name + "' has too many extents for a batch.");
    }
    std::copy(inner.begin(), inner.end(), extents.begin() + 1);
    if (is_trimmed(field)) extents[1] = rows_[f];
    return {layout_->place(slot_, f, 0), field.dtype,
            Shape(std::span<const std::size_t>(extents.data(), inner.size() + 1))};
  }
  /// The same of the field called `name`; throws Error(usage) where there is none.
  TensorView tensor(std::string_view name) const {
    return tensor(field_index(layout_->fields(), name));
  }

  /// All elements of a field, count x shape of them; throws Error(usage) on a wrong name or type.
  template <class T>
  std::span<T> get(std::string_view name) const {
    return tensor(name).as<T>();
  }

  /// The true lengths of a ragged field, one per sample; empty when the field is not ragged.
  std::span<const std::int32_t> lengths(std::string_view name) const {
    const std::int32_t* first = layout_->length(slot_, field_index(layout_->fields(), name), 0);
    return {first, first ? count_ : 0};
  }

  /// The elements of sample `i` of a field; of a ragged one as many rows as the sample has. Throws
  /// Error(usage) on a wrong name, type or sample.
  template <class T>
  std::span<T> row(std::string_view name, std::size_t i) const {
    const std::size_t f = field_index(layout_->fields(), name);
    if (i >= count_) {
      throw Error(Fault::usage, "Sample " + std::to_string(i) + " of a batch of " +
                                    std::to_string(count_) + " was asked for.");
    }
    const TensorView whole = tensor(f);
    const std::size_t elements = whole.shape.elements() / count_;
    const std::span<T> all = whole.as<T>().subspan(i * elements, elements);
    const std::int32_t* length = layout_->length(slot_, f, i);
    if (!length || all.empty()) return all;
    return all.first(all.size() / whole.shape[1] * static_cast<std::size_t>(*length));
  }

  /// Sample `i` of a ragged field of u8, as text.
  std::string_view text(std::string_view name, std::size_t i) const {
    const auto bytes = row<std::uint8_t>(name, i);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  const BatchLayout& layout() const noexcept { return *layout_; }
  /// Rows of each ragged field that was trimmed; nullptr where the loader does not trim.
  const std::uint32_t* rows() const noexcept { return rows_; }
  /// The whole slot, for one contiguous copy of layout().bytes().
  std::byte* data() const noexcept { return slot_; }

 private:
  bool is_trimmed(const Field& field) const noexcept {
    return rows_ && field.ragged && field.shape[0] > 0;
  }

  const BatchLayout* layout_ = nullptr;
  std::byte* slot_ = nullptr;
  std::size_t count_ = 0;
  std::uint64_t epoch_ = 0;
  std::size_t index_ = 0;
  bool last_ = false;
  const std::uint32_t* rows_ = nullptr;
};

}  // namespace feedrate::inline v0
