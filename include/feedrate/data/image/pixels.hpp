// SPDX-License-Identifier: Apache-2.0
// The layout of finished pixels in a sample: element type, channel order, normalisation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "feedrate/core/tensor.hpp"
#include "feedrate/data/image/resize_kernels.hpp"

namespace feedrate::inline v0 {

/// Whether the channels of an image are planes or neighbours.
enum class ChannelOrder : std::uint8_t { nchw, nhwc };

/// The form of an image in memory. u8 keeps levels 0..255; f32 is (level / 255 - mean) / std.
struct PixelFormat {
  DType dtype = DType::f32;                              ///< f32 or u8
  ChannelOrder order = ChannelOrder::nchw;               ///< planes, or channels last
  std::array<float, 3> mean = {0.485f, 0.456f, 0.406f};  ///< of ImageNet, as torchvision has it
  std::array<float, 3> std = {0.229f, 0.224f, 0.225f};   ///< by which they are divided

  bool operator==(const PixelFormat&) const = default;
};

namespace detail {

/// Writes rows of RGBX pixels as one size x size image.
class PixelWriter {
 public:
  /// `image` has size x size x 3 elements of `format`. If `transpose`, rows become columns.
  PixelWriter(const PixelFormat& format, int size, bool transpose, void* image,
              const ResizeKernels& kernels) noexcept
      : format_(&format), image_(image), kernels_(&kernels), size_(size) {
    const bool planes = format.order == ChannelOrder::nchw;
    const std::ptrdiff_t n = size;
    channel_step_ = planes ? n * n : 1;
    pixel_step_ = planes ? 1 : 3;
    row_step_ = n * pixel_step_;
    if (transpose) std::swap(pixel_step_, row_step_);
    for (std::size_t c = 0; c < 3; ++c) {
      scale_[c] = 1 / (255 * format.std[c]);
      bias_[c] = -format.mean[c] / format.std[c];
    }
  }

  void write_row(const std::uint8_t* rgbx, int row) const {
    if (format_->dtype == DType::u8) {
      write(rgbx, static_cast<std::uint8_t*>(image_) + row * row_step_);
    } else {
      write(rgbx, static_cast<float*>(image_) + row * row_step_);
    }
  }

 private:
  template <class T>
  void write(const std::uint8_t* rgbx, T* to) const {
    if (pixel_step_ != 1) return scatter(rgbx, to);
    T* const planes[3] = {to, to + channel_step_, to + 2 * channel_step_};
    write_planes(rgbx, planes);
  }

  void write_planes(const std::uint8_t* rgbx, float* const* planes) const {
    kernels_->to_f32_planes(rgbx, size_, scale_.data(), bias_.data(), planes);
  }

  void write_planes(const std::uint8_t* rgbx, std::uint8_t* const* planes) const {
    kernels_->to_u8_planes(rgbx, size_, planes);
  }

  template <class T>
  void scatter(const std::uint8_t* rgbx, T* to) const {
    for (int j = 0; j < size_; ++j, rgbx += 4, to += pixel_step_) {
      for (std::size_t c = 0; c < 3; ++c) {
        to[static_cast<std::ptrdiff_t>(c) * channel_step_] = element(rgbx[c], c, T{});
      }
    }
  }

  float element(std::uint8_t level, std::size_t c, float) const noexcept {
    const float product = static_cast<float>(level) * scale_[c];
    return product + bias_[c];
  }

  std::uint8_t element(std::uint8_t level, std::size_t, std::uint8_t) const noexcept {
    return level;
  }

  const PixelFormat* format_;
  void* image_;
  const ResizeKernels* kernels_;
  int size_;
  std::ptrdiff_t channel_step_, pixel_step_, row_step_;
  std::array<float, 3> scale_, bias_;
};

}  // namespace detail

}  // namespace feedrate::inline v0
