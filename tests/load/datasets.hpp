// SPDX-License-Identifier: Apache-2.0
// Datasets for the loader's tests: well-behaved ones and others.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "feedrate/load/loader.hpp"

namespace feedrate::testing {

/// Sample i is {i, a random number} with label i; `before(i)` may misbehave first.
struct Numbers {
  std::size_t samples = 100;
  std::function<void(std::size_t)> before = {};

  std::size_t size() const { return samples; }
  Layout layout() const { return {{"x", DType::f32, {2}}, {"label", DType::i32, {}}}; }
  void load(std::size_t i, const Sample& sample, Random& random) const {
    if (before) before(i);
    const auto x = sample.get<float>(0);
    x[0] = static_cast<float>(i);
    x[1] = random.uniform();
    sample.get<std::int32_t>(1)[0] = static_cast<std::int32_t>(i);
  }
  std::string name(std::size_t i) const { return "number-" + std::to_string(i); }
};

/// Lets threads wait until the test opens it.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    opened_.wait(lock, [&] { return open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  /// Returns when `n` threads have come to the gate.
  void await(int n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= n; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_, opened_;
  int waiting_ = 0;
  bool open_ = false;
};

/// Everything that an epoch delivers, in order.
struct Delivered {
  std::vector<float> x;
  std::vector<std::int32_t> labels;

  bool operator==(const Delivered&) const = default;
};

inline void append(Delivered& delivered, const Batch& batch) {
  const auto x = batch.get<float>("x");
  const auto labels = batch.get<std::int32_t>("label");
  delivered.x.insert(delivered.x.end(), x.begin(), x.end());
  delivered.labels.insert(delivered.labels.end(), labels.begin(), labels.end());
}

inline Delivered drain_epochs(Loader& loader, int epochs) {
  Delivered delivered;
  for (int e = 0; e < epochs; ++e) {
    for (const auto& batch : loader.epoch()) append(delivered, batch);
  }
  return delivered;
}

}  // namespace feedrate::testing
