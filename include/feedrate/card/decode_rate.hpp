// SPDX-License-Identifier: Apache-2.0
// JPEG pictures that one core decodes per second: often the ceiling of an image loader.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "feedrate/card/probe.hpp"
#include "feedrate/card/probe_picture.hpp"
#include "feedrate/data/image/jpeg.hpp"

namespace feedrate::inline v0 {

/// Pictures per second, each decoded whole, and what the picture was.
struct DecodeRate {
  CoreRates images;
  std::uint64_t file_bytes = 0;
  int width = 0;
  int height = 0;
};

namespace detail {

/// Decodes the same file again and again.
class DecodeWork {
 public:
  explicit DecodeWork(std::span<const std::uint8_t> file)
      : file_(file), decoder_(std::make_unique<JpegDecoder>()) {
    header_ = decoder_->open(file_, "the probe picture");
    row_.resize(std::size_t{4} * static_cast<std::size_t>(header_.width));
  }

  /// Pictures decoded.
  double operator()() {
    decoder_->open(file_, "the probe picture");
    decoder_->start({0, 0, header_.width, header_.height});
    for (int y = 0; y < header_.height; ++y) decoder_->read_row(row_.data());
    return 1;
  }

  const JpegHeader& header() const noexcept { return header_; }

 private:
  std::span<const std::uint8_t> file_;
  std::unique_ptr<JpegDecoder> decoder_;  // stays where libjpeg saw it
  JpegHeader header_;
  std::vector<std::uint8_t> row_;
};

}  // namespace detail

/// Decodes `file`, a JPEG file in memory; throws Error(data) where it is none.
inline DecodeRate probe_decode(std::span<const std::uint8_t> file, int cores, ProbeTime time = {}) {
  const JpegHeader header = detail::DecodeWork(file).header();
  DecodeRate rate{{}, file.size(), header.width, header.height};
  rate.images = core_rates(
      cores, [file] { return detail::DecodeWork(file); }, time);
  return rate;
}

}  // namespace feedrate::inline v0
