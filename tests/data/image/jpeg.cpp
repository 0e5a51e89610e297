// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/jpeg.hpp: windows equal the whole picture, and bad files cost a clear error.
#include "feedrate/data/image/jpeg.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "support.hpp"

namespace feedrate::jpeg_tests {
using namespace feedrate::test;

namespace {

/// The wanted window of a picture, RGB.
Bytes pixels_of(JpegDecoder& decoder, const Bytes& file, JpegWindow wanted, int shrink = 1) {
  decoder.open(file, "test.jpg");
  const JpegWindow window = decoder.start(wanted, shrink);
  Bytes row(static_cast<std::size_t>(window.width) * 4), pixels;
  for (int y = 0; y < wanted.height; ++y) {
    decoder.read_row(row.data());
    for (int x = 0; x < wanted.width; ++x) {
      const std::uint8_t* pixel = row.data() + 4 * (wanted.x - window.x + x);
      pixels.insert(pixels.end(), pixel, pixel + 3);
    }
  }
  return pixels;
}

std::string decode_error(const Bytes& file, const JpegLimits& limits = {}) {
  JpegDecoder decoder;
  return error_of([&] {
    const JpegHeader header = decoder.open(file, "some/bad.jpg", limits);
    const JpegWindow window = decoder.start({0, 0, header.width, header.height});
    Bytes row(static_cast<std::size_t>(window.width) * 4);
    for (int y = 0; y < header.height; ++y) decoder.read_row(row.data());
  });
}

/// Only the first row is wanted: what is damaged below goes unread.
std::string first_row_error(const Bytes& file) {
  JpegDecoder decoder;
  return error_of([&] {
    const JpegHeader header = decoder.open(file, "some/bad.jpg");
    Bytes row(static_cast<std::size_t>(decoder.start({0, 0, header.width, 1}).width) * 4);
    decoder.read_row(row.data());
  });
}

/// Offset of the frame header, which holds height and width at +5.
std::size_t frame_of(const Bytes& file) {
  for (std::size_t at = 0;; ++at) {
    if (file[at] == 0xFF && file[at + 1] >= 0xC0 && file[at + 1] <= 0xC2) return at;
  }
}

Bytes with_size(Bytes file, int width, int height) {
  const std::size_t frame = frame_of(file);
  file[frame + 5] = static_cast<std::uint8_t>(height >> 8);
  file[frame + 6] = static_cast<std::uint8_t>(height);
  file[frame + 7] = static_cast<std::uint8_t>(width >> 8);
  file[frame + 8] = static_cast<std::uint8_t>(width);
  return file;
}

Making making_of(int components, int h, int v, bool progressive) {
  Making making;
  making.width = 101;
  making.height = 75;
  making.components = components;
  making.h = h;
  making.v = v;
  making.progressive = progressive;
  return making;
}

}  // namespace

TEST_CASE("Any window has exactly the pixels that the whole picture has there") {
  // Bug: a window that starts or ends inside a coded unit is shifted, or loses the chroma of its
  // neighbours at the edges.
  const Making making =
      GENERATE(making_of(3, 2, 2, false), making_of(3, 2, 1, false), making_of(3, 1, 2, false),
               making_of(3, 1, 1, false), making_of(3, 4, 1, false), making_of(1, 1, 1, false),
               making_of(3, 2, 2, true), making_of(1, 1, 1, true), making_of(4, 1, 1, false));
  const Bytes file = make_jpeg(making);
  JpegDecoder decoder;
  const Bytes whole = pixels_of(decoder, file, {0, 0, 101, 75});
  for (const JpegWindow& window :
       {JpegWindow{0, 0, 1, 1}, JpegWindow{16, 16, 16, 16}, JpegWindow{15, 15, 18, 18},
        JpegWindow{17, 31, 47, 3}, JpegWindow{100, 74, 1, 1}, JpegWindow{0, 1, 101, 74},
        JpegWindow{63, 0, 33, 75}, JpegWindow{95, 17, 6, 58}, JpegWindow{31, 33, 64, 1}}) {
    Bytes expected;
    for (int y = window.y; y < window.y + window.height; ++y) {
      const auto row = whole.begin() + (y * 101 + window.x) * 3;
      expected.insert(expected.end(), row, row + window.width * 3);
    }
    INFO(making.components << " components " << making.h << "x" << making.v << " at " << window.x
                           << "," << window.y << " " << window.width << "x" << window.height);
    CHECK(pixels_of(decoder, file, window) == expected);
  }
}

TEST_CASE("A window of a shrunk picture has the pixels of the shrunk whole") {
  // Bug: wrong colours in a part of each row of 4:1:0, whose chroma libjpeg-turbo crops wrongly.
  const Making making = GENERATE(making_of(3, 4, 2, false), making_of(3, 2, 2, false),
                                 making_of(3, 4, 1, false), making_of(3, 1, 2, true));
  const int shrink = GENERATE(2, 4);
  const Bytes file = make_jpeg(making);
  const int width = (101 + shrink - 1) / shrink, height = (75 + shrink - 1) / shrink;
  JpegDecoder decoder;
  const Bytes whole = pixels_of(decoder, file, {0, 0, width, height}, shrink);
  for (const JpegWindow& window : {JpegWindow{3, 2, 9, 11}, JpegWindow{13, 0, 12, height}}) {
    Bytes expected;
    for (int y = window.y; y < window.y + window.height; ++y) {
      const auto row = whole.begin() + (y * width + window.x) * 3;
      expected.insert(expected.end(), row, row + window.width * 3);
    }
    INFO(making.h << "x" << making.v << " shrunk by " << shrink << " at " << window.x);
    CHECK(pixels_of(decoder, file, window, shrink) == expected);
  }
}

TEST_CASE("A shrunk picture has half the sides and the same mean") {
  // Bug: the scale is inverted, or rows are counted in unshrunk pixels.
  const Bytes file = make_jpeg(making_of(3, 2, 2, false));
  JpegDecoder decoder;
  const Bytes whole = pixels_of(decoder, file, {0, 0, 96, 72});
  const auto mean = [](const Bytes& pixels) {
    double sum = 0;
    for (const int level : pixels) sum += level;
    return sum / static_cast<double>(pixels.size());
  };
  for (const int shrink : {2, 4, 8}) {
    const Bytes shrunk = pixels_of(decoder, file, {0, 0, 96 / shrink, 72 / shrink}, shrink);
    CHECK(std::abs(mean(shrunk) - mean(whole)) < 1);
  }
}

TEST_CASE("CMYK stored as YCCK gives the colours of plain CMYK") {
  // Bug: the luma and chroma of YCCK are taken for inks.
  Making making = making_of(4, 1, 1, false);
  JpegDecoder decoder;
  const Bytes plain = pixels_of(decoder, make_jpeg(making), {0, 0, 101, 75});
  making.ycck = true;
  const Bytes ycck = pixels_of(decoder, make_jpeg(making), {0, 0, 101, 75});
  double difference = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) difference += std::abs(plain[i] - ycck[i]);
  CHECK(difference / static_cast<double>(plain.size()) < 8);  // chroma is stored at half the size
}

