// SPDX-License-Identifier: Apache-2.0
// Prints batches of JPEG files: iterate FOLDER
#include <cstdio>

#include "feedrate/feedrate.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) throw feedrate::Error(feedrate::Fault::usage, "Give a folder of class folders.");
  feedrate::Loader loader(feedrate::ImageFolder(argv[1]),
                          {.batch = 64, .workers = 2, .prefetch = 4});
  for (const auto& batch : loader.epoch()) {
    const auto pixels = batch.get<float>("image");         // [count, 3, 224, 224], normalised
    const auto labels = batch.get<std::int32_t>("label");  // [count]
    std::printf("batch %zu: %zu images, first pixel %.3f, first label %d\n", batch.index(),
                batch.count(), static_cast<double>(pixels[0]), labels[0]);
  }
} catch (const feedrate::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
