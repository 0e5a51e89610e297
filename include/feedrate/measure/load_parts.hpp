// SPDX-License-Identifier: Apache-2.0
// The parts of loading a picture: reading, decoding and augmenting, each timed on one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/image/image_folder.hpp"
#include "feedrate/machine/environment.hpp"

namespace feedrate::inline v0 {

namespace detail {

/// Decodes what `view` needs of a file, and nothing else.
inline void decode_window(JpegDecoder& jpeg, std::span<const std::uint8_t> file,
                          const std::string& name, const ImageOptions& options, Random random,
                          std::vector<std::uint8_t>& row) {
  const JpegHeader header = jpeg.open(file, name);
  const bool turned = header.orientation >= 5;
  const View view = choose_view(turned ? header.height : header.width,
                                turned ? header.width : header.height, options, random);
  StoredView stored = stored_view(view, header.orientation, header.width, header.height);
  const int shrink = options.dct_scaling ? shrink_of(stored) : 1;
  stored.x = stored.x.shrunk(shrink, (header.width + shrink - 1) / shrink);
  stored.y = stored.y.shrunk(shrink, (header.height + shrink - 1) / shrink);
  Resizer resizer;
  resizer.begin(stored);
  const JpegWindow window = jpeg.start(
      {resizer.first_column(), resizer.first_row(), resizer.columns(), resizer.rows()}, shrink);
  row.resize(static_cast<std::size_t>(window.width) * 4 + resizer.overhang_bytes());
  for (int r = 0; r < resizer.rows(); ++r) jpeg.read_row(row.data());
  jpeg.close();
}

template <class Work>
double seconds_of(Work&& work) {
  const double start_s = SteadyClock{}.now_s();
  work();
  return SteadyClock{}.now_s() - start_s;
}

}  // namespace detail

/// Times the parts, from the page cache, over up to `samples` pictures spread over the folder, or
/// about `budget_s`. Unreadable pictures are left out; all zero when none could be read.
inline LoadCosts time_load_parts(const ImageFolder& folder, std::size_t samples = 64,
                                 double budget_s = 0.5) {
  LoadCosts parts;
  JpegDecoder jpeg;
  ImageDecoder decoder;
  std::vector<std::uint8_t> file, row;
  std::vector<float> image(folder.layout()[0].shape.elements());
  std::size_t read = 0;
  const std::size_t wanted = std::min(samples, folder.size());
  const double end_s = SteadyClock{}.now_s() + budget_s;
  for (std::size_t k = 0; k < wanted && SteadyClock{}.now_s() < end_s; ++k) {
    const std::size_t i = k * folder.size() / wanted;
    Random random(0, 0, i);
    try {
      folder.touch(i);
      std::span<const std::uint8_t> bytes;
      const auto load = [&] { bytes = read_file(folder.name(i), file); };
      const auto decode = [&] {
        detail::decode_window(jpeg, bytes, folder.name(i), folder.options(), random, row);
      };
      const auto whole = [&] {
        decoder.decode(bytes, folder.name(i), folder.options(), random, image.data());
      };
      const double read_s = detail::seconds_of(load);
      const double decode_s = detail::seconds_of(decode);
      const double whole_s = detail::seconds_of(whole);
      parts.read_s += read_s;
      parts.decode_s += decode_s;
      parts.augment_s += whole_s - decode_s;
      ++read;
    } catch (const Error&) {
      continue;
    }
  }
  const auto n = static_cast<double>(std::max<std::size_t>(read, 1));
  return {parts.read_s / n, parts.decode_s / n, std::max(0.0, parts.augment_s) / n};
}

}  // namespace feedrate::inline v0
