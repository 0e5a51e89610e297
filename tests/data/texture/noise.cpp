// SPDX-License-Identifier: Apache-2.0
// Tests of data/texture/noise.hpp.
#include "feedrate/data/texture/noise.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace feedrate::noise_tests {

namespace {

/// Mean square difference of pixels `step` columns apart.
double roughness(const float* plane, int width, int height, int step) {
  double sum = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x + step < width; ++x) {
      const double difference = plane[y * width + x + step] - plane[y * width + x];
      sum += difference * difference;
    }
  }
  return sum / (static_cast<double>(width - step) * height);
}

}  // namespace

TEST_CASE("One octave gives white noise of the asked-for strength") {
  // Bug: amplitudes are scaled twice. Uniform in +-32: variance 32^2 / 3 = 341, differences twice.
  detail::NoisePlane noise;
  Random random(1, 0, 0);
  const float* plane = noise.make(301, 201, {32}, random);
  CHECK(std::abs(roughness(plane, 301, 201, 1) - 683) < 20);
  CHECK(std::abs(roughness(plane, 301, 201, 40) - 683) < 20);
}

TEST_CASE("Coarse octaves are smooth between neighbours and rough at a distance") {
  // Bug: enlarging repeats pixels or mixes up rows, which shows as edges.
  detail::NoisePlane noise;
  Random random(1, 0, 0);
  const float* plane = noise.make(301, 201, {0, 0, 0, 32}, random);
  CHECK(roughness(plane, 301, 201, 1) < 0.1 * roughness(plane, 301, 201, 16));
}

TEST_CASE("Odd sides and single pixels stay within the plane") {
  // Bug: the neighbour of the last pixel lies outside (seen by the sanitizer).
  detail::NoisePlane noise;
  Random random(1, 0, 0);
  for (const int side : {1, 2, 3, 17, 64}) {
    const float* plane = noise.make(side, 65 - side, {1, 1, 1, 1, 1}, random);
    CHECK(std::all_of(plane, plane + side * (65 - side),
                      [](float value) { return std::abs(value) <= 5; }));
  }
}

}  // namespace feedrate::noise_tests
