// SPDX-License-Identifier: Apache-2.0
// Tests of launches and bodies on a GPU: they give what the same bodies give on the host.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "../train/image_shapes.hpp"
#include "feedrate/core/half.hpp"
#include "feedrate/cuda/launch.cuh"
#include "feedrate/train/cpu/cpu.hpp"
#include "feedrate/train/kernels/column_sums.hpp"
#include "feedrate/train/kernels/im2col.hpp"
#include "feedrate/train/kernels/kernels.hpp"
#include "feedrate/train/kernels/loss.hpp"
#include "feedrate/train/kernels/pool_packs.hpp"
#include "feedrate/train/kernels/pooling.hpp"
#include "feedrate/train/kernels/preprocess.hpp"
#include "feedrate/train/kernels/step_state.hpp"
#include "feedrate/train/kernels/unpool.hpp"
#include "feedrate/train/kernels/update.hpp"
#include "feedrate/train/noise.hpp"
#include "mirror.hpp"

using namespace feedrate;
using namespace feedrate::test;

namespace {

/// Runs make(gpu) on the host and on the GPU, for each element or row.
template <class Make>
void each_on_both(const cuda::Stream& stream, std::size_t n, const Make& make) {
  Cpu{}.for_each(n, make(false));
  cuda::for_each(stream.handle(), n, make(true));
}
template <class Make>
void rows_on_both(const cuda::Stream& stream, std::size_t rows, std::size_t width,
                  const Make& make) {
  Cpu{}.for_rows(rows, make(false));
  cuda::for_rows(stream.handle(), rows, width, make(true));
}

/// The largest error that rounding to a type leaves, and some for another order of sums.
template <class T>
constexpr double bound = sizeof(T) == 4 ? 1e-5 : 1e-2;

constexpr std::size_t widths[] = {1, 3, 7, 8, 9, 31, 32, 33, 64, 100, 257, 1000, 5001};

/// Notes which lanes came to each element, and what the group's sum and largest value are.
struct Visits {
  std::uint32_t* visits;
  float *sums, *largest;
  std::size_t width;

  template <class Group>
  FEEDRATE_HD void operator()(const Group& group, std::size_t row) const {
    float count = 0, last = -1;
    for (std::size_t c = group.lane(); c < width; c += group.lanes()) {
      visits[row * width + c] += 1;
      count += 1;
      last = static_cast<float>(c);
    }
    // Twice, so that a missing barrier between two exchanges shows.
    const float sum = group.sum(count);
    const float most = group.max(last);
    const float again = group.sum(count);
    if (group.lane() == 0) {
      sums[row] = sum == again ? sum : -1;
      largest[row] = most;
    }
  }
};

struct Rounding {
  const float* x;
  Float16* half;
  BFloat16* bf16;
  float* back;

