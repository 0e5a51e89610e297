// SPDX-License-Identifier: Apache-2.0
// The image folder of a program that was compiled without libjpeg: it says so.
#pragma once

#include <string>

#include "feedrate/core/error.hpp"
#include "feedrate/data/dataset.hpp"
#include "feedrate/data/image/augment.hpp"

namespace feedrate::inline v0 {

/// Stands in for the dataset of image_folder.hpp. The constructor throws Error(usage).
class ImageFolder {
 public:
  explicit ImageFolder(const std::string& root, const ImageOptions& = {}) {
    throw Error(Fault::usage, "The images in '" + root +
                                  "' can't be decoded: this program was compiled without libjpeg. "
                                  "Install libjpeg-turbo (libjpeg-dev or libjpeg-turbo-devel), "
                                  "compile again, and link with -ljpeg.");
  }

  std::size_t size() const noexcept { return 0; }
  Layout layout() const { return {}; }
  void load(std::size_t, const Sample&, Random&) const {}
};

}  // namespace feedrate::inline v0
