// SPDX-License-Identifier: Apache-2.0
// Decoded pictures of a folder in memory, as a dataset: the what-if without decoding.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/image/augment.hpp"
#include "feedrate/data/image/image_folder.hpp"
#include "feedrate/data/image/jpeg.hpp"
#include "feedrate/data/image/pixels.hpp"
#include "feedrate/data/image/resize.hpp"
#include "feedrate/data/order.hpp"

namespace feedrate::inline v0 {

/// How much is decoded beforehand.
struct DecodedOptions {
  std::size_t bytes = std::size_t{256} << 20;  ///< of memory, at most; one picture in any case
  int threads = 1;                             ///< that decode
};

/// The samples of an ImageFolder, cropped, resized, mirrored and normalised by the same code, but
/// from pictures that were read and decoded by the constructor. It holds as many as its memory
/// allows, chosen over the whole folder; the others are stood in for by these, so that an epoch
/// is as long. Where all fit, the samples are those of the folder, byte for byte, unless that one
/// has dct_scaling.
///
/// Satisfies Dataset and Named. The constructor throws Error(data) when no picture can be decoded,
/// and Error(usage) where the folder has Transform::none or a `color`.
class DecodedImages {
 public:
  explicit DecodedImages(std::shared_ptr<const ImageFolder> folder,
                         const DecodedOptions& options = {})
      : folder_(std::move(folder)) {
    const ImageOptions& images = folder_->options();
    if (images.transform == Transform::none || images.color != ColorJitter{}) {
      throw Error(Fault::usage,
                  "Decoded pictures are resized, and their colours stay: leave out Transform::none "
                  "and color, or take the folder itself.");
    }
    choose(options.bytes);
    decode(options.threads);
  }

  std::size_t size() const noexcept { return folder_->size(); }
  Layout layout() const { return folder_->layout(); }
  const std::string& name(std::size_t i) const { return folder_->name(picture(i).sample); }

  void load(std::size_t i, const Sample& sample, Random& random) const {
    const Picture& from = picture(i);
    write(from, random, sample.place(0));
    sample.get<std::int32_t>(1)[0] = folder_->label(from.sample);
  }

  /// Pictures that lie decoded.
  std::size_t held() const noexcept { return pictures_.size(); }

 private:
  struct Picture {
    std::size_t sample = 0;
    JpegHeader header;
    std::vector<std::uint8_t> rgbx;  ///< rows of 4 bytes a pixel; empty: can't be decoded

    std::size_t row_bytes() const noexcept { return static_cast<std::size_t>(header.width) * 4; }
    /// The resizer looks some pixels beyond the last row.
    std::size_t bytes() const noexcept {
      return row_bytes() * static_cast<std::size_t>(header.height + 1) + 256;
    }
  };

  const Picture& picture(std::size_t i) const { return pictures_[i % pictures_.size()]; }

  /// Takes pictures from all over the folder until they fill the memory; then in the folder's
  /// order.
  void choose(std::size_t bytes) {
    const Permutation anywhere(folder_->size(), 0, 0);
    JpegDecoder jpeg;
    std::vector<std::uint8_t> file;
    std::size_t taken = 0;
    for (std::size_t k = 0; k < folder_->size() && (taken < bytes || pictures_.empty()); ++k) {
      const std::size_t i = anywhere(k);
      try {
        pictures_.push_back(
            {i, jpeg.open(read_file(folder_->name(i), file), folder_->name(i)), {}});
        taken += pictures_.back().bytes();
      } catch (const Error&) {
        continue;  // the trials have named it; here it only has no copy
      }
    }
    if (taken > bytes && pictures_.size() > 1) pictures_.pop_back();
    std::sort(pictures_.begin(), pictures_.end(),
              [](const Picture& a, const Picture& b) { return a.sample < b.sample; });
  }

  void decode(int threads) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t p = next++; p < pictures_.size(); p = next++) decode(pictures_[p]);
    };
    {
      std::vector<std::jthread> helpers;
      for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
      work();
    }
    std::erase_if(pictures_, [](const Picture& picture) { return picture.rgbx.empty(); });
    if (!pictures_.empty()) return;
    throw Error(Fault::data, "No picture of the folder can be decoded, the first being '" +
                                 folder_->name(0) + "': nothing can be held in memory.");
  }

  void decode(Picture& picture) const {
    thread_local JpegDecoder jpeg;
    thread_local std::vector<std::uint8_t> file;
    const std::string& name = folder_->name(picture.sample);
    try {
      jpeg.open(read_file(name, file), name);
      jpeg.start({0, 0, picture.header.width, picture.header.height});
      picture.rgbx.resize(picture.bytes());
      std::uint8_t* row = picture.rgbx.data();
      for (int y = 0; y < picture.header.height; ++y, row += picture.row_bytes()) {
        jpeg.read_row(row);
      }
    } catch (const std::exception&) {  // a broken file, or no memory for it: one picture less
      picture.rgbx.clear();
    }
    jpeg.close();
  }

  void write(const Picture& from, Random& random, void* image) const {
    thread_local Resizer resizer;
    const ImageOptions& options = folder_->options();
    const auto [width, height, components, stored] = from.header;
    const int orientation = options.upright ? stored : 1;
    const bool turned = orientation >= 5;
    const View upright =
        choose_view(turned ? height : width, turned ? width : height, options, random);
    const StoredView view = stored_view(upright, orientation, width, height);
    resizer.begin(view);
    const detail::PixelWriter writer(options.format, options.size, view.transpose, image,
                                     detail::best_kernels());
    const std::uint8_t* row = from.rgbx.data() +
                              static_cast<std::size_t>(resizer.first_row()) * from.row_bytes() +
                              static_cast<std::size_t>(resizer.first_column()) * 4;
    const int last = options.size - 1;
    resizer.run([&] { return std::exchange(row, row + from.row_bytes()); },
                [&](const std::uint8_t* rgbx, int i) {
                  writer.write_row(rgbx, view.mirror_rows ? last - i : i);
                });
  }

  std::shared_ptr<const ImageFolder> folder_;
  std::vector<Picture> pictures_;
};

}  // namespace feedrate::inline v0
