// SPDX-License-Identifier: Apache-2.0
// A program of somebody else's: loads an epoch of numbers. With WITH_IMAGES it needs libjpeg, too,
// with WITH_TRAIN a BLAS, and with WITH_CUDA the CUDA runtime; each adds 1 to what is printed.
#include <cstdio>
#include <feedrate/loader.hpp>
#ifdef WITH_IMAGES
#include <feedrate/data/image/image_folder.hpp>
#endif
#ifdef WITH_TRAIN
#include <feedrate/train/cpu/make_step.hpp>
#endif
#ifdef WITH_CUDA
#include <feedrate/cuda/pinned.hpp>
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
#ifdef WITH_TRAIN
  const feedrate::ModelSpec model{"one", {4}, {feedrate::Linear{2}}};
  sum +=
      feedrate::make_step(model, feedrate::sgd(0.1f), feedrate::Precision::fp32, 2, 1) != nullptr;
#endif
#ifdef WITH_CUDA
  sum += feedrate::cuda::make_pinned_slab(4096).bytes() >=
         4096;  // of usual memory where there is no GPU
#endif
  std::printf("%ld\n", sum);
}
