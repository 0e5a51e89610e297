// SPDX-License-Identifier: Apache-2.0
// A NumPy file of samples, memory-mapped, as a dataset.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/data/dataset.hpp"
#include "feedrate/data/file.hpp"
#include "feedrate/data/mapped_file.hpp"
#include "feedrate/data/npy_header.hpp"

namespace feedrate::inline v0 {

/// A .npy file in memory; the first axis counts its rows. Throws Error(data) naming the file.
class NpyArray {
 public:
  explicit NpyArray(const std::string& path) : path_(path), file_(path) {
    header_ = read_npy_header(file_.bytes(), path);
    if (header_.extents.empty() || header_.data_bytes == 0) {
      throw Error(Fault::data,
                  "'" + path +
                      (header_.extents.empty()
                           ? "' is a single number; save an array whose first axis counts samples."
                           : "' holds no elements; save an array of at least one."));
    }
  }

  const std::string& path() const noexcept { return path_; }
  DType dtype() const noexcept { return header_.dtype; }
  std::size_t rows() const noexcept { return header_.extents[0]; }
  Shape row_shape() const { return Shape(std::span(header_.extents).subspan(1)); }
  std::size_t row_bytes() const noexcept { return header_.data_bytes / rows(); }
  const std::uint8_t* row(std::size_t i) const noexcept {
    return file_.bytes().data() + offset_of(i);
  }

  /// Reads a byte of each page of row i; returns the row's bytes.
  std::size_t touch_row(std::size_t i) const noexcept {
    constexpr std::size_t page = 4096;
    const volatile std::uint8_t* const bytes = row(i);
    for (std::size_t at = 0; at < row_bytes(); at += page) static_cast<void>(bytes[at]);
    static_cast<void>(bytes[row_bytes() - 1]);  // its page may be another one
    return row_bytes();
  }

  /// Unmaps the pages of row i, then drops them from the page cache, with what shares a page with
  /// them: the kernel keeps pages, of up to 2 MiB, that lie only partly in the range.
  bool evict_row(std::size_t i) const {
    constexpr std::size_t largest_page = std::size_t{2} << 20;
    const std::size_t begin = offset_of(i) / largest_page * largest_page;
    const std::size_t end = offset_of(i) + row_bytes();
    const std::size_t pages = (end - begin + largest_page - 1) / largest_page;
    const std::size_t bytes = std::min(pages * largest_page, file_.bytes().size() - begin);
    return file_.forget(begin, bytes) && evict_file(path_, begin, bytes);
  }

 private:
  std::size_t offset_of(std::size_t i) const noexcept {
    return header_.data_offset + i * row_bytes();
  }

  std::string path_;
  MappedFile file_;
  NpyHeader header_;
};

/// Samples of two fields: "input", one row of the array, and "label", an i32: the element of
/// another .npy file (of integers, one dimension), or 0 without one. Satisfies Dataset,
/// Named and Stored.
class NpyFile {
 public:
  explicit NpyFile(const std::string& path) : input_(path) {}

  NpyFile(const std::string& path, const std::string& labels_path)
      : input_(path), labels_(labels_path) {
    check_labels();
  }

  std::size_t size() const noexcept { return input_.rows(); }

  Layout layout() const {
    return {{"input", input_.dtype(), input_.row_shape()}, {"label", DType::i32, {}}};
  }

  void load(std::size_t i, const Sample& sample, Random&) const {
    check_index(i);
    std::memcpy(sample.place(0), input_.row(i), input_.row_bytes());
    sample.get<std::int32_t>(1)[0] = label(i);
  }

  std::string name(std::size_t i) const { return input_.path() + "[" + std::to_string(i) + "]"; }

  std::size_t touch(std::size_t i) const noexcept { return input_.touch_row(i); }
  bool evict(std::size_t i) const { return input_.evict_row(i); }

  /// Throws Error(data) where a label does not fit 31 bits or is negative.
  std::int32_t label(std::size_t i) const {
    if (!labels_) return 0;
    const std::int64_t value = wide_label(i);
    if (value >= 0 && value <= std::numeric_limits<std::int32_t>::max()) {
      return static_cast<std::int32_t>(value);
    }
    throw Error(Fault::data, "'" + labels_->path() + "' has the label " + std::to_string(value) +
                                 " at row " + std::to_string(i) +
                                 "; labels must be classes counted from 0.");
  }

 private:
  /// Of any integer, whose bytes are those of a little-endian machine, as this is.
  std::int64_t wide_label(std::size_t i) const noexcept {
    static_assert(std::endian::native == std::endian::little);
    const DType dtype = labels_->dtype();
    std::uint64_t value = 0;
    std::memcpy(&value, labels_->row(i), bytes_of(dtype));
    const auto unused = static_cast<int>(64 - 8 * bytes_of(dtype));
    if (is_signed_integer(dtype)) return static_cast<std::int64_t>(value << unused) >> unused;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
  }

  void check_labels() const {
    if (!is_integer(labels_->dtype()) || labels_->row_shape().rank() != 0) {
      throw Error(Fault::data, "The labels '" + labels_->path() +
                                   "' are not a list of integers; save an array of one dimension "
                                   "of whole numbers.");
    }
    if (labels_->rows() != size()) {
      throw Error(Fault::data, "The labels '" + labels_->path() + "' have " +
                                   std::to_string(labels_->rows()) + " rows but '" + input_.path() +
                                   "' has " + std::to_string(size()) + "; they must be as many.");
    }
  }

  void check_index(std::size_t i) const {
    if (i < size()) return;
    throw Error(Fault::usage, "Row " + std::to_string(i) + " of '" + input_.path() +
                                  "' was asked for, which has " + std::to_string(size()) + ".");
  }

  NpyArray input_;
  std::optional<NpyArray> labels_;
};

}  // namespace feedrate::inline v0