TEST_CASE("A file cut at any byte is refused, though only its first row is wanted") {
  // Bug: decoding stops early and never sees the cut; a cut progressive file even decodes whole.
  const bool progressive = GENERATE(false, true);
  Making making = making_of(3, 2, 2, progressive);
  making.width = making.height = 32;
  const Bytes file = make_jpeg(making);
  REQUIRE(first_row_error(file).empty());
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(contains(first_row_error(cut), "'some/bad.jpg'"));
  }
}

TEST_CASE("The end marker of a thumbnail does not pass for that of the picture") {
  // Bug: a cut file with a thumbnail in its header counts as whole.
  Bytes file = make_jpeg({});
  const Bytes thumbnail = {0xFF, 0xE1, 0, 6, 'E', 'x', 0xFF, 0xD9};
  file.insert(file.begin() + 2, thumbnail.begin(), thumbnail.end());
  CHECK(first_row_error(file).empty());
  file.pop_back();
  CHECK(contains(first_row_error(file), "is cut off after"));
}

TEST_CASE("Files that are empty or no JPEG say so") {
  // Bug: the reason is lost, or libjpeg's talk of markers is all that is said.
  CHECK(contains(decode_error({}), "'some/bad.jpg' is empty"));
  CHECK(contains(decode_error({'G', 'I', 'F', '8', '9', 'a'}), "is not a JPEG file"));
  CHECK(contains(decode_error(Bytes{0xFF, 0xD8, 0xFF, 0xD9}), "near byte"));
}

