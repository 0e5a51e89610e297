// SPDX-License-Identifier: Apache-2.0
// Claim: a finished training sample costs less than libjpeg's decoding of the whole picture.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <vector>

#include "feedrate/data/image/image_decoder.hpp"
#include "feedrate/data/image/jpeg_encoder.hpp"
#include "feedrate/data/texture/texture.hpp"

using namespace feedrate;

namespace {

using File = std::vector<std::uint8_t>;

/// Pictures of 500 x 375 and about 110 KB, as `make_textures` makes them.
std::vector<File> make_files() {
  detail::TexturePainter painter;
  JpegEncoder encoder;
  std::vector<File> files;
  for (int i = 0; i < 16; ++i) {
    Random random(1, 0, static_cast<std::uint64_t>(i));
    const auto file = encoder.encode(painter.paint(i % 10, 10, 500, 375, random), 500, 375, 90);
    files.emplace_back(file.begin(), file.end());
  }
  return files;
}

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Runs `work` and adds the CPU seconds that it took.
template <class Work>
void add_time(double& total_s, Work&& work) {
  const double start_s = thread_cpu_s();
  work();
  total_s += thread_cpu_s() - start_s;
}

void decode_rows(JpegDecoder& decoder, const JpegWindow& wanted) {
  static std::vector<std::uint8_t> row(4096 * 4);
  decoder.start(wanted);
  for (int y = 0; y < wanted.height; ++y) decoder.read_row(row.data());
  benchmark::DoNotOptimize(row.data());
}

void decode_whole(JpegDecoder& decoder, const File& file) {
  const JpegHeader header = decoder.open(file, "picture");
  decode_rows(decoder, {0, 0, header.width, header.height});
}

void decode_crop(JpegDecoder& decoder, const File& file, const ImageOptions& options,
                 Random random) {
  const JpegHeader header = decoder.open(file, "picture");
  const Crop crop = random_resized_crop(header.width, header.height, options.crop, random);
  decode_rows(decoder, {crop.x, crop.y, crop.width, crop.height});
}

/// All ways in turn on the same picture and crop, so that a noisy machine hits all alike.
void jpeg_to_sample(benchmark::State& state) {
  const std::vector<File> files = make_files();
  ImageOptions as_bytes, shrunk;
  as_bytes.format.dtype = DType::u8;
  shrunk.dct_scaling = true;
  const ImageOptions options;
  std::vector<float> sample(3 * 224 * 224);
  JpegDecoder decoder;
  ImageDecoder images;
  double whole_s = 0, crop_s = 0, sample_s = 0, bytes_s = 0, shrunk_s = 0;
  std::uint64_t i = 0;
  for (auto _ : state) {
    const File& file = files[i % files.size()];
    Random random(2, 0, i++);
    const auto make = [&](const ImageOptions& how, Random key) {
      images.decode(file, "picture", how, key, sample.data());
    };
    add_time(whole_s, [&] { decode_whole(decoder, file); });
    add_time(crop_s, [&] { decode_crop(decoder, file, options, random); });
    add_time(sample_s, [&] { make(options, random); });
    add_time(bytes_s, [&] { make(as_bytes, random); });
    add_time(shrunk_s, [&] { make(shrunk, random); });
  }
  const auto per_picture_ms = 1e3 / static_cast<double>(i);
  state.counters["whole_ms"] = whole_s * per_picture_ms;
  state.counters["sample_ms"] = sample_s * per_picture_ms;
  state.counters["crop/whole"] = crop_s / whole_s;
  state.counters["sample/whole"] = sample_s / whole_s;
  state.counters["sample/crop"] = sample_s / crop_s;
  state.counters["u8/sample"] = bytes_s / sample_s;
  state.counters["shrunk/sample"] = shrunk_s / sample_s;
}
BENCHMARK(jpeg_to_sample)->MinTime(3)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
