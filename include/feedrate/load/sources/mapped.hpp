// SPDX-License-Identifier: Apache-2.0
// A function of each sample, computed by the workers.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "feedrate/load/sources/as_source.hpp"
#include "feedrate/load/sources/own_sample.hpp"

namespace feedrate::inline v0 {

/// `function(from, to, random)` of each sample of another source.
template <class F>
class Mapped final : public Source {
 public:
  Mapped(std::shared_ptr<const Source> source, Layout layout, F function)
      : source_(std::move(source)),
        form_(source_->layout()),
        layout_(std::move(layout)),
        function_(std::move(function)) {}

  std::size_t size() const override { return source_->size(); }
  Layout layout() const override { return layout_; }
  void load(std::size_t i, const Sample& sample, Random& random) const override {
    thread_local detail::OwnSample of_thread;
    detail::OwnSample own = std::exchange(of_thread, {});  // the source may be another such one
    const Sample from = own.as(form_, nullptr, sample.at());
    source_->load(i, from, random);
    detail::clear_tails(form_.layout(), own.places, own.length_places);
    function_(from, sample, random);
    of_thread = std::move(own);
  }
  std::string name(std::size_t i) const override { return source_->name(i); }
  bool stored() const override { return source_->stored(); }
  std::size_t touch(std::size_t i) const override { return source_->touch(i); }
  bool evict(std::size_t i) const override { return source_->evict(i); }

 private:
  std::shared_ptr<const Source> source_;
  detail::SampleForm form_;
  Layout layout_;
  F function_;
};

/// Samples of `layout`. For each, `function(const Sample& from, const Sample& to, Random&)` writes
/// `to` from `from`, a sample of the dataset. Many threads call it at once. `from` lies in memory
/// of its thread, with zeros behind the length of ragged fields; the function may overwrite it. If
/// it throws, the sample fails with that error.
template <SourceLike D, class F>
std::shared_ptr<const Source> map(D dataset, Layout layout, F function) {
  return std::make_shared<const Mapped<F>>(detail::as_source(std::move(dataset)), std::move(layout),
                                           std::move(function));
}

}  // namespace feedrate::inline v0