  FEEDRATE_HD void operator()(std::size_t i) const {
    half[i] = Float16(x[i]);
    bf16[i] = BFloat16(x[i]);
    back[i] = static_cast<float>(half[i]);
  }
};

template <class T>
bool same_bits_but_nan(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool nan = std::isnan(static_cast<float>(a[i])) && std::isnan(static_cast<float>(b[i]));
    if (!nan && std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("Each element of each row is visited once, and groups agree on sums and maxima") {
  // Bug: rows that are left out, lanes of another row in a sum, or a barrier that is missing.
  const cuda::Stream stream;
  for (std::size_t width : widths) {
    for (std::size_t rows : {1, 2, 33, 257, 5003}) {
      Mirror<std::uint32_t> visits(std::vector<std::uint32_t>(rows * width), stream);
      Mirror<float> sums(rows, stream), largest(rows, stream);
      cuda::for_rows(stream.handle(), rows, width,
                     Visits{visits.at(true), sums.at(true), largest.at(true), width});
      REQUIRE(visits.device() == std::vector<std::uint32_t>(rows * width, 1));
      REQUIRE(sums.device() == std::vector<float>(rows, static_cast<float>(width)));
      REQUIRE(largest.device() == std::vector<float>(rows, static_cast<float>(width - 1)));
    }
  }
}

TEST_CASE("The GPU rounds to 16 bits as the host does") {
  // Bug: denormals flushed to zero, or halves that are not rounded to even.
  const cuda::Stream stream;
  std::vector<float> x;
  for (std::uint32_t upper = 0; upper <= 0xffff; ++upper) {
    for (std::uint32_t lower : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u}) {
      const std::uint32_t bits = (upper << 16) | lower;
      float value = 0;
      std::memcpy(&value, &bits, sizeof(value));
      x.push_back(value);
    }
  }
  Mirror<float> in(x, stream), back(x.size(), stream);
  Mirror<Float16> half(x.size(), stream);
  Mirror<BFloat16> bf16(x.size(), stream);
  each_on_both(stream, x.size(), [&](bool gpu) {
    return Rounding{in.at(gpu), half.at(gpu), bf16.at(gpu), back.at(gpu)};
  });
  CHECK(same_bits_but_nan(half.device(), half.host()));
  CHECK(same_bits_but_nan(bf16.device(), bf16.host()));
  CHECK(same_bits_but_nan(back.device(), back.host()));
}

TEMPLATE_TEST_CASE("Elementwise bodies give what they give on the host", "", float, BFloat16,
                   Float16) {
  // Bug: a tail behind the last pack, or a pack of the wrong type.
  const cuda::Stream stream;
  for (std::size_t n : {1, 7, 8, 9, 1000, 1003, 300001}) {
    Mirror<float> x(random_numbers<float>(n, n), stream);
    Mirror<TestType> y(n, stream), dy(random_numbers<TestType>(n, n + 1), stream);
    each_on_both(stream, n, [&](bool gpu) {
      return Convert<float, TestType>{x.at(gpu), y.at(gpu), 0.37f};
    });
    CHECK(same_bits_but_nan(y.device(), y.host()));
    each_on_both(stream, n, [&](bool gpu) {
      return ReluBackward<TestType, TestType>{y.at(gpu), dy.at(gpu)};
    });
    CHECK(same_bits_but_nan(dy.device(), dy.host()));
    Mirror<TestType> z(random_numbers<TestType>(n, n + 2), stream);
    Mirror<TestType> back(random_numbers<TestType>(n, n + 3), stream);
    each_on_both(stream, n, [&](bool gpu) {
      return GeluBackward<TestType, TestType>{z.at(gpu), back.at(gpu)};
    });
    CHECK(distance_of(back.device(), back.host()) <= bound<TestType>);
    Mirror<TestType> noise(n, stream);
    each_on_both(stream, n, [&](bool gpu) { return Noise<TestType>{noise.at(gpu)}; });
    CHECK(same_bits_but_nan(noise.device(), noise.host()));
  }
}

TEMPLATE_TEST_CASE("Loss, bias and sums of columns give what they give on the host", "", float,
                   BFloat16, Float16) {
  // Bug: rows that are wider than a group.
  const cuda::Stream stream;
  for (std::size_t width : widths) {
    for (std::size_t rows : {1, 5, 300}) {
      const std::size_t n = rows * width;
      Mirror<TestType> x(random_numbers<TestType>(n, width), stream), y(n, stream), dz(n, stream);
      Mirror<float> bias(random_numbers<float>(width, rows), stream), losses(rows, stream);
      std::vector<std::int32_t> wanted(rows);
      for (std::size_t i = 0; i < rows; ++i) {
        wanted[i] = i % 4 == 3 ? -1 : static_cast<std::int32_t>(i * 7 % width);
      }
      Mirror<std::int32_t> labels(wanted, stream);
      Mirror<float> scale(std::vector<float>{0.125f}, stream);
      rows_on_both(stream, rows, width, [&](bool gpu) {
        return BiasRelu<TestType, TestType>{x.at(gpu), bias.at(gpu), y.at(gpu), width, 0.0f};
      });
      Mirror<TestType> sum(n, stream), gelu(n, stream);
      rows_on_both(stream, rows, width, [&](bool gpu) {
        return BiasGelu<TestType>{x.at(gpu), bias.at(gpu), sum.at(gpu), gelu.at(gpu), width};
      });
      rows_on_both(stream, rows, width, [&](bool gpu) {
        return SoftmaxCrossEntropy<TestType, TestType>{
            x.at(gpu), labels.at(gpu), dz.at(gpu), losses.at(gpu), width, scale.at(gpu)};
      });
      CHECK(distance_of(y.device(), y.host()) <= bound<TestType>);
      CHECK(distance_of(sum.device(), sum.host()) <= bound<TestType>);
      CHECK(distance_of(gelu.device(), gelu.host()) <= bound<TestType>);
      CHECK(distance_of(dz.device(), dz.host()) <= bound<TestType>);
      CHECK(distance_of(losses.device(), losses.host()) <= 1e-5);
      if (width % pack_width == 0) {
        Mirror<TestType> packed(n, stream);
        Mirror<float> each(rows, stream);
        cuda::for_rows(stream.handle(), rows, width / pack_width,
                       SoftmaxCrossEntropy<TestType, TestType, pack_width>{
                           x.at(true), labels.at(true), packed.at(true), each.at(true), width,
                           scale.at(true)});
        CHECK(distance_of(packed.device(), dz.host()) <= bound<TestType>);
        CHECK(distance_of(each.device(), losses.host()) <= 1e-5);
      }

      const RowParts cut = RowParts::of(rows, width);
      Mirror<float> sums(cut.parts * width, stream), total(width, stream);
      rows_on_both(stream, cut.parts, width, [&](bool gpu) {
        return SumParts<TestType>{cut, x.at(gpu), sums.at(gpu)};
      });
      if (SumPartsInPacks<TestType>::fits(width)) {
        Mirror<float> packed(cut.parts * width, stream);
        cuda::for_rows(stream.handle(), cut.parts, width,
                       SumPartsInPacks<TestType>{cut, x.at(true), packed.at(true)});
        CHECK(distance_of(packed.device(), sums.host()) <= 1e-5);
      }
      rows_on_both(stream, width, cut.parts, [&](bool gpu) {
        return AddParts{cut, sums.at(gpu), total.at(gpu), false};
      });
      CHECK(distance_of(total.device(), total.host()) <= 1e-4);
    }
  }
}

TEMPLATE_TEST_CASE("Columns and pooling give what they give on the host", "", float, BFloat16,
                   Float16) {
  // Bug: an index that overflows, or a hole that is not written.
  const cuda::Stream stream;
  constexpr std::size_t images = 3;
  for (const Block& block : {convolution({9, 7, 3}, 7, 4, 3), convolution({28, 28, 1}, 3, 1, 0),
                             convolution({13, 11, 32}, 3, 1, 1), convolution({6, 5, 8}, 2, 3, 1)}) {
    const std::size_t rows = images * block.raw.pixels(), leading = (block.depth() + 15) / 8 * 8;
    const ColumnGeometry geometry(block, leading);
    Mirror<TestType> x(random_numbers<TestType>(images * block.in.elements(), 1), stream);
    Mirror<TestType> columns(rows * leading, stream), dx(x.host().size(), stream);
    rows_on_both(stream, rows, leading, [&](bool gpu) {
      return ReadColumns<TestType>{geometry, x.at(gpu), columns.at(gpu)};
    });
    CHECK(same_bits_but_nan(columns.device(), columns.host()));
    Mirror<TestType> gathered(rows * leading, stream);
    cuda::for_each(stream.handle(), rows * leading / pack_width,
                   GatherColumns<TestType, pack_width>(geometry, x.at(true), gathered.at(true)));
    CHECK(same_bits_but_nan(gathered.device(), columns.host()));
    rows_on_both(stream, images * block.in.pixels(), block.in.channels, [&](bool gpu) {
      return SumColumns<TestType>(geometry, columns.at(gpu), dx.at(gpu));
    });
    CHECK(distance_of(dx.device(), dx.host()) <= bound<TestType>);
  }
  for (const PoolWindows& at : {windows_of({8, 6, 5}, 2, 2), windows_of({9, 9, 64}, 2, 2),
                                windows_of({9, 8, 5}, 3, 2), windows_of({7, 7, 33}, 3, 1)}) {
    const std::size_t inputs = images * at.from.elements(), outputs = images * at.to.elements();
    Mirror<TestType> x(random_numbers<TestType>(inputs, 2), stream), y(outputs, stream);
    Mirror<float> bias(random_numbers<float>(at.from.channels, 3), stream);
    Mirror<TestType> dy(random_numbers<TestType>(outputs, 4), stream);
    Mirror<TestType> dx(inputs, stream), scattered(std::vector<TestType>(inputs), stream);
    const auto pooling = [&](bool gpu) {
      return Pooling<TestType>{x.at(gpu), bias.at(gpu), at, 0.0f};
    };
    rows_on_both(stream, images * at.to.pixels(), at.to.channels, [&](bool gpu) {
      return PoolForward<TestType>{pooling(gpu), y.at(gpu)};
    });
    CHECK(distance_of(y.device(), y.host()) <= bound<TestType>);
    rows_on_both(stream, images * at.from.pixels(), at.from.channels, [&](bool gpu) {
      return GatherPool<TestType, TestType>{pooling(gpu), y.at(gpu), dy.at(gpu), dx.at(gpu)};
    });
    CHECK(distance_of(dx.device(), dx.host()) <= bound<TestType>);
    if (pools_in_packs<TestType>(pooling(true), y.at(true))) {
      Mirror<TestType> packed(outputs, stream);
      cuda::for_rows(stream.handle(), images * at.to.pixels(), at.to.channels / pack_width,
                     PoolForwardPacks<TestType>{pooling(true), packed.at(true)});
      CHECK(distance_of(packed.device(), y.host()) <= bound<TestType>);
    }
    if (at.overlap()) continue;
    if (pools_in_packs<TestType>(pooling(true), y.at(true))) {
      Mirror<TestType> packed(std::vector<TestType>(inputs), stream);
      cuda::for_rows(stream.handle(), images * at.to.pixels(), at.to.channels / pack_width,
                     PoolBackwardPacks<TestType, TestType>{pooling(true), y.at(true), dy.at(true),
                                                           packed.at(true)});
      CHECK(distance_of(packed.device(), dx.host()) <= bound<TestType>);
    }
    rows_on_both(stream, images * at.to.pixels(), at.to.channels, [&](bool gpu) {
      return PoolBackward<TestType, TestType, TestType>{pooling(gpu), y.at(gpu), dy.at(gpu),
                                                        scattered.at(gpu)};
    });
    CHECK(distance_of(scattered.device(), dx.host()) <= bound<TestType>);
  }
}

TEST_CASE("Samples are cut, mirrored and scaled on the GPU as on the host") {
  // Bug: another draw, or constants of another channel.
  const cuda::Stream stream;
  constexpr std::size_t samples = 37;
  const Image to{14, 11, 3};
  const PreprocessSpec spec{
      .margin = 3, .flip = true, .scale = {2, 3, 4, 1}, .shift = {1, 0, -1, 0}};
  std::vector<std::uint8_t> bytes(samples * 17 * 14 * 3);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(i * 37 + i / 256);
  Mirror<std::uint8_t> x(bytes, stream);
  Mirror<float> y(samples * to.elements(), stream);
  rows_on_both(stream, samples * to.height, to.width, [&](bool gpu) {
    return PrepareSamples<std::uint8_t, float>(spec, to, 12, 34, x.at(gpu), y.at(gpu));
  });
  CHECK(distance_of(y.device(), y.host()) <= 1e-6);
}

TEST_CASE("The GPU counts labels, measures gradients and decides as the host does") {
  // Bug: a sum over a block that leaves a warp out, or a double that the GPU rounds otherwise.
  const cuda::Stream stream;
  for (std::size_t count : {1, 31, 1000, 40001}) {
    std::vector<std::int32_t> wanted(count, 1);
    for (std::size_t i = 0; i < count; i += 3) wanted[i] = -1;
    if (count == 1000) wanted[777] = wanted[999] = 5;
    Mirror<std::int32_t> labels(wanted, stream), copy(count, stream);
    StepState start;
    start.loss_scale = 1024;
    Mirror<StepState> state({start}, stream);
    Mirror<float> gradient(random_numbers<float>(count, 5), stream), sums(64, stream);
    rows_on_both(stream, 1, count, [&](bool gpu) {
      return CheckLabels{labels.at(gpu), copy.at(gpu), state.at(gpu), count, 2, 3};
    });
    rows_on_both(stream, 64, 512, [&](bool gpu) {
      return SquareParts{gradient.at(gpu), state.at(gpu), sums.at(gpu), count, 64};
    });
    rows_on_both(stream, 1, 64, [&](bool gpu) {
      return PrepareUpdate{
          adam(), {.clip_norm = 1e-3f, .scales = true}, state.at(gpu), sums.at(gpu), 64};
    });
    const StepState there = state.device()[0], here = state.host()[0];
    CHECK(copy.device() == copy.host());
    CHECK(there.counted == here.counted);
    CHECK(there.refused == here.refused);
    CHECK(there.wrong_sample == here.wrong_sample);
    CHECK(there.wrong_label == here.wrong_label);
    CHECK(there.apply == here.apply);
    CHECK(there.updates == here.updates);
    CHECK(there.gradient_scale == here.gradient_scale);
    CHECK(std::abs(there.norm / here.norm - 1) < 1e-5f);
    CHECK(std::abs(there.factor / here.factor - 1) < 1e-5f);
    CHECK(std::abs(there.now.root_bias2 - here.now.root_bias2) < 1e-6f);
  }
}

TEST_CASE("The update on the GPU is that on the host, in packs and behind them") {
  // Bug: state that is written to another parameter, or a copy that is not rounded.
  const cuda::Stream stream;
  for (std::size_t n : {5, 64, 1000, 100003}) {
    StepState start;
    start.factor = 0.5f;
    start.now = scalars_of(adam(), 2);
    Mirror<StepState> state({start}, stream);
    Mirror<float> values(random_numbers<float>(n, 1), stream),
        first(random_numbers<float>(n, 2), stream);
    Mirror<float> gradient(random_numbers<float>(n, 3), stream),
        second(std::vector<float>(n, 0.5f), stream);
    Mirror<Float16> copy(n, stream);
    each_on_both(stream, n, [&](bool gpu) {
      return Update<Float16, 2>{adam(),           state.at(gpu), values.at(gpu), copy.at(gpu),
                                gradient.at(gpu), first.at(gpu), second.at(gpu)};
    });
    CHECK(distance_of(values.device(), values.host()) <= 1e-6);
    CHECK(distance_of(first.device(), first.host()) <= 1e-6);
    CHECK(distance_of(second.device(), second.host()) <= 1e-6);
    CHECK(distance_of(copy.device(), copy.host()) <= 1e-3);
  }
}
