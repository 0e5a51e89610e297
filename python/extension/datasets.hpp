// SPDX-License-Identifier: Apache-2.0
// The datasets that Python makes: folders and lists of JPEG files, and NumPy files.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/named.hpp"
#include "feedrate/data/image/image_folder.hpp"
#include "feedrate/data/npy.hpp"
#include "feedrate/load/source.hpp"

namespace feedrate::python {

/// What a loader of Python's reads.
class Dataset {
 public:
  explicit Dataset(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
  virtual ~Dataset() = default;

  const std::shared_ptr<const Source>& source() const noexcept { return source_; }
  std::size_t size() const { return source_->size(); }

 private:
  std::shared_ptr<const Source> source_;
};

/// What a word of Python's stands for.
template <class T>
struct Named {
  std::string_view name;
  T value;
};
inline constexpr std::array<Named<Transform>, 3> transforms = {{{"train", Transform::train},
                                                                {"evaluate", Transform::evaluate},
                                                                {"stretch", Transform::stretch}}};
inline constexpr std::array<Named<DType>, 2> dtypes = {
    {{"float32", DType::f32}, {"uint8", DType::u8}}};

/// The bounds of a random factor.
using Factors = std::pair<float, float>;

/// The keywords of an image dataset, as Python gives them.
struct ImageKeywords {
  int size;
  std::string transform;
  std::pair<double, double> scale, ratio;
  float flip;
  Factors brightness, contrast, saturation, hue;
  int resize;
  std::string dtype;
  bool channels_last;
  std::array<float, 3> mean, std;
  bool upright, fast_scaling;

  ImageOptions options() const {
    for (const float deviation : std) {
      if (!(deviation > 0)) throw Error(Fault::usage, "Each element of std must be positive.");
    }
    return {.size = size,
            .transform = entry_named(transforms, transform, "transform").value,
            .crop = {scale.first, scale.second, ratio.first, ratio.second},
            .flip = flip,
            .color = {range(brightness), range(contrast), range(saturation), range(hue)},
            .resize = resize,
            .format = {entry_named(dtypes, dtype, "dtype").value,
                       channels_last ? ChannelOrder::nhwc : ChannelOrder::nchw, mean, std},
            .upright = upright,
            .dct_scaling = fast_scaling};
  }

 private:
  static FactorRange range(const Factors& bounds) { return {bounds.first, bounds.second}; }
};

class Images final : public Dataset {
 public:
  explicit Images(feedrate::ImageFolder images)
      : Images(std::make_shared<const feedrate::ImageFolder>(std::move(images))) {}

  const feedrate::ImageFolder& get() const noexcept { return *images_; }

 private:
  explicit Images(std::shared_ptr<const feedrate::ImageFolder> images)
      : Dataset(make_source(images)), images_(std::move(images)) {}

  std::shared_ptr<const feedrate::ImageFolder> images_;
};

class Arrays final : public Dataset {
 public:
  Arrays(const std::string& path, const std::string& labels)
      : Dataset(labels.empty() ? make_source(feedrate::NpyFile(path))
                               : make_source(feedrate::NpyFile(path, labels))) {}
};

}  // namespace feedrate::python
