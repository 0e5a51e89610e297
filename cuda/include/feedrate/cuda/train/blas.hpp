// SPDX-License-Identifier: Apache-2.0
// Matrix products on the GPU by cuBLASLt, with fused epilogues if possible.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "feedrate/cuda/check.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/train/blas_plan.hpp"
#include "feedrate/cuda/train/product.hpp"

namespace feedrate::inline v0::cuda {

/// Products on one stream, one at a time, with a workspace of their own: then they may be recorded
/// in a graph and give the same bits each time. Which of the library's algorithms is used for a
/// shape is measured once per process where `tune` is on; else the library's first guess is taken,
/// which needs no wait.
class Blas {
 public:
  /// What NVIDIA recommends for a Hopper GPU.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  /// `workspace` is device memory of `workspace_bytes`.
  Blas(cudaStream_t stream, std::byte* workspace) : stream_(stream), workspace_(workspace) {
    check(cudaGetDevice(&device_), "asking for the current GPU");
    bytes_per_s_ = memory_bytes_per_s(device_);
  }

  /// While on, a product that is seen for the first time is run several times and waited for.
  void tune(bool on) noexcept { tunes_ = on; }

  /// True where the library has an algorithm, with the product's epilogue.
  bool supports(const Product& product, const ProductMemory& memory) {
    return plan_of(product, memory).found();
  }

  /// True where a product with its epilogue is faster than without it and then a pass of its own
  /// over `bytes`. Also true for what was not measured.
  bool pays(const Product& fused, const ProductMemory& memory, double bytes) {
    if (!supports(fused, memory)) return false;
    Product plain = fused;
    plain.epilogue = Epilogue::none;
    const double with_s = plan_of(fused, memory).choice().seconds;
    const double without_s = plan_of(plain, memory).choice().seconds;
    if (with_s == 0 || without_s == 0) return true;
    constexpr double launch_s = 5e-6;
    return with_s <= without_s + bytes / bytes_per_s_ + launch_s;
  }

  /// Queues the product. Throws Error(device) where the library has no algorithm for it.
  void run(const Product& product, const ProductMemory& memory) {
    detail::BlasPlan& plan = plan_of(product, memory);
    if (!plan.found()) refuse(product);
    check(plan.run(plan.choice().algorithm, memory, workspace_, workspace_bytes, stream_),
          "queueing a matrix product");
  }

 private:
  using Key = detail::BlasKey;

  detail::BlasPlan& plan_of(const Product& product, const ProductMemory& memory) {
    const Key key = detail::key_of(product, memory, device_);
    const auto found = plans_.find(key);
    if (found != plans_.end()) return found->second;
    detail::BlasPlan plan(key);
    plan.choose(chosen(plan, key, memory));
    return plans_.emplace(key, std::move(plan)).first->second;
  }

  /// The process' choice for a shape; the first who needs it makes it.
  detail::Choice chosen(detail::BlasPlan& plan, const Key& key, const ProductMemory& memory) {
    static std::mutex mutex;
    static std::map<Key, detail::Choice> choices;
    const std::lock_guard lock(mutex);
    const auto known = choices.find(key);
    const bool enough = known != choices.end() && (known->second.seconds > 0 || !tunes_);
    if (enough) return known->second;
    const auto candidates = plan.candidates(memory, workspace_bytes);
    return choices[key] = tunes_ ? fastest(plan, candidates, memory) : detail::first(candidates);
  }

  /// The first of the candidates, unless another is at least 3 % faster: then noise in the
  /// measurement seldom changes which bits a step computes.
  detail::Choice fastest(detail::BlasPlan& plan, const detail::Candidates& candidates,
                         const ProductMemory& memory) {
    detail::Choice best = detail::first(candidates);
    for (int i = 0; i < candidates.count; ++i) {
      const double seconds = time(plan, candidates.results[i].algo, memory);
      const bool better = best.seconds == 0 || seconds < 0.97 * best.seconds;
      if (seconds > 0 && better) best = {candidates.results[i].algo, true, seconds};
    }
    return best;
  }

  /// Seconds of one product; 0 where it fails.
  double time(detail::BlasPlan& plan, const cublasLtMatmulAlgo_t& algorithm,
              const ProductMemory& memory) {
    constexpr int repeats = 5;
    const auto run = [&] {
      return plan.run(algorithm, memory, workspace_, workspace_bytes, stream_) ==
             CUBLAS_STATUS_SUCCESS;
    };
    if (!run() || !run()) return 0;
    Event start(Event::Kind::timed), end(Event::Kind::timed);
    start.record(stream_);
    for (int i = 0; i < repeats; ++i) run();
    end.record(stream_);
    wait_until([&] { return end.done(); }, 60, "a matrix product");
    return end.seconds_since(start) / repeats;
  }

  [[noreturn]] static void refuse(const Product& product) {
    throw Error(Fault::device, "cuBLAS has no algorithm for a product of " + text_of(product) +
                                   " on this GPU: choose another precision.");
  }

  cudaStream_t stream_;
  std::byte* workspace_;
  int device_ = 0;
  double bytes_per_s_ = 1;  ///< of the device's memory, at most
  bool tunes_ = false;
  std::map<Key, detail::BlasPlan> plans_;
};

}  // namespace feedrate::inline v0::cuda
