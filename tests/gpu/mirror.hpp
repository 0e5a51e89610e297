// SPDX-License-Identifier: Apache-2.0
// Arrays that lie on the host and on the GPU, so that one body can run on both.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/stream.hpp"

namespace feedrate::test {

/// The same elements in both memories.
template <class T>
class Mirror {
 public:
  Mirror(std::vector<T> elements, const cuda::Stream& stream)
      : stream_(stream), host_(std::move(elements)), device_(host_.size() * sizeof(T)) {
    copy(device_.data(), host_.data(), cudaMemcpyHostToDevice);
  }
  /// `count` elements that nothing has written yet: all bits are 1, which is NaN in float.
  Mirror(std::size_t count, const cuda::Stream& stream) : Mirror(poison(count), stream) {}

  T* at(bool gpu) { return gpu ? reinterpret_cast<T*>(device_.data()) : host_.data(); }
  const std::vector<T>& host() const noexcept { return host_; }

  /// What the GPU has made of it; waits for that.
  std::vector<T> device() const {
    std::vector<T> elements(host_.size());
    stream_.synchronize();
    copy(elements.data(), device_.data(), cudaMemcpyDeviceToHost);
    return elements;
  }

 private:
  static std::vector<T> poison(std::size_t count) {
    std::vector<T> elements(count);
    std::memset(static_cast<void*>(elements.data()), 0xff, count * sizeof(T));
    return elements;
  }

  void copy(void* to, const void* from, cudaMemcpyKind kind) const {
    cuda::check(cudaMemcpyAsync(to, from, host_.size() * sizeof(T), kind, stream_.handle()),
                "copying an array");
    stream_.synchronize();
  }

  const cuda::Stream& stream_;
  std::vector<T> host_;
  cuda::DeviceMemory device_;
};

/// Uniform in [-1, 1).
template <class T>
std::vector<T> random_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed, 0, 0);
  std::vector<T> numbers(count);
  for (T& each : numbers) each = T(random.uniform(-1, 1));
  return numbers;
}

/// |a - b| / |b| in the Euclidean norm; NaN where an element is.
template <class T>
double distance_of(const std::vector<T>& a, const std::vector<T>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double x = static_cast<float>(a.at(i)), y = static_cast<float>(b[i]);
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

}  // namespace feedrate::test
