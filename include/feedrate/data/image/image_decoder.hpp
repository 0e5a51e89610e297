// SPDX-License-Identifier: Apache-2.0
// Turns a JPEG file in memory into a sample: decode, crop, resize, mirror, colour, normalise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/data/image/augment.hpp"
#include "feedrate/data/image/jpeg.hpp"
#include "feedrate/data/image/pixels.hpp"
#include "feedrate/data/image/resize.hpp"

namespace feedrate::inline v0 {

/// Makes samples one after another; a thread keeps one and uses it again. Rows stream from the
/// decoder through the resizer into the sample: no whole picture is ever held, and of the sample
/// only where its colours change.
class ImageDecoder {
 public:
  explicit ImageDecoder(const detail::ResizeKernels& kernels = detail::best_kernels())
      : kernels_(&kernels), resizer_(kernels) {}

  /// Writes the sample that `options` and `random` make of `file` to `image`: size x size x 3
  /// elements in the options' format. Throws Error(data) with `name` and the reason.
  void decode(std::span<const std::uint8_t> file, std::string_view name,
              const ImageOptions& options, Random& random, void* image) {
    const JpegHeader header = open(file, name, options);
    const bool turned = header.orientation >= 5;
    const View view = choose_view(turned ? header.height : header.width,
                                  turned ? header.width : header.height, options, random);
    decode(header, view, options, &random, image);
    jpeg_.close();
  }

  /// The same for a view of the caller's, with the colours as they are.
  void decode(std::span<const std::uint8_t> file, std::string_view name,
              const ImageOptions& options, const View& view, void* image) {
    decode(open(file, name, options), view, options, nullptr, image);
    jpeg_.close();
  }

 private:
  JpegHeader open(std::span<const std::uint8_t> file, std::string_view name,
                  const ImageOptions& options) {
    JpegHeader header = jpeg_.open(file, name);
    if (!options.upright) header.orientation = 1;
    return header;
  }

  /// Colours change if there is a `random`.
  void decode(const JpegHeader& header, const View& upright, const ImageOptions& options,
              Random* random, void* image) {
    StoredView view = stored_view(upright, header.orientation, header.width, header.height);
    const int shrink = options.dct_scaling ? shrink_of(view) : 1;
    view.x = view.x.shrunk(shrink, (header.width + shrink - 1) / shrink);
    view.y = view.y.shrunk(shrink, (header.height + shrink - 1) / shrink);
    resizer_.begin(view);
    const std::ptrdiff_t skip = start(shrink);
    const detail::PixelWriter writer(options.format, options.size, view.transpose, image,
                                     *kernels_);
    if (options.transform == Transform::none) return write_middle(writer, options.size, skip);
    const auto write_row = [&](const std::uint8_t* rgbx, int i) {
      writer.write_row(rgbx, view.mirror_rows ? options.size - 1 - i : i);
    };
    if (!random || options.color == ColorJitter{}) return resize(skip, write_row);
    resize_to_canvas(options.size, skip);
    detail::jitter_colors(canvas_, options.color, *random);
    for (int i = 0; i < options.size; ++i) write_row(canvas_row(options.size, i), i);
  }

  template <class WriteRow>
  void resize(std::ptrdiff_t skip, WriteRow&& write_row) {
    resizer_.run(
        [&] {
          jpeg_.read_row(row_);
          return row_ + skip;
        },
        write_row);
  }

  void resize_to_canvas(int size, std::ptrdiff_t skip) {
    const auto n = static_cast<std::size_t>(size);
    canvas_.resize(n * n);
    resize(skip,
           [&](const std::uint8_t* rgbx, int i) { std::memcpy(canvas_row(size, i), rgbx, 4 * n); });
  }

  std::uint8_t* canvas_row(int size, int i) noexcept {
    return reinterpret_cast<std::uint8_t*>(canvas_.data() + std::ptrdiff_t{size} * i);
  }

  /// Reads the whole window, which begins `skip` bytes into a row, and writes its middle.
  void write_middle(const detail::PixelWriter& writer, int size, std::ptrdiff_t skip) {
    const auto line_bytes = static_cast<std::size_t>((size + 7) & ~7) * 4;
    std::uint8_t* const line = detail::grow(line_, line_bytes);
    std::memset(line, 0, line_bytes);
    const int width = std::min(resizer_.columns(), size);
    const int height = std::min(resizer_.rows(), size);
    const int first = (resizer_.rows() - height) / 2, top = (size - height) / 2;
    const std::ptrdiff_t from = skip + std::ptrdiff_t{4} * ((resizer_.columns() - width) / 2);
    const std::ptrdiff_t to = std::ptrdiff_t{4} * ((size - width) / 2);
    for (int i = 0; i < size; ++i) {
      if (i < top || i >= top + height) writer.write_row(line, i);
    }
    for (int row = 0; row < resizer_.rows(); ++row) {
      jpeg_.read_row(row_);
      if (row < first || row >= first + height) continue;
      std::memcpy(line + to, row_ + from, static_cast<std::size_t>(width) * 4);
      writer.write_row(line, top + row - first);
    }
  }

  /// Starts the decoder on what the resizer needs; returns where in a row that begins.
  std::ptrdiff_t start(int shrink) {
    const JpegWindow wanted{resizer_.first_column(), resizer_.first_row(), resizer_.columns(),
                            resizer_.rows()};
    const JpegWindow window = jpeg_.start(wanted, shrink);
    place_row(static_cast<std::size_t>(window.width) * 4 + resizer_.overhang_bytes());
    return std::ptrdiff_t{4} * (wanted.x - window.x);
  }

  /// Four bytes off alignment, on purpose: to aligned rows libjpeg-turbo writes past the cache, and
  /// reading them back from memory made samples 19 % slower.
  void place_row(std::size_t bytes) {
    constexpr std::uintptr_t line = 64;
    std::uint8_t* const memory = detail::grow(row_memory_, bytes + 2 * line);
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    row_ = memory + (line - address % line) + 4;
  }

  const detail::ResizeKernels* kernels_;
  JpegDecoder jpeg_;
  Resizer resizer_;
  std::vector<std::uint8_t> row_memory_;
  std::vector<std::uint8_t> line_;
  std::vector<detail::Rgbx> canvas_;  ///< all pixels of a sample, where its colours change
  std::uint8_t* row_ = nullptr;
};

}  // namespace feedrate::inline v0
