// SPDX-License-Identifier: Apache-2.0
// A dataset in memory: one contiguous array per field.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/data/dataset.hpp"

namespace feedrate::inline v0 {

/// Samples of fixed-size fields, held as one array per field. Fill the columns, then load.
class InMemory {
 public:
  InMemory(std::size_t samples, Layout layout) : samples_(samples), layout_(std::move(layout)) {
    for (const Field& field : layout_) columns_.emplace_back(samples * field.bytes());
  }

  std::size_t size() const noexcept { return samples_; }
  const Layout& layout() const noexcept { return layout_; }

  /// All samples of one field, [size, ...shape]; throws Error(usage) on a wrong name or type.
  template <class T>
  std::span<T> column(std::string_view name) {
    const std::size_t f = field_index(layout_, name);
    const TensorView all{columns_[f].data(), layout_[f].dtype, {columns_[f].size() / sizeof(T)}};
    return all.as<T>();
  }

  void load(std::size_t i, const Sample& sample, Random&) const {
    for (std::size_t f = 0; f < layout_.size(); ++f) {
      const std::size_t bytes = layout_[f].bytes();
      std::memcpy(sample.place(f), columns_[f].data() + i * bytes, bytes);
    }
  }

 private:
  std::size_t samples_;
  Layout layout_;
  std::vector<std::vector<std::byte>> columns_;
};

}  // namespace feedrate::inline v0
