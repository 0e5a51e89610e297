// SPDX-License-Identifier: Apache-2.0
// JPEG encoding by the libjpeg API, for pictures that the library makes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include <jpeglib.h>

#include "feedrate/core/error.hpp"
#include "feedrate/data/image/jpeg_errors.hpp"

namespace feedrate::inline v0 {

/// Encodes one picture after another; a thread keeps one and uses it again.
class JpegEncoder {
 public:
  JpegEncoder() {
    info_.err = errors_.manager();
    if (!errors_.guard([this] { jpeg_create_compress(&info_); })) fail();
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;
  ~JpegEncoder() {
    jpeg_destroy_compress(&info_);
    std::free(file_);
  }

  /// Encodes YCbCr pixels of 3 bytes, row after row, as baseline 4:2:0. The file is valid until the
  /// next call. Throws Error(internal) when libjpeg refuses.
  std::span<const std::uint8_t> encode(std::span<const std::uint8_t> ycc, int width, int height,
                                       int quality) {
    std::free(file_);
    file_ = nullptr;
    bytes_ = 0;
    if (!errors_.guard([&] { write(ycc.data(), width, height, quality); })) fail();
    return {file_, bytes_};
  }

 private:
  void write(const std::uint8_t* ycc, int width, int height, int quality) {
    jpeg_mem_dest(&info_, &file_, &bytes_);
    info_.image_width = static_cast<JDIMENSION>(width);
    info_.image_height = static_cast<JDIMENSION>(height);
    info_.input_components = 3;
    info_.in_color_space = JCS_YCbCr;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    for (; info_.next_scanline < info_.image_height; ycc += 3 * width) {
      JSAMPROW row = const_cast<JSAMPROW>(ycc);  // libjpeg does not write to it
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
  }

  [[noreturn]] void fail() {
    jpeg_abort_compress(&info_);
    throw Error(Fault::internal,
                "A picture can't be encoded as JPEG: " + std::string(errors_.message()) + ".");
  }

  detail::JpegErrors errors_;
  jpeg_compress_struct info_{};
  unsigned char* file_ = nullptr;
  unsigned long bytes_ = 0;
};

}  // namespace feedrate::inline v0
