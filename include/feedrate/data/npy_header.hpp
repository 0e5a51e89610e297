// SPDX-License-Identifier: Apache-2.0
// The header of a NumPy file: element type, shape and offset.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/tensor.hpp"
#include "feedrate/data/npy_dictionary.hpp"

namespace feedrate::inline v0 {

/// What the header of a .npy file says.
struct NpyHeader {
  DType dtype = DType::f32;
  std::vector<std::size_t> extents;
  std::size_t data_offset = 0;  ///< of the first element
  std::size_t data_bytes = 0;
};

namespace detail {

inline DType npy_dtype(std::string_view descr) {
  struct Known {
    std::string_view descr;
    DType dtype;
  };
  for (const Known& known :
       {Known{"|u1", DType::u8}, Known{"<i4", DType::i32}, Known{"<i8", DType::i64},
        Known{"<f4", DType::f32}, Known{"<f8", DType::f64}, Known{"<f2", DType::f16},
        Known{"|b1", DType::boolean}, Known{"|i1", DType::i8}, Known{"<i2", DType::i16},
        Known{"<u2", DType::u16}, Known{"<u4", DType::u32}, Known{"<u8", DType::u64}}) {
    if (descr == known.descr) return known.dtype;
  }
  const std::string shown(descr.substr(0, 16));
  if (descr.substr(0, 1) == ">") throw BadNpy{"has big-endian elements ('" + shown + "')"};
  if (descr.find('O') != std::string_view::npos)
    throw BadNpy{"holds Python objects ('" + shown + "')"};
  throw BadNpy{"has elements of type '" + shown + "'"};
}

/// Bytes of all elements; throws where they overflow.
inline std::size_t npy_data_bytes(const std::vector<std::size_t>& extents, DType dtype) {
  std::size_t bytes = bytes_of(dtype);
  for (const std::size_t extent : extents) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      throw BadNpy{"claims more elements than fit memory"};
    }
  }
  return bytes;
}

/// The text of the header and the offset that follows it.
inline std::string_view npy_header_text(std::span<const std::uint8_t> file, std::size_t& end) {
  constexpr std::size_t max_bytes = std::size_t{64} << 10;
  if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0) {
    throw BadNpy{"is not a .npy file"};
  }
  const unsigned major = file[6];
  if (major < 1 || major > 3) throw BadNpy{"has format version " + std::to_string(major)};
  const std::size_t start = major == 1 ? 10 : 12;
  if (file.size() < start) throw BadNpy{"is cut off in its header"};
  std::size_t length = file[8] | std::size_t{file[9]} << 8;
  if (major > 1) length |= std::size_t{file[10]} << 16 | std::size_t{file[11]} << 24;
  if (length > max_bytes) throw BadNpy{"has a header of " + std::to_string(length) + " bytes"};
  if (file.size() - start < length) throw BadNpy{"is cut off in its header"};
  end = start + length;
  return {reinterpret_cast<const char*>(file.data()) + start, length};
}

inline NpyHeader parse_npy_header(std::span<const std::uint8_t> file) {
  NpyHeader header;
  const NpyDictionary dictionary(npy_header_text(file, header.data_offset));
  header.dtype = npy_dtype(dictionary.descr);
  if (dictionary.fortran_order) throw BadNpy{"is in Fortran order"};
  header.extents = dictionary.extents;
  header.data_bytes = npy_data_bytes(header.extents, header.dtype);
  const std::size_t there = file.size() - header.data_offset;
  if (header.data_bytes != there) {
    throw BadNpy{"should have " + std::to_string(header.data_bytes) +
                 " bytes of elements but has " + std::to_string(there)};
  }
  return header;
}

}  // namespace detail

/// Reads the header of a .npy file of version 1, 2 or 3 (numpy.lib.format), elements bool,
/// integers of 8 to 64 bits, f16, f32 or f64, little-endian, in C order. Throws Error(data) naming
/// `path` for all else.
inline NpyHeader read_npy_header(std::span<const std::uint8_t> file, const std::string& path) {
  try {
    return detail::parse_npy_header(file);
  } catch (const detail::BadNpy& bad) {
    throw Error(Fault::data, "'" + path + "' " + bad.reason +
                                 "; save it with numpy.save as a C-ordered, little-endian array of "
                                 "bool, (u)int8 to (u)int64, or float16 to float64.");
  }
}

}  // namespace feedrate::inline v0
