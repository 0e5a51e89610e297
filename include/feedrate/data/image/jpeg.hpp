// SPDX-License-Identifier: Apache-2.0
// JPEG decoding by the libjpeg API: only the window that is needed, row by row, as RGBX pixels.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <jpeglib.h>

#include "feedrate/core/error.hpp"
#include "feedrate/data/image/cmyk.hpp"
#include "feedrate/data/image/jpeg_errors.hpp"
#include "feedrate/data/image/jpeg_markers.hpp"

namespace feedrate::inline v0 {

/// What a JPEG file says of itself.
struct JpegHeader {
  int width = 0;        ///< as stored, before the orientation is applied
  int height = 0;       ///< as stored
  int components = 0;   ///< 1 grey, 3 colour, 4 CMYK
  int orientation = 1;  ///< EXIF orientation, 1 to 8
};

/// A rectangle of pixels.
struct JpegWindow {
  int x = 0, y = 0, width = 0, height = 0;

  bool operator==(const JpegWindow&) const = default;
};

/// What a file may cost. Larger ones are refused before they are decoded.
struct JpegLimits {
  std::int64_t pixels = std::int64_t{64} << 20;
  std::int64_t decoded_bytes = std::int64_t{512} << 20;  ///< incl. the coefficients of progressive
  int scans = 100;
};

/// Decodes one file after another; a thread keeps one and uses it again.
///
/// `open`, `start`, then `read_row` for each row of the window; then `close`, or the next `open`.
/// All throw Error(data) with the file's name, the reason and the byte offset near the fault;
/// libjpeg's warnings are faults, and so is a missing end marker. Faults in scan data below the
/// window go unseen, because nothing there is decoded (progressive files are read whole).
class JpegDecoder {
 public:
  JpegDecoder() {
    info_.err = errors_.manager();
    if (!errors_.guard([this] { jpeg_create_decompress(&info_); })) fail();
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }

  /// Reads the header. `file` and `name` must live until `close`.
  JpegHeader open(std::span<const std::uint8_t> file, std::string_view name,
                  const JpegLimits& limits = {}) {
    close();
    file_ = file;
    name_ = name;
    check_signature();
    const detail::JpegMarkers markers = detail::read_jpeg_markers(file);
    if (!errors_.guard([this] { read_header(); })) fail();
    check_limits(limits, markers.first_scan);
    return {static_cast<int>(info_.image_width), static_cast<int>(info_.image_height),
            info_.num_components, markers.orientation};
  }

  /// Gets ready to decode at least the window `wanted`, in pixels of the picture shrunk by
  /// `shrink` (1, 2, 4 or 8, done in the inverse DCT). Returns the window that will come: its rows
  /// are those wanted, its columns may be more on both sides (whole coded units).
  JpegWindow start(const JpegWindow& wanted, int shrink = 1) {
    window_ = wanted;
    if (!errors_.guard([this, shrink] { start_window(shrink); })) fail();
    return window_;
  }

  /// Writes the next row of the window, 4 bytes a pixel: red, green, blue and one without meaning.
  void read_row(std::uint8_t* rgbx) {
    if (!errors_.guard([this, rgbx] { read_scanline(rgbx); })) fail();
    if (info_.out_color_space == JCS_CMYK) {
      detail::cmyk_to_rgbx(rgbx, window_.width);
    }
  }

  /// Lets go of the file. Safe at any time; need not have read all rows.
  void close() noexcept { jpeg_abort_decompress(&info_); }

 private:
  void check_signature() {
    if (file_.empty()) refuse("is empty");
    if (file_.size() < 4 || file_[0] != 0xFF || file_[1] != 0xD8) refuse("is not a JPEG file");
  }

  void read_header() {
    jpeg_mem_src(&info_, file_.data(), static_cast<unsigned long>(file_.size()));
    jpeg_read_header(&info_, TRUE);
  }

