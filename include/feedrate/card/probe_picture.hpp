// SPDX-License-Identifier: Apache-2.0
// A JPEG picture to decode if the user has none: the first one of the built-in workload.
#pragma once

#include <cstdint>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/data/image/jpeg_encoder.hpp"
#include "feedrate/data/texture/texture.hpp"
#include "feedrate/data/texture/texture_set.hpp"

namespace feedrate::inline v0 {

/// A JPEG file in memory, 500x375 and about 110 KB by default: ImageNet's in size and cost.
inline std::vector<std::uint8_t> make_probe_jpeg(const TextureSpec& spec = {}) {
  Random random(spec.seed, 0, 0);
  detail::TexturePainter painter;
  JpegEncoder encoder;
  const auto pixels = painter.paint(0, spec.classes, spec.width, spec.height, random);
  const auto file = encoder.encode(pixels, spec.width, spec.height, spec.quality);
  return {file.begin(), file.end()};
}

}  // namespace feedrate::inline v0
