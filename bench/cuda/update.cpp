// SPDX-License-Identifier: Apache-2.0
// The claim: Adam's update moves its bytes at 85 % of the rate of a large copy within the GPU.
//
// Per parameter it reads value, gradient, mean and square and writes all but the gradient: 28
// bytes, and 2 more where a rounded copy is kept. A copy reads and writes each of its bytes once.
#include "update.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/cuda/memory.hpp"
#include "gpu_bench.hpp"

using namespace feedrate;

namespace {

constexpr std::size_t count = std::size_t{1} << 28;  // 7.5 GB: far more than any cache
constexpr std::size_t checked_count = 10'007;        // no multiple of what a thread takes at once

/// All arrays, filled with random numbers block by block.
class Arrays {
 public:
  explicit Arrays(std::size_t elements) : elements_(elements) {
    for (auto* memory : {&values_, &gradient_, &mean_, &square_}) {
      *memory = cuda::DeviceMemory(elements * sizeof(float));
    }
    copy_ = cuda::DeviceMemory(elements * sizeof(BFloat16));
    state_ = cuda::DeviceMemory(sizeof(StepState));
    StepState state;
    state.now = scalars_of(adam(), 3);
    bench::write(state_.data(), &state, sizeof state);
    fill(values_, -1, 1);
    fill(gradient_, -1, 1);
    fill(mean_, -1, 1);
    fill(square_, 0, 1);
  }

  bench::AdamArrays arrays(bool rounded) const {
    return {as<const StepState>(state_),
            as<float>(values_),
            rounded ? as<BFloat16>(copy_) : nullptr,
            as<const float>(gradient_),
            as<float>(mean_),
            as<float>(square_),
            elements_};
  }

 private:
  template <class T>
  static T* as(const cuda::DeviceMemory& memory) {
    return reinterpret_cast<T*>(memory.data());
  }

  void fill(const cuda::DeviceMemory& memory, float low, float high) const {
    std::vector<float> block(std::min(elements_, std::size_t{1} << 22));
    Random random(7, 0, static_cast<std::uint64_t>(high - low));
    for (float& x : block) x = random.uniform(low, high);
    for (std::size_t at = 0; at < memory.bytes(); at += block.size() * sizeof(float)) {
      bench::write(memory.data() + at, block.data(),
                   std::min(block.size() * sizeof(float), memory.bytes() - at));
    }
  }

  std::size_t elements_;
  cuda::DeviceMemory values_, gradient_, mean_, square_, copy_, state_;
};

std::vector<float> download(const float* from, std::size_t elements) {
  std::vector<float> to(elements);
  cuda::check(cudaMemcpy(to.data(), from, elements * sizeof(float), cudaMemcpyDeviceToHost),
              "reading memory");
  return to;
}

/// Largest difference between an update on the GPU and one by the host.
double error_of_an_update(const bench::Setting& setting, bool rounded) {
  const Arrays memory(checked_count);
  const bench::AdamArrays arrays = memory.arrays(rounded);
  std::vector<float> values = download(arrays.values, checked_count);
  std::vector<float> mean = download(arrays.mean, checked_count);
  std::vector<float> square = download(arrays.square, checked_count);
  const std::vector<float> gradient = download(arrays.gradient, checked_count);
  bench::queue_adam(adam(), arrays, setting.stream);
  cuda::check(cudaStreamSynchronize(setting.stream), "an update");
  const std::vector<float> found = download(arrays.values, checked_count);
  double error = 0;
  for (std::size_t i = 0; i < checked_count; ++i) {
    adapt(adam(), scalars_of(adam(), 3), gradient[i], mean[i], square[i], values[i]);
    const double apart = std::abs(double{values[i]} - double{found[i]});
    error = apart <= error ? error : apart;  // NaN counts as an error
  }
  return error;
}

void measure(const bench::Setting& setting, bench::Table& table) {
  for (bool rounded : {false, true}) {
    const double error = error_of_an_update(setting, rounded);
    bench::require(error < 1e-6, "An update is off by " + std::to_string(error) + ".");
  }
  const Arrays memory(count);
  const bench::AdamArrays plain = memory.arrays(false), rounded = memory.arrays(true);
  const auto update = [&](const bench::AdamArrays& arrays, double bytes) {
    const double seconds = bench::seconds_of(
        setting.stream, [&] { bench::queue_adam(adam(), arrays, setting.stream); });
    return bytes * static_cast<double>(count) / seconds;
  };
  const auto copy = [&] {
    const double seconds = bench::seconds_of(setting.stream, [&] {
      cuda::check(cudaMemcpyAsync(plain.mean, plain.gradient, count * sizeof(float),
                                  cudaMemcpyDeviceToDevice, setting.stream),
                  "copying within the GPU");
    });
    return 8.0 * static_cast<double>(count) / seconds;
  };
  copy();
  const auto values = bench::in_turn(setting.rounds, {copy, [&] { return update(plain, 28); },
                                                      [&] { return update(rounded, 30); }});
  table.add("copy within the GPU", "B/s", values[0]);
  table.add("Adam", "B/s", values[1]);
  table.add("Adam, rounded copy kept", "B/s", values[2]);
  table.add("Adam / copy", "x", bench::ratios(values[1], values[0]), {.least = 0.85});
  table.add("Adam, rounded copy kept / copy", "x", bench::ratios(values[2], values[0]),
            {.least = 0.85});
}

}  // namespace

int main(int words_count, char** words) {
  return bench::run(words_count, words, "cuda_update", measure);
}