  void check_limits(const JpegLimits& limits, std::size_t first_scan) {
    const std::int64_t pixels = std::int64_t{info_.image_width} * info_.image_height;
    if (pixels > limits.pixels) {
      refuse("claims " + std::to_string(pixels) + " pixels, more than the " +
             std::to_string(limits.pixels) + " allowed");
    }
    if (decoded_bytes() > limits.decoded_bytes) {
      refuse("needs " + std::to_string(decoded_bytes()) + " bytes to decode, more than the " +
             std::to_string(limits.decoded_bytes) + " allowed");
    }
    if (jpeg_has_multiple_scans(&info_) &&
        detail::count_jpeg_scans(file_, first_scan) > limits.scans) {
      refuse("has more than the " + std::to_string(limits.scans) + " scans allowed");
    }
    if (!detail::has_jpeg_end(file_, first_scan)) {
      refuse("is cut off after " + std::to_string(file_.size()) + " bytes: it has no end marker");
    }
    info_.mem->max_memory_to_use = static_cast<long>(limits.decoded_bytes);
  }

  /// Bytes of the pixels, or of the coefficients that files of several scans are kept as.
  std::int64_t decoded_bytes() {
    std::int64_t bytes = std::int64_t{4} * info_.image_width * info_.image_height;
    if (!jpeg_has_multiple_scans(&info_)) return bytes;
    bytes = 0;
    for (int c = 0; c < info_.num_components; ++c) {
      const jpeg_component_info& component = info_.comp_info[c];
      bytes += std::int64_t{component.width_in_blocks} * component.height_in_blocks * 64 * 2;
    }
    return bytes;
  }

  void start_window(int shrink) {
    info_.scale_num = 8 / static_cast<unsigned>(shrink);
    info_.scale_denom = 8;
    const bool cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    info_.out_color_space = cmyk ? JCS_CMYK : JCS_EXT_RGBX;
    jpeg_start_decompress(&info_);
    crop_columns();
    if (window_.y > 0) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(window_.y));
  }

  /// Where it shrinks pictures of 4:1:0, libjpeg-turbo 2.1 crops chroma wrongly.
  bool crops_right() const noexcept {
    return info_.scale_num == 8 || info_.max_h_samp_factor < 4 || info_.max_v_samp_factor == 1;
  }

  /// One more column on each side: smooth chroma upsampling looks at its neighbours.
  void crop_columns() {
    if (!crops_right()) {
      window_.x = 0;
      window_.width = static_cast<int>(info_.output_width);
      return;
    }
    const int left = window_.x > 0 ? window_.x - 1 : 0;
    const int width = static_cast<int>(info_.output_width);
    const int right = window_.x + window_.width < width ? window_.x + window_.width + 1 : width;
    JDIMENSION x = static_cast<JDIMENSION>(left);
    JDIMENSION columns = static_cast<JDIMENSION>(right - left);
    jpeg_crop_scanline(&info_, &x, &columns);
    window_.x = static_cast<int>(x);
    window_.width = static_cast<int>(columns);
  }

  void read_scanline(std::uint8_t* rgbx) {
    JSAMPROW row = rgbx;
    jpeg_read_scanlines(&info_, &row, 1);
  }

  [[noreturn]] void refuse(const std::string& reason) {
    close();
    throw Error(Fault::data,
                "'" + std::string(name_) + "' " + reason + "; replace it or remove it.");
  }

  [[noreturn]] void fail() {
    const std::size_t left = info_.src != nullptr ? info_.src->bytes_in_buffer : 0;
    const std::size_t offset = left < file_.size() ? file_.size() - left : 0;
    refuse("can't be decoded near byte " + std::to_string(offset) + " of " +
           std::to_string(file_.size()) + ": " + errors_.message());
  }

  detail::JpegErrors errors_;
  jpeg_decompress_struct info_{};
  std::span<const std::uint8_t> file_;
  std::string_view name_;
  JpegWindow window_;
};

}  // namespace feedrate::inline v0
