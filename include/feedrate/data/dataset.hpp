// SPDX-License-Identifier: Apache-2.0
// A dataset: random access to samples of named fields, each written in place into a batch.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/core/tensor.hpp"

namespace feedrate::inline v0 {

/// One named part of a sample, such as "image" or "label".
struct Field {
  std::string name;
  DType dtype = DType::f32;  ///< of each element
  Shape shape;               ///< of one sample; {} for a scalar
  bool ragged = false;       ///< shape[0] is a maximum; the true length is kept beside the data

  /// Of one sample.
  std::size_t bytes() const noexcept { return shape.elements() * bytes_of(dtype); }

  bool operator==(const Field&) const = default;
};

/// The fields of every sample of a dataset.
using Layout = std::vector<Field>;

namespace detail {

inline bool fits_in_memory(const Field& field) noexcept {
  std::size_t bytes = bytes_of(field.dtype);
  for (std::size_t d = 0; d < field.shape.rank(); ++d) {
    if (field.shape[d] == 0) return true;
    if (__builtin_mul_overflow(bytes, field.shape[d], &bytes)) return false;
  }
  return true;
}

/// Lengths are of 32 bits.
inline bool has_length(const Shape& shape) noexcept {
  return shape.rank() > 0 && shape[0] <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace detail

/// Throws Error(usage) where two fields have the same name, one takes more bytes than there are
/// addresses, or a ragged one has no extent that its length could be of.
inline const Layout& checked(const Layout& layout) {
  for (std::size_t f = 0; f < layout.size(); ++f) {
    if (!detail::fits_in_memory(layout[f])) {
      throw Error(Fault::usage, "The field '" + layout[f].name +
                                    "' has more elements than fit into memory: make its shape "
                                    "smaller.");
    }
    if (layout[f].ragged && !detail::has_length(layout[f].shape)) {
      throw Error(Fault::usage, "The ragged field '" + layout[f].name +
                                    "' needs a first extent, of at most 2147483647: the most rows "
                                    "of a sample.");
    }
    for (std::size_t g = 0; g < f; ++g) {
      if (layout[f].name != layout[g].name) continue;
      throw Error(Fault::usage, "The dataset has two fields named '" + layout[f].name +
                                    "': give each a name of its own.");
    }
  }
  return layout;
}

/// Index of the field called `name`; throws Error(usage) naming the fields there are.
inline std::size_t field_index(const Layout& layout, std::string_view name) {
  std::string known;
  for (std::size_t f = 0; f < layout.size(); ++f) {
    if (layout[f].name == name) return f;
    known += (f ? ", " : "") + layout[f].name;
  }
  throw Error(Fault::usage,
              "There is no field '" + std::string(name) + "'; the fields are: " + known + ".");
}

/// For which batch a sample is loaded, all counted from 0.
struct BatchPlace {
  std::uint64_t epoch = 0;   ///< of the loader
  std::size_t batch = 0;     ///< of the epoch; 0 of a stream, which does not know it yet
  std::size_t position = 0;  ///< in the batch

  bool operator==(const BatchPlace&) const = default;
};

/// The place of one sample in a batch. `load` writes every field of it.
class Sample {
 public:
  /// `places[f]` is where field f goes; `lengths[f]` receives the length of a ragged field.
  Sample(const Layout& layout, std::span<std::byte* const> places,
         std::span<std::int32_t* const> lengths, const BatchPlace& at = {}) noexcept
      : layout_(&layout), places_(places), lengths_(lengths), at_(at) {}

  /// For what changes with the epoch, or is the same for all samples of a batch.
  const BatchPlace& at() const noexcept { return at_; }

  /// The elements of field `f`; throws Error(usage) when T is not the field's type.
  template <class T>
  std::span<T> get(std::size_t f) const {
    const Field& field = layout_->at(f);
    return TensorView{places_[f], field.dtype, field.shape}.as<T>();
  }

  /// The same of the field called `name`; throws Error(usage) where there is none.
  template <class T>
  std::span<T> get(std::string_view name) const {
    return get<T>(field_index(*layout_, name));
  }

  /// The one element of a scalar field, such as a label.
  template <class T>
  T& scalar(std::string_view name) const {
    return get<T>(name)[0];
  }

  /// The fields from `first` on, as a sample of `layout`, which must outlive it.
  Sample part(const Layout& layout, std::size_t first) const noexcept {
    return {layout, places_.subspan(first, layout.size()), lengths_.subspan(first, layout.size()),
            at_};
  }

  /// The first byte of field `f`, for copies of whole fields.
  std::byte* place(std::size_t f) const noexcept { return places_[f]; }
  /// Where the length of field `f` goes; it means something for ragged fields alone.
  std::int32_t* length_place(std::size_t f) const noexcept { return lengths_[f]; }

  /// How many of the shape[0] rows of a ragged field were written: all, until set_length() says
  /// so. Throws Error(usage) where the field is not ragged.
  std::size_t length(std::string_view name) const {
    const std::size_t f = field_index(*layout_, name);
    if ((*layout_)[f].ragged) return static_cast<std::size_t>(*lengths_[f]);
    throw Error(Fault::usage, "Field '" + std::string(name) + "' has no length: it is not ragged.");
  }

  /// Says how many of the shape[0] rows of a ragged field this sample has.
  void set_length(std::string_view name, std::size_t length) const {
    const std::size_t f = field_index(*layout_, name);
    const Field& field = (*layout_)[f];
    if (!field.ragged || length > field.shape[0]) {
      throw Error(Fault::usage, "Field '" + field.name + "' can't have the length " +
                                    std::to_string(length) + ": it is " +
                                    (field.ragged ? "longer than its maximum." : "not ragged."));
    }
    *lengths_[f] = static_cast<std::int32_t>(length);
  }

 private:
  const Layout* layout_;
  std::span<std::byte* const> places_;
  std::span<std::int32_t* const> lengths_;
  BatchPlace at_;
};

namespace detail {

/// Writes zeros behind the last row of each ragged field of a sample: what lay there before belongs
/// to another sample.
inline void clear_tails(const Layout& layout, std::span<std::byte* const> places,
                        std::span<std::int32_t* const> lengths) noexcept {
  for (std::size_t f = 0; f < layout.size(); ++f) {
    const std::size_t rows = layout[f].ragged ? layout[f].shape[0] : 0;
    if (rows == 0) continue;
    const std::size_t row_bytes = layout[f].bytes() / rows;
    const auto used = static_cast<std::size_t>(*lengths[f]);
    std::memset(places[f] + used * row_bytes, 0, (rows - used) * row_bytes);
  }
}

}  // namespace detail

/// Random access to samples.
///
/// `load(i, sample, random)` writes sample i, 0 <= i < size(), into `sample`. It is called from
/// many threads at once, must depend on i, `random` and sample.at() alone, and reports a bad sample
/// by throwing. `random` is keyed by (seed, epoch, i).
template <class D>
concept Dataset = requires(const D& dataset, std::size_t i, const Sample& sample, Random& random) {
  { dataset.size() } -> std::convertible_to<std::size_t>;
  { dataset.layout() } -> std::convertible_to<Layout>;
  dataset.load(i, sample, random);
};

/// A dataset that can say what its samples are called, for messages: a path, a row number.
template <class D>
concept Named = requires(const D& dataset, std::size_t i) {
  { dataset.name(i) } -> std::convertible_to<std::string>;
};

/// A dataset that lies on storage: `touch(i)` reads what sample i is stored in, so that it lies in
/// the page cache, and returns its bytes; `evict(i)` drops it from there and returns whether that
/// worked. Neither throws for a sample that can't be read.
template <class D>
concept Stored = requires(const D& dataset, std::size_t i) {
  { dataset.touch(i) } -> std::same_as<std::size_t>;
  { dataset.evict(i) } -> std::same_as<bool>;
};

}  // namespace feedrate::inline v0
