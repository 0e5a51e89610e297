// SPDX-License-Identifier: Apache-2.0
// A folder of class folders of JPEG files, as a dataset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/data/dataset.hpp"
#include "feedrate/data/file.hpp"
#include "feedrate/data/folder_listing.hpp"
#include "feedrate/data/image/augment.hpp"
#include "feedrate/data/image/image_decoder.hpp"

namespace feedrate::inline v0 {

/// Samples of two fields: "image", [3, size, size] or [size, size, 3] of f32 or u8, and "label",
/// an i32: the index of the class folder among all class folders, sorted by name.
///
/// Satisfies Dataset, Named and Stored. `load` throws Error(data) with the path and the reason. The
/// constructor throws Error(data) if there is no image, or none of those it tries is readable.
class ImageFolder {
 public:
  explicit ImageFolder(std::string root, const ImageOptions& options = {})
      : root_(std::move(root)), options_(options) {
    check(options_);
    listing_ = list_image_folder(root_);
    check_some_readable();
  }

  /// The same of files that are listed already. Throws Error(usage) unless there is a label for
  /// each path, and at least one path.
  explicit ImageFolder(FolderListing listing, const ImageOptions& options = {})
      : root_("the list"), options_(options), listing_(std::move(listing)) {
    check(options_);
    if (listing_.paths.empty() || listing_.paths.size() != listing_.labels.size()) {
      throw Error(Fault::usage,
                  "A list of images needs a path at least, and a label for each; "
                  "this one has " +
                      std::to_string(listing_.paths.size()) + " paths and " +
                      std::to_string(listing_.labels.size()) + " labels.");
    }
    check_some_readable();
  }

  std::size_t size() const noexcept { return listing_.paths.size(); }

  Layout layout() const {
    const auto n = static_cast<std::size_t>(options_.size);
    const bool planes = options_.format.order == ChannelOrder::nchw;
    return {{"image", options_.format.dtype, planes ? Shape{3, n, n} : Shape{n, n, 3}},
            {"label", DType::i32, {}}};
  }

  void load(std::size_t i, const Sample& sample, Random& random) const {
    Scratch& scratch = scratch_of_thread();
    const std::string& path = listing_.paths.at(i);
    const auto file = read_file(path, scratch.file, max_file_bytes);
    scratch.decoder.decode(file, path, options_, random, place(sample));
    sample.get<std::int32_t>(1)[0] = listing_.labels[i];
  }

  /// The path of sample i.
  const std::string& name(std::size_t i) const { return listing_.paths.at(i); }

  std::size_t touch(std::size_t i) const { return touch_file(name(i)); }
  bool evict(std::size_t i) const { return evict_file(name(i)); }

  /// The class of sample i, an index into classes(). Throws std::out_of_range.
  std::int32_t label(std::size_t i) const { return listing_.labels.at(i); }

  /// Names of the classes by label; empty where the images lie in no class folder.
  const std::vector<std::string>& classes() const noexcept { return listing_.classes; }

  /// Number of classes: of their names, or 1 + the largest label where that is more.
  std::size_t class_count() const noexcept {
    const auto& labels = listing_.labels;
    const std::int32_t largest = std::max(0, *std::max_element(labels.begin(), labels.end()));
    return std::max(classes().size(), std::size_t{1} + static_cast<std::size_t>(largest));
  }

  /// Images that lie beside the class folders and so belong to none; they are no samples.
  std::size_t ignored() const noexcept { return listing_.ignored; }

  /// What it was made with.
  const ImageOptions& options() const noexcept { return options_; }

 private:
  static constexpr std::size_t max_file_bytes = std::size_t{256} << 20;

  struct Scratch {
    std::vector<std::uint8_t> file;
    ImageDecoder decoder;
  };

  static Scratch& scratch_of_thread() {
    thread_local Scratch scratch;
    return scratch;
  }

  void* place(const Sample& sample) const {
    if (options_.format.dtype == DType::u8) return sample.get<std::uint8_t>(0).data();
    return sample.get<float>(0).data();
  }

  /// Opens up to 16 files spread over the dataset; one good header is enough.
  void check_some_readable() const {
    const std::size_t tries = std::min<std::size_t>(16, size());
    std::string first_reason;
    for (std::size_t t = 0; t < tries; ++t) {
      const std::string reason = why_unreadable(listing_.paths[t * size() / tries]);
      if (reason.empty()) return;
      if (t == 0) first_reason = reason;
    }
    throw Error(Fault::data, "None of the " + std::to_string(tries) + " images tried in '" + root_ +
                                 "' can be read; the first: " + first_reason);
  }

  /// The error that the header of a file gives; empty if it is fine.
  static std::string why_unreadable(const std::string& path) {
    std::vector<std::uint8_t> bytes;
    try {
      JpegDecoder().open(read_file(path, bytes, max_file_bytes), path);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::string root_;
  ImageOptions options_;
  FolderListing listing_;
};

}  // namespace feedrate::inline v0
