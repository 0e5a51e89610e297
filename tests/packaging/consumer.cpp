// SPDX-License-Identifier: Apache-2.0
// A program of somebody else's: loads an epoch of numbers. With WITH_IMAGES it needs libjpeg, too.
#include <cstdio>
#include <feedrate/loader.hpp>
#ifdef WITH_IMAGES
#include <feedrate/data/image/image_folder.hpp>
#endif

struct Squares {
  std::size_t size() const { return 100; }
  feedrate::Layout layout() const { return {{"square", feedrate::DType::i32, {}}}; }
  void load(std::size_t i, const feedrate::Sample& sample, feedrate::Random&) const {
    sample.scalar<std::int32_t>("square") = static_cast<std::int32_t>(i * i);
  }
};

int main() {
  feedrate::Loader loader(Squares{}, {.batch = 10, .workers = 2});
  long sum = 0;
  for (const auto& batch : loader.epoch()) {
    for (const std::int32_t square : batch.get<std::int32_t>("square")) sum += square;
  }
#ifdef WITH_IMAGES
  try {
    feedrate::ImageFolder("/nowhere");
  } catch (const feedrate::Error&) {
    sum += 1;
  }
#endif
  std::printf("%ld\n", sum);
}
