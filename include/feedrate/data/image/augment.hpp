// SPDX-License-Identifier: Apache-2.0
// From a picture to a sample: the transforms of training and of evaluation.
#pragma once

#include <cstdint>
#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/data/image/color.hpp"
#include "feedrate/data/image/pixels.hpp"
#include "feedrate/data/image/view.hpp"

namespace feedrate::inline v0 {

/// What is done to each picture.
enum class Transform : std::uint8_t {
  train,     ///< random-resized-crop, then a mirror image every other time
  evaluate,  ///< shorter side resized, then the centre
  stretch,   ///< the whole picture, its aspect not kept, then mirrored as in training
  none,      ///< the window of the training transform, its middle as it is, amid black where it is
             ///< smaller: as much decoding as in training, for asking what the rest costs
};

/// How pictures become samples of size x size pixels.
struct ImageOptions {
  int size = 224;
  Transform transform = Transform::train;  ///< how a picture becomes a sample
  CropRange crop;                          ///< of the training transform
  float flip = 0.5f;                       ///< share of mirrored samples, but in evaluation
  ColorJitter color = {};                  ///< of the finished pixels, but with Transform::none
  int resize = 0;            ///< shorter side before the centre crop; 0: size x 256 / 224
  PixelFormat format;        ///< element type, channel order, normalisation
  bool upright = true;       ///< turn pictures as their EXIF data say, as viewers do
  bool dct_scaling = false;  ///< decode at 1/2, 1/4 or 1/8 where the crop is that much larger than
                             ///< the sample; faster, but pixels differ by several levels

  bool operator==(const ImageOptions&) const = default;
};

/// Shorter side of the picture from which evaluation takes its centre.
constexpr int resized_side(const ImageOptions& options) noexcept {
  return options.resize > 0 ? options.resize : (options.size * 256 + 112) / 224;
}

/// Throws Error(usage) if options are invalid.
inline void check(const ImageOptions& options) {
  const auto require = [](bool fine, const char* sentence) {
    if (!fine) throw Error(Fault::usage, sentence);
  };
  require(options.size >= 1 && options.size <= 4096, "The image size must be 1 to 4096 pixels.");
  require(resized_side(options) >= options.size && resized_side(options) <= 16384,
          "The shorter side before the centre crop must be at least the image size and at most "
          "16384 pixels.");
  require(options.format.dtype == DType::f32 || options.format.dtype == DType::u8,
          "Images can be written as f32 or u8 only.");
  require(0 < options.crop.area_low && options.crop.area_low <= options.crop.area_high &&
              options.crop.area_high <= 1,
          "The area of a random crop must be within 0 and 1, the lower bound first.");
  require(0 < options.crop.aspect_low && options.crop.aspect_low <= options.crop.aspect_high,
          "The aspect of a random crop must be positive, the lower bound first.");
  check(options.color);
}

/// The view of an upright picture that becomes the sample.
inline View choose_view(int width, int height, const ImageOptions& options, Random& random) {
  if (options.transform == Transform::evaluate) {
    return central_view(width, height, resized_side(options), options.size);
  }
  const Crop crop = options.transform == Transform::stretch
                        ? Crop{0, 0, width, height}
                        : random_resized_crop(width, height, options.crop, random);
  const bool flip = options.transform != Transform::none && random.uniform() < options.flip;
  return view_of(crop, options.size, flip);
}

/// How much the decoder may shrink a view without making it smaller than the sample: 1, 2, 4 or 8.
inline int shrink_of(const StoredView& view) noexcept {
  const double scale = view.x.scale < view.y.scale ? view.x.scale : view.y.scale;
  if (scale >= 8) return 8;
  if (scale >= 4) return 4;
  return scale >= 2 ? 2 : 1;
}

}  // namespace feedrate::inline v0
