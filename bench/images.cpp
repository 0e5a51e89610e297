// SPDX-License-Identifier: Apache-2.0
// Images per second of the loader alone on a folder of JPEG files: random-resized-crop to 224,
// mirror, normalise. The same work as bench/peers/torch_loader.py and tfdata_loader.py.
// usage: bench_images FOLDER [WORKERS] [SECONDS] [BATCH]; prints one number.
#include <cstdio>
#include <cstdlib>

#include "feedrate/data/image/image_folder.hpp"
#include "feedrate/load/loader.hpp"

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::puts("usage: bench_images FOLDER [WORKERS] [SECONDS] [BATCH]");
    return 2;
  }
  const int workers = argc > 2 ? std::atoi(argv[2]) : 2;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 5;
  const int batch = argc > 4 ? std::atoi(argv[4]) : 64;
  feedrate::Loader loader(feedrate::ImageFolder(argv[1]),
                          {.batch = batch, .workers = workers, .prefetch = 4});
  for (int warm = 0; warm < 8; ++warm) loader.next();
  const auto before = loader.counters();
  const double start_s = feedrate::SteadyClock{}.now_s();
  double now_s = start_s;
  for (; now_s < start_s + seconds; now_s = feedrate::SteadyClock{}.now_s()) loader.next();
  const auto done = loader.counters() - before;
  std::printf("%.1f\n", static_cast<double>(done.samples) / (now_s - start_s));
} catch (const feedrate::Error& error) {
  std::fprintf(stderr, "bench_images: %s\n", error.what());
  return 1;
}
