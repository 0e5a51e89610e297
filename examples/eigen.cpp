// SPDX-License-Identifier: Apache-2.0
// Batches for another library, without a copy: Eigen fits a line to what a loader gives.
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>

#include "feedrate/dlpack.hpp"
#include "feedrate/loader.hpp"

namespace {

constexpr std::size_t features = 8;

/// Sample i has random features; its target is their sum with weights 1, 2, 3, ..., and some noise.
struct Noisy {
  std::size_t size() const { return 20'000; }
  feedrate::Layout layout() const {
    return {{"x", feedrate::DType::f32, {features}}, {"y", feedrate::DType::f32, {}}};
  }
  void load(std::size_t, const feedrate::Sample& sample, feedrate::Random& random) const {
    float sum = 0;
    for (std::size_t j = 0; j < features; ++j) {
      const float x = random.uniform(-1, 1);
      sample.get<float>("x")[j] = x;
      sum += static_cast<float>(j + 1) * x;
    }
    sample.scalar<float>("y") = sum + random.uniform(-0.1f, 0.1f);
  }
};

using Rows = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, features, Eigen::RowMajor>>;

/// Whatever takes DLPack gets a batch so: it reads the tensor, and calls the deleter when it is
/// done.
double mean_of_targets(feedrate::dlpack::ManagedTensor* managed) {
  const feedrate::TensorView view = feedrate::from_dlpack(*managed);
  const Eigen::Map<const Eigen::VectorXf> targets(view.as<float>().data(),
                                                  managed->tensor.shape[0]);
  const double mean = targets.mean();
  managed->deleter(managed);
  return mean;
}

}  // namespace

int main() {
  feedrate::Loader loader(Noisy{}, {.batch = 100, .workers = 2, .epochs = 1});
  Eigen::Matrix<float, features, 1> weights = Eigen::Matrix<float, features, 1>::Zero();
  double mean = 0;
  while (auto batch = loader.next()) {
    const auto count = static_cast<Eigen::Index>(batch->count());
    const Rows x(batch->get<float>("x").data(), count, features);
    const Eigen::Map<const Eigen::VectorXf> y(batch->get<float>("y").data(), count);
    weights += 1.5f / static_cast<float>(count) * x.transpose() * (y - x * weights);
    mean += mean_of_targets(feedrate::to_dlpack(std::move(*batch), "y")) / 200;
  }
  std::printf("mean target %.2f, weights", mean);
  for (std::size_t j = 0; j < features; ++j)
    std::printf(" %.1f", static_cast<double>(weights[static_cast<Eigen::Index>(j)]));
  std::printf("\n");
}
