// SPDX-License-Identifier: Apache-2.0
// The part of a picture that becomes the sample: random-resized-crop and centre crop.
#pragma once

#include <cmath>
#include <cstdint>

#include "feedrate/core/random.hpp"

namespace feedrate::inline v0 {

/// A rectangle of whole pixels of an upright picture.
struct Crop {
  int x = 0, y = 0, width = 0, height = 0;

  bool operator==(const Crop&) const = default;
};

/// What a random crop may look like.
struct CropRange {
  double area_low = 0.08;        ///< least share of the picture's area
  double area_high = 1.0;        ///< and the largest
  double aspect_low = 3.0 / 4;   ///< least width / height
  double aspect_high = 4.0 / 3;  ///< and the largest

  bool operator==(const CropRange&) const = default;
};

namespace detail {

/// The largest centred crop whose aspect lies within the range.
inline Crop central_crop(int width, int height, const CropRange& range) noexcept {
  const double aspect = static_cast<double>(width) / height;
  int w = width, h = height;
  if (aspect < range.aspect_low) h = static_cast<int>(std::nearbyint(w / range.aspect_low));
  if (aspect > range.aspect_high) w = static_cast<int>(std::nearbyint(h * range.aspect_high));
  if (w < 1) w = 1;
  if (h < 1) h = 1;
  return {(width - w) / 2, (height - h) / 2, w, h};
}

/// A crop of random area and aspect at the origin; it may be larger than the picture.
inline Crop random_extent(int width, int height, const CropRange& range, Random& random) noexcept {
  const double area = static_cast<double>(width) * height *
                      (range.area_low + (range.area_high - range.area_low) * random.uniform());
  const double low = std::log(range.aspect_low), high = std::log(range.aspect_high);
  const double aspect = std::exp(low + (high - low) * random.uniform());
  return {0, 0, static_cast<int>(std::nearbyint(std::sqrt(area * aspect))),
          static_cast<int>(std::nearbyint(std::sqrt(area / aspect)))};
}

}  // namespace detail

/// A crop of random area, aspect and place: ten tries, then the central crop.
/// Source: torchvision.transforms.RandomResizedCrop.get_params.
inline Crop random_resized_crop(int width, int height, const CropRange& range,
                                Random& random) noexcept {
  for (int attempt = 0; attempt < 10; ++attempt) {
    Crop crop = detail::random_extent(width, height, range, random);
    if (crop.width < 1 || crop.width > width || crop.height < 1 || crop.height > height) continue;
    crop.y = static_cast<int>(random.below(static_cast<std::uint32_t>(height - crop.height + 1)));
    crop.x = static_cast<int>(random.below(static_cast<std::uint32_t>(width - crop.width + 1)));
    return crop;
  }
  return detail::central_crop(width, height, range);
}

}  // namespace feedrate::inline v0
