// SPDX-License-Identifier: Apache-2.0
// The claims: copies hide behind steps. E = (copy + step - both) / min(copy, step) is at least
// 0.97, and both together take at most 1.02 times the larger.
//
// A loader whose samples cost nothing feeds the CNN of `images` from pinned memory; the parts are
// timed alone and together, in turn, over the same number of batches.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/core/clock.hpp"
#include "feedrate/cuda/feed.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/cuda/train/step.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/train/zoo.hpp"
#include "gpu_bench.hpp"

using namespace feedrate;

namespace {

/// Pictures that lie in the slots already; only the label is written.
struct ReadyPictures {
  DType dtype;

  std::size_t size() const { return 1 << 20; }
  Layout layout() const { return {{"image", dtype, {224, 224, 3}}, {"label", DType::i32, {}}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    sample.scalar<std::int32_t>("label") = static_cast<std::int32_t>(i % 10);
  }
};

/// Random pictures for one batch, as bytes or as floats from 0 to 1.
std::vector<std::byte> pictures(const BatchLayout& layout) {
  const Field& field = layout.fields()[0];
  std::vector<std::byte> bytes(layout.batch() * field.bytes());
  Random random(1, 0, 0);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const float value = random.uniform();
    const std::uint32_t levels = random.next();
    std::memcpy(bytes.data() + i,
                field.dtype == DType::u8 ? static_cast<const void*>(&levels)
                                         : static_cast<const void*>(&value),
                4);
  }
  return bytes;
}

/// Loader, feed and step of one kind of pixels.
class Pipeline {
 public:
  Pipeline(DType dtype, std::size_t batch, cudaStream_t stream)
      : stream_(stream),
        layout_(ReadyPictures{dtype}.layout(), batch),
        pictures_(pictures(layout_)),
        loader_(ReadyPictures{dtype}, options(batch), slab()),
        feed_(loader_, stream),
        step_(cuda::make_cuda_step(zoo::images(), sgd(0.01f), Precision::bf16, batch, stream, 1,
                                   {.graph = true})) {
    check();
    both();
  }

  /// Seconds per batch, each.
  double copy() {
    return per_batch([&] { last_ = feed_.next(); });
  }
  double step() {
    return per_batch([&] { train(); });
  }
  double both() {
    return per_batch([&] {
      last_ = feed_.next();
      train();
    });
  }

 private:
  static constexpr int batches = 150;  // the first copy and the last step have nothing beside them

  static LoaderOptions options(std::size_t batch) {
    return {.batch = static_cast<int>(batch),
            .workers = 2,
            .prefetch = 4,
            .copies_in_flight = cuda::Feed::copies_in_flight()};
  }

  /// All slots hold the same pictures.
  Slab slab() const {
    const int slots = options(layout_.batch()).slots();
    Slab made = cuda::make_pinned_slab(layout_.bytes() * static_cast<std::size_t>(slots));
    bench::require(made.kind() == SlabKind::pinned, "Memory is " + made.reason() + ".");
    for (int slot = 0; slot < slots; ++slot) {
      std::memcpy(made.data() + static_cast<std::size_t>(slot) * layout_.bytes(), pictures_.data(),
                  pictures_.size());
    }
    return made;
  }

  void check() {
    for (int slot = 0; slot < 6; ++slot) {
      last_ = feed_.next();
      std::vector<std::byte> back(pictures_.size());
      cuda::check(
          cudaMemcpyAsync(back.data(), last_->data(), back.size(), cudaMemcpyDeviceToHost, stream_),
          "copying a batch back");
      cuda::check(cudaStreamSynchronize(stream_), "copying a batch back");
      bench::require(back == pictures_, "A batch arrived changed.");
      train();
    }
    const double loss = step_->loss();
    bench::require(std::isfinite(loss) && loss > 0, "The loss is " + std::to_string(loss) + ".");
  }

  void train() { step_->run(last_->tensor("image"), last_->get<std::int32_t>("label")); }

  double per_batch(const std::function<void()>& work) {
    const double start_s = SteadyClock{}.now_s();
    for (int i = 0; i < batches; ++i) work();
    feed_.settle();
    step_->synchronize();
    return (SteadyClock{}.now_s() - start_s) / batches;
  }

  cudaStream_t stream_;
  BatchLayout layout_;
  std::vector<std::byte> pictures_;
  Loader loader_;
  cuda::Feed feed_;
  std::unique_ptr<AnyStep> step_;
  std::optional<Batch> last_;
};

void overlap(const std::string& name, DType dtype, std::size_t batch, const bench::Setting& setting,
             bench::Table& table) {
  Pipeline pipeline(dtype, batch, setting.stream);
  const auto values = bench::in_turn(
      setting.rounds, {[&] { return pipeline.copy(); }, [&] { return pipeline.step(); },
                       [&] { return pipeline.both(); }});
  std::vector<double> hidden, over_larger;
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    const double copy = values[0][i], step = values[1][i], both = values[2][i];
    hidden.push_back((copy + step - both) / std::min(copy, step));
    over_larger.push_back(both / std::max(copy, step));
  }
  table.add(name + ": copy", "s", values[0]);
  table.add(name + ": step", "s", values[1]);
  table.add(name + ": both", "s", values[2]);
  table.add(name + ": E", "", hidden, {.least = 0.97});
  table.add(name + ": both / larger", "x", over_larger, {.most = 1.02});
}

}  // namespace

int main(int count, char** words) {
  return bench::run(count, words, "cuda_overlap",
                    [](const bench::Setting& setting, bench::Table& table) {
                      overlap("bytes, batch 256", DType::u8, 256, setting, table);
                      overlap("floats, batch 64", DType::f32, 64, setting, table);
                    });
}
