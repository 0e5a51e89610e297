// SPDX-License-Identifier: Apache-2.0
// A source: a dataset with erased type, one virtual call per sample.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "feedrate/data/dataset.hpp"

namespace feedrate::inline v0 {

/// What the loader knows of a dataset.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual std::size_t size() const = 0;
  virtual Layout layout() const = 0;
  virtual void load(std::size_t i, const Sample& sample, Random& random) const = 0;
  /// What sample i is called in messages; empty when the dataset names no samples.
  virtual std::string name(std::size_t i) const = 0;
  /// Whether the dataset lies on storage, so that touch and evict mean something.
  virtual bool stored() const = 0;
  /// Brings sample i into the page cache; its bytes, or 0 where that can't be done.
  virtual std::size_t touch(std::size_t i) const = 0;
  /// Drops sample i from the page cache; false where that can't be done.
  virtual bool evict(std::size_t i) const = 0;
};

namespace detail {

template <class D>
class SourceOf final : public Source {
 public:
  explicit SourceOf(std::shared_ptr<const D> dataset) : dataset_(std::move(dataset)) {}

  std::size_t size() const override { return dataset_->size(); }
  Layout layout() const override { return dataset_->layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const override {
    dataset_->load(i, sample, random);
  }
  std::string name([[maybe_unused]] std::size_t i) const override {
    if constexpr (Named<D>) return dataset_->name(i);
    return {};
  }
  bool stored() const override { return Stored<D>; }
  std::size_t touch([[maybe_unused]] std::size_t i) const override {
    if constexpr (Stored<D>) return dataset_->touch(i);
    return 0;
  }
  bool evict([[maybe_unused]] std::size_t i) const override {
    if constexpr (Stored<D>) return dataset_->evict(i);
    return false;
  }

 private:
  std::shared_ptr<const D> dataset_;
};

}  // namespace detail

/// Erases the type of a dataset that several loaders may share.
template <class D>
std::shared_ptr<const Source> make_source(std::shared_ptr<D> dataset) {
  static_assert(
      Dataset<D>,
      "feedrate: a dataset needs size(), layout() and load(i, sample, random), all const");
  static_assert(
      Named<D> || !requires(const D& d) { d.name(std::size_t{}); },
      "feedrate: name(i) of a dataset returns what converts to std::string");
  static_assert(Stored<D> || !(
                                 requires(const D& d) { d.touch(std::size_t{}); } ||
                                 requires(const D& d) { d.evict(std::size_t{}); }),
                "feedrate: a dataset has both std::size_t touch(i) and bool evict(i), or neither");
  return std::make_shared<detail::SourceOf<std::remove_const_t<D>>>(std::move(dataset));
}

/// Erases the type of a dataset.
template <class D>
std::shared_ptr<const Source> make_source(D dataset) {
  return make_source(std::make_shared<const D>(std::move(dataset)));
}

}  // namespace feedrate::inline v0
