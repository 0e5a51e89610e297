// SPDX-License-Identifier: Apache-2.0
// The orientation that a camera wrote into its picture (EXIF tag 0x0112).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace feedrate::inline v0 {

namespace detail {

/// Reads the numbers of a TIFF block in its byte order; what lies outside reads as 0.
class TiffReader {
 public:
  explicit TiffReader(std::span<const std::uint8_t> tiff) noexcept
      : tiff_(tiff), big_endian_(!tiff.empty() && tiff[0] == 'M') {}

  std::uint32_t u16(std::size_t at) const noexcept {
    if (at + 2 > tiff_.size() || at + 2 < at) return 0;
    const std::uint32_t a = tiff_[at], b = tiff_[at + 1];
    return big_endian_ ? a << 8 | b : b << 8 | a;
  }

  std::uint32_t u32(std::size_t at) const noexcept {
    const std::uint32_t a = u16(at), b = u16(at + 2);
    return big_endian_ ? a << 16 | b : b << 16 | a;
  }

 private:
  std::span<const std::uint8_t> tiff_;
  bool big_endian_;
};

}  // namespace detail

/// Orientation 1 to 8 in the payload of an APP1 segment. 1 (upright) where the payload is not
/// EXIF, has no such tag or is damaged: pictures are worth more than their notes.
/// Source: Exif 2.32, 4.6.4 A; TIFF 6.0, section 2.
inline int exif_orientation(std::span<const std::uint8_t> app1) noexcept {
  constexpr std::size_t prefix = 6, entry_bytes = 12;
  if (app1.size() < prefix || std::memcmp(app1.data(), "Exif\0\0", prefix) != 0) return 1;
  const detail::TiffReader tiff(app1.subspan(prefix));
  if (tiff.u16(2) != 42) return 1;
  const std::size_t directory = tiff.u32(4);
  const std::size_t entries = tiff.u16(directory);
  for (std::size_t e = 0; e < entries; ++e) {
    const std::size_t entry = directory + 2 + e * entry_bytes;
    if (tiff.u16(entry) != 0x0112) continue;
    constexpr int type_long = 4;  // as some programs write it
    const bool is_long = tiff.u16(entry + 2) == type_long;
    const std::uint32_t orientation = is_long ? tiff.u32(entry + 8) : tiff.u16(entry + 8);
    return orientation >= 1 && orientation <= 8 ? static_cast<int>(orientation) : 1;
  }
  return 1;
}

}  // namespace feedrate::inline v0