TEST_CASE("Damage that libjpeg only warns of is an error with the byte offset") {
  // Bug: grey stripes train the model.
  Bytes file = make_jpeg(making_of(3, 2, 2, false));
  const std::size_t middle = file.size() / 2;
  file[middle] = 0xFF;
  file[middle + 1] = 0xD0;
  CHECK(contains(decode_error(file), "can't be decoded near byte"));
}

TEST_CASE("Bombs are refused by their headers") {
  // Bug: 21 KB that claim 20000 x 20000 pixels take seconds and gigabytes.
  const bool progressive = GENERATE(false, true);
  const Bytes file = make_jpeg(making_of(3, 2, 2, progressive));
  CHECK(contains(decode_error(with_size(file, 65500, 65500)), "claims 4290250000 pixels"));
  CHECK(contains(decode_error(with_size(file, 20000, 20000)), "claims 400000000 pixels"));
  JpegLimits limits;
  limits.decoded_bytes = 1000;
  CHECK(contains(decode_error(file, limits), "bytes to decode"));
}

TEST_CASE("A file of thousands of scans is refused, one of a hundred is not") {
  // Bug: each scan runs over the whole picture, 2 010 of them for 9 seconds.
  const Bytes file = make_jpeg(making_of(1, 1, 1, true));
  const std::size_t first = detail::read_jpeg_markers(file).first_scan;
  std::size_t second = first + 2;
  while (!(file[second] == 0xFF && file[second + 1] != 0)) ++second;
  const auto repeated = [&](int times) {
    Bytes many(file.begin(), file.end() - 2);
    for (int i = 0; i < times; ++i) {
      many.insert(many.end(), file.begin() + static_cast<std::ptrdiff_t>(first),
                  file.begin() + static_cast<std::ptrdiff_t>(second));
    }
    many.insert(many.end(), {0xFF, 0xD9});
    return many;
  };
  CHECK(contains(decode_error(repeated(2010)), "more than the 100 scans allowed"));
  CHECK_FALSE(contains(decode_error(repeated(50)), "scans allowed"));
}

TEST_CASE("Any bit of the header may be flipped without harm") {
  // Bug: a frame of libjpeg is left by longjmp with memory lost or broken (seen by the sanitizer),
  // or the decoder can't be used after a failure.
  const bool progressive = GENERATE(false, true);
  const Bytes file = make_jpeg(making_of(3, 2, 2, progressive));
  const std::size_t header = detail::read_jpeg_markers(file).first_scan + 16;
  JpegLimits limits;
  limits.pixels = 1 << 20;
  JpegDecoder decoder;
  const Bytes whole = pixels_of(decoder, file, {0, 0, 101, 75});
  int refused = 0, decoded = 0;
  for (std::size_t bit = 0; bit < header * 8; ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    const std::string error = error_of([&] {
      const JpegHeader found = decoder.open(flipped, "flipped.jpg", limits);
      const JpegWindow window = decoder.start({0, found.height / 2, found.width, 1});
      Bytes row(static_cast<std::size_t>(window.width) * 4);
      decoder.read_row(row.data());
    });
    error.empty() ? ++decoded : ++refused;
    CHECK((error.empty() || contains(error, "'flipped.jpg'")));
  }
  CHECK(refused > 100);
  CHECK(decoded > 100);
  CHECK(pixels_of(decoder, file, {0, 0, 101, 75}) == whole);
}

}  // namespace feedrate::jpeg_tests
