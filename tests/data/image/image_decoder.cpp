// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/image_decoder.hpp against what torchvision made of the same files.
#include "feedrate/data/image/image_decoder.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "feedrate/data/npy.hpp"
#include "support.hpp"

namespace feedrate::image_decoder_tests {
using namespace feedrate::test;

namespace {

constexpr int size = 64, shorter = 73;
constexpr std::size_t elements = 3 * size * size;

/// One line of cases.txt.
struct Case {
  std::string file, mode;
  Crop crop;
  bool flip = false;

  View view(const JpegHeader& header) const {
    if (mode == "crop") return view_of(crop, size, flip);
    const bool turned = header.orientation >= 5;
    return central_view(turned ? header.height : header.width,
                        turned ? header.width : header.height, shorter, size);
  }
};

std::vector<Case> read_cases() {
  std::ifstream file(fixture("images/cases.txt"));
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    Case one;
    std::istringstream(line) >> one.file >> one.mode >> one.crop.x >> one.crop.y >>
        one.crop.width >> one.crop.height >> one.flip;
    cases.push_back(one);
  }
  return cases;
}

double mean_difference(const Bytes& ours, const std::uint8_t* theirs) {
  double sum = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) sum += std::abs(ours[i] - theirs[i]);
  return sum / static_cast<double>(ours.size());
}

ImageOptions bytes_hwc() {
  ImageOptions options;
  options.size = size;
  options.format.dtype = DType::u8;
  options.format.order = ChannelOrder::nhwc;
  return options;
}

}  // namespace

TEST_CASE("Samples agree with torchvision's to a quarter of a level, in every kind of file") {
  // Bug: a crop is off by a pixel, an orientation is mirrored, grey or CMYK are taken for colour,
  // antialiasing is missing. A quarter is what two roundings to whole levels explain.
  const auto cases = read_cases();
  const NpyArray expected(fixture("images/expected.npy"));
  REQUIRE(cases.size() == expected.rows());
  REQUIRE(cases.size() > 70);
  ImageDecoder fast, portable(detail::portable_kernels);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Bytes file = read_bytes(fixture("images/" + cases[i].file));
    const View view = cases[i].view(JpegDecoder().open(file, cases[i].file));
    Bytes image(elements), same(elements);
    fast.decode(file, cases[i].file, bytes_hwc(), view, image.data());
    portable.decode(file, cases[i].file, bytes_hwc(), view, same.data());
    INFO(cases[i].file << " " << cases[i].mode << " at " << cases[i].crop.x << ","
                       << cases[i].crop.y << " flip " << cases[i].flip);
    CHECK(mean_difference(image, expected.row(i)) < 0.25);
    CHECK(image == same);
  }
}

TEST_CASE("A picture can be taken as it is stored, whatever its EXIF data say") {
  // Bug: the option does nothing. A picture that lies upside down is turned by default.
  const Bytes file = read_bytes(fixture("images/orientation_3.jpg"));
  ImageOptions options = bytes_hwc();
  options.transform = Transform::stretch;
  options.flip = 0;
  Bytes turned(elements), stored(elements), mirrored(elements);
  Random random(1, 0, 0);
  ImageDecoder decoder;
  decoder.decode(file, "orientation_3.jpg", options, random, turned.data());
  options.upright = false;
  decoder.decode(file, "orientation_3.jpg", options, random, stored.data());
  for (std::size_t i = 0; i < elements; ++i) {
    mirrored[elements - 3 - i / 3 * 3 + i % 3] = stored[i];
  }
  CHECK(mean_difference(mirrored, turned.data()) < 0.25);
  CHECK(mean_difference(stored, turned.data()) > 5);
}

TEST_CASE("The colours of a sample change after its crop and its mirror image") {
  // Bug: other numbers are drawn for the crop where colours change, or padding counts as pixels.
  const Bytes file = read_bytes(fixture("images/large.jpg"));
  ImageOptions options = bytes_hwc();
  ImageDecoder decoder;
  Bytes plain(elements), colored(elements);
  Random random(9'000'073, 1, 2), again(9'000'073, 1, 2);
  decoder.decode(file, "large.jpg", options, random, plain.data());
  options.color = {{0.6f, 1.4f}, {0.6f, 1.4f}, {0.6f, 1.4f}, {-0.1f, 0.1f}};
  decoder.decode(file, "large.jpg", options, again, colored.data());
  std::vector<detail::Rgbx> pixels;
  for (std::size_t i = 0; i < elements; i += 3) {
    pixels.push_back(detail::Channels(plain[i], plain[i + 1], plain[i + 2]).packed());
  }
  detail::jitter_colors(pixels, options.color, random);
  for (std::size_t i = 0; i < elements; ++i) {
    REQUIRE(colored[i] == (pixels[i / 3] >> (8 * (i % 3)) & 255));
  }
  CHECK(colored != plain);
}

TEST_CASE("Normalised planes hold the same picture as bytes") {
  // Bug: the float path takes another crop, or mixes up planes.
  const Bytes file = read_bytes(fixture("images/large.jpg"));
  ImageOptions options = bytes_hwc();
  ImageDecoder decoder;
  Bytes bytes(elements);
  Random random(4, 5, 6), again(4, 5, 6);
  decoder.decode(file, "large.jpg", options, random, bytes.data());
  options.format = PixelFormat{};
  std::vector<float> floats(elements);
  decoder.decode(file, "large.jpg", options, again, floats.data());
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t c = i / (size * size), at = i % (size * size);
    const float level = 255 * (floats[i] * options.format.std[c] + options.format.mean[c]);
    REQUIRE(std::abs(level - static_cast<float>(bytes[3 * at + c])) < 0.01);
  }
}

TEST_CASE("With scaling in the decoder a sample looks the same, but not to the bit") {
  // Bug: the crop is taken in pixels of the unshrunk picture; or the option does nothing.
  const Bytes file = read_bytes(fixture("images/large.jpg"));
  ImageOptions options = bytes_hwc();
  const View view = view_of({17, 33, 290, 251}, size, true);
  Bytes plain(elements), scaled(elements);
  ImageDecoder decoder;
  decoder.decode(file, "large.jpg", options, view, plain.data());
  options.dct_scaling = true;
  decoder.decode(file, "large.jpg", options, view, scaled.data());
  CHECK(plain != scaled);
  CHECK(mean_difference(plain, scaled.data()) < 6);
}

}  // namespace feedrate::image_decoder_tests
