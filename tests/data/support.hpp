// SPDX-License-Identifier: Apache-2.0
// What the tests of this folder share: temporary folders, JPEG files made to measure, samples.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "feedrate/data/dataset.hpp"

namespace feedrate::test {

using Bytes = std::vector<std::uint8_t>;

/// A folder that vanishes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "feedrate-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void write_bytes(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

inline Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string fixture(const std::string& name) {
  return std::string(FEEDRATE_TEST_DATA) + "/" + name;
}

/// How a JPEG file is made.
struct Making {
  int width = 64, height = 48;
  int components = 3;  ///< 1 grey, 3 colour, 4 CMYK
  int h = 2, v = 2;    ///< sampling factors of the first component
  bool progressive = false;
  bool ycck = false;  ///< CMYK stored as YCCK
  int restart_rows = 0;
};

/// A JPEG file of smooth waves with some detail, different in every component.
inline Bytes make_jpeg(const Making& making) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* file = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&info, &file, &bytes);
  info.image_width = static_cast<JDIMENSION>(making.width);
  info.image_height = static_cast<JDIMENSION>(making.height);
  info.input_components = making.components;
  info.in_color_space = making.components == 1   ? JCS_GRAYSCALE
                        : making.components == 3 ? JCS_RGB
                                                 : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (making.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, 92, TRUE);
  if (making.components == 3) {
    info.comp_info[0].h_samp_factor = making.h;
    info.comp_info[0].v_samp_factor = making.v;
  }
  info.restart_in_rows = making.restart_rows;
  if (making.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  Bytes row(static_cast<std::size_t>(making.width * making.components));
  for (int y = 0; y < making.height; ++y) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int x = static_cast<int>(i) / making.components,
                c = static_cast<int>(i) % making.components;
      row[i] = static_cast<std::uint8_t>(
          128 + (x * (3 + c) + y * (5 - c) + (x * y) % (17 + c)) % 120 - 60);
    }
    JSAMPROW pointer = row.data();
    jpeg_write_scanlines(&info, &pointer, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes result(file, file + bytes);
  std::free(file);
  return result;
}

/// The sentence of the Error that `f` throws; empty if it throws none.
template <class F>
std::string error_of(F&& f, Fault fault = Fault::data) {
  try {
    f();
  } catch (const Error& error) {
    return error.fault() == fault ? error.what() : "(another fault) " + std::string(error.what());
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Memory for one sample of a dataset.
class OneSample {
 public:
  explicit OneSample(Layout layout) : layout_(std::move(layout)), lengths_(layout_.size()) {
    for (const Field& field : layout_) memory_.emplace_back(field.bytes());
    for (auto& field : memory_) places_.push_back(field.data());
  }

  Sample sample() const { return {layout_, places_, lengths_}; }

 private:
  Layout layout_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::byte*> places_;
  std::vector<std::int32_t*> lengths_;
};

}  // namespace feedrate::test
