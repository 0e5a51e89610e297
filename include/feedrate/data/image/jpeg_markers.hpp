// SPDX-License-Identifier: Apache-2.0
// Facts from the markers of a JPEG file, without decoding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "feedrate/data/image/exif.hpp"

namespace feedrate::inline v0::detail {

/// The segments before the first scan.
struct JpegMarkers {
  int orientation = 1;         ///< of the first EXIF segment
  std::size_t first_scan = 0;  ///< offset of the first start-of-scan marker; the end if none
};

/// Walks the segments up to the first scan. Source: ITU-T T.81, annex B.
inline JpegMarkers read_jpeg_markers(std::span<const std::uint8_t> file) noexcept {
  JpegMarkers found;
  bool has_exif = false;
  std::size_t at = 2;
  while (at + 4 <= file.size() && file[at] == 0xFF && file[at + 1] != 0xDA) {
    if (file[at + 1] == 0xFF) {  // a fill byte
      ++at;
      continue;
    }
    const std::size_t length = std::size_t{file[at + 2]} << 8 | file[at + 3];
    if (length < 2 || at + 2 + length > file.size()) break;
    const auto payload = file.subspan(at + 4, length - 2);
    if (file[at + 1] == 0xE1 && !has_exif && payload.size() >= 6 && payload[0] == 'E') {
      found.orientation = exif_orientation(payload);
      has_exif = true;
    }
    at += 2 + length;
  }
  found.first_scan = at < file.size() ? at : file.size();
  return found;
}

/// True if an end-of-image marker follows the first scan. Scan data can't contain one (0xFF is
/// always stuffed), so a file that was cut has none, but for thumbnails before the first scan.
inline bool has_jpeg_end(std::span<const std::uint8_t> file, std::size_t first_scan) noexcept {
  for (std::size_t at = file.size(); at >= first_scan + 2; --at) {
    if (file[at - 2] == 0xFF && file[at - 1] == 0xD9) return true;
  }
  return false;
}

/// Number of start-of-scan markers, counted at memory speed: a file with thousands of scans is
/// refused before the first of them is decoded, each over the whole picture.
inline int count_jpeg_scans(std::span<const std::uint8_t> file, std::size_t first_scan) noexcept {
  int scans = 0;
  const std::uint8_t* at = file.data() + first_scan;
  const std::uint8_t* const end = file.data() + file.size();
  while (end - at >= 2) {
    at = static_cast<const std::uint8_t*>(
        std::memchr(at, 0xFF, static_cast<std::size_t>(end - at - 1)));
    if (at == nullptr) break;
    scans += at[1] == 0xDA;
    ++at;
  }
  return scans;
}

}  // namespace feedrate::inline v0::detail
