// SPDX-License-Identifier: Apache-2.0
// A view of a picture: the source of each output pixel along either axis, upright or as stored.
#pragma once

#include <cmath>
#include <cstdint>

#include "feedrate/data/image/crop.hpp"

namespace feedrate::inline v0 {

/// Output pixel j, 0 <= j < count, covers [start + j * scale, start + (j + 1) * scale) of an axis;
/// nothing outside [low, high) is looked at.
struct ViewAxis {
  int low = 0, high = 0;
  double start = 0, scale = 1;
  int count = 0;

  /// The same view on an axis of `length` pixels that runs the other way.
  ViewAxis reversed(int length) const noexcept {
    return {length - high, length - low, length - (start + scale * count), scale, count};
  }

  /// The same view on an axis shrunk to `length` pixels, `factor` of the old ones each.
  ViewAxis shrunk(int factor, int length) const noexcept {
    const int top = (high + factor - 1) / factor;
    return {low / factor, top < length ? top : length, start / factor, scale / factor, count};
  }

  bool operator==(const ViewAxis&) const = default;
};

/// A view of an upright picture.
struct View {
  ViewAxis x, y;
  bool flip = false;  ///< mirrored left to right
};

/// `crop` stretched to size x size pixels.
inline View view_of(const Crop& crop, int size, bool flip) noexcept {
  const auto axis = [size](int at, int length) {
    return ViewAxis{at, at + length, static_cast<double>(at), static_cast<double>(length) / size,
                    size};
  };
  return {axis(crop.x, crop.width), axis(crop.y, crop.height), flip};
}

namespace detail {

/// A picture of `length` pixels resized to `resized`, of which the central `size` are kept.
inline ViewAxis central_axis(int length, int resized, int size) noexcept {
  const double scale = static_cast<double>(length) / resized;
  const double margin = std::nearbyint((resized - size) / 2.0);
  return {0, length, margin * scale, scale, size};
}

}  // namespace detail

/// The shorter side resized to `shorter` pixels, then the central size x size pixels of that.
/// Source: torchvision.transforms.Resize and CenterCrop. `shorter` must be at least `size`.
inline View central_view(int width, int height, int shorter, int size) noexcept {
  const auto longer = [shorter](std::int64_t a, std::int64_t b) {
    return static_cast<int>(shorter * a / b);
  };
  const int w = width <= height ? shorter : longer(width, height);
  const int h = width <= height ? longer(height, width) : shorter;
  return {detail::central_axis(width, w, size), detail::central_axis(height, h, size), false};
}

/// A view in the coordinates in which the picture is stored.
struct StoredView {
  ViewAxis x, y;                                     ///< along stored columns and rows
  bool mirror_columns = false, mirror_rows = false;  ///< output runs against the stored axis
  bool transpose = false;                            ///< stored rows become output columns
};

/// Applies an EXIF orientation (1 to 8) to a view; width and height are those stored.
inline StoredView stored_view(const View& view, int orientation, int width, int height) noexcept {
  StoredView stored{view.x, view.y};
  stored.transpose = orientation >= 5;
  if (stored.transpose) stored = {view.y, view.x, false, false, true};
  stored.mirror_columns =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  stored.mirror_rows = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  if (stored.mirror_columns) stored.x = stored.x.reversed(width);
  if (stored.mirror_rows) stored.y = stored.y.reversed(height);
  if (view.flip) {
    bool& mirror = stored.transpose ? stored.mirror_rows : stored.mirror_columns;
    mirror = !mirror;
  }
  return stored;
}

}  // namespace feedrate::inline v0
