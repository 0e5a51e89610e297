// SPDX-License-Identifier: Apache-2.0
#include "workload/cuda_device.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/pinned.hpp"
#include "feedrate/cuda/range.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/train/step.hpp"
#include "feedrate/cuda/upload.hpp"
#include "feedrate/measure/round.hpp"

namespace feedrate {
namespace {

constexpr double stall_s = 60;

/// Times the steps of one stream by events, and lets no more than some pile up.
class StepTimes {
 public:
  /// Queues `step()` between two marks.
  template <class Step>
  void run(cudaStream_t stream, Step&& step) {
    while (queued_ - ended_ >= most) wait_for_oldest();
    Marks& marks = marks_of(queued_);
    marks.start.record(stream);
    step();
    marks.end.record(stream);
    ++queued_;
  }

  /// Waits for all steps; what they took since the last call.
  DeviceWork take() {
    while (ended_ < queued_) wait_for_oldest();
    work_.variability = detail::variability(squares_, intervals_s_, work_.steps - 1);
    squares_ = intervals_s_ = 0;
    return std::exchange(work_, {});
  }

 private:
  struct Marks {
    cuda::Event start{cuda::Event::Kind::timed}, end{cuda::Event::Kind::timed};
  };

  /// Enough to keep the device busy while the host does something else for a moment. One more pair
  /// of marks, so that the end of the step before the oldest is still there.
  static constexpr std::uint64_t most = 8;

  Marks& marks_of(std::uint64_t step) { return marks_[step % marks_.size()]; }

  void wait_for_oldest() {
    Marks& marks = marks_of(ended_);
    cuda::wait_until([&] { return marks.end.done(); }, stall_s, "a training step");
    work_.step_s += marks.end.seconds_since(marks.start);
    if (work_.steps > 0) {
      const double interval_s = marks.end.seconds_since(marks_of(ended_ - 1).end);
      intervals_s_ += interval_s;
      squares_ += interval_s * interval_s;
    }
    ++work_.steps;
    ++ended_;
  }

  std::array<Marks, most + 1> marks_;
  std::uint64_t queued_ = 0, ended_ = 0;
  DeviceWork work_;
  double squares_ = 0, intervals_s_ = 0;
};

/// Steps that were made, one per precision, batch and kind of launch.
class GpuSteps {
 public:
  explicit GpuSteps(const GpuTraining& training) : training_(training) {}

  /// The step of a config.
  AnyStep& of(const Config& config, cudaStream_t stream) {
    const Key key{config.precision, config.graph, config.accumulate, config.batch};
    if (const auto found = made_.find(key); found != made_.end()) return *found->second.step;
    return *made_.emplace(key, Made{make(config, stream), bytes(config)}).first->second.step;
  }

  /// Gives the memory of all steps back.
  void clear() { made_.clear(); }

  std::size_t bytes(const Config& config) const {
    return cuda::cuda_step_bytes(training_.model, optimizer(config), config.precision,
                                 static_cast<std::size_t>(config.batch));
  }

  /// Bytes of all steps that were made.
  std::size_t held_bytes() const {
    std::size_t held = 0;
    for (const auto& [key, made] : made_) held += made.bytes;
    return held;
  }

  std::size_t largest_batch() const { return cuda::largest_cuda_batch(training_.model); }

 private:
  using Key = std::tuple<Precision, bool, int, int>;

  struct Made {
    std::unique_ptr<AnyStep> step;
    std::size_t bytes;
  };

  OptimizerSpec optimizer(const Config& config) const {
    OptimizerSpec optimizer = training_.optimizer;
    optimizer.accumulate = config.accumulate;
    return optimizer;
  }

  std::unique_ptr<AnyStep> make(const Config& config, cudaStream_t stream) const {
    return cuda::make_cuda_step(training_.model, optimizer(config), config.precision,
                                static_cast<std::size_t>(config.batch), stream, training_.seed,
                                {.graph = config.graph});
  }

  GpuTraining training_;
  std::map<Key, Made> made_;
};

class GpuTrainer final : public AsyncDevice {
 public:
  GpuTrainer(int index, const GpuTraining& training) : field_(training.field), steps_(training) {
    cuda::use_device(index);
    compute_.emplace();
    uploader_.emplace(compute_->handle(), feeding);
    times_.emplace();
  }

  Slab make_slab(std::size_t bytes, bool pinned) override {
    return pinned ? cuda::make_pinned_slab(bytes) : feedrate::make_slab(bytes, kind_for(bytes));
  }

  int copies_in_flight() const override { return cuda::Uploader::copies_in_flight(feeding); }

  /// Where the memory doesn't suffice beside what other configs have left, that goes: their steps,
  /// and slots of larger batches.
  void prepare(const Config& config, const BatchLayout& layout) override {
    step_ = nullptr;
    batch_.reset();
    try {
      make_ready(config, layout);
    } catch (const cuda::OutOfMemory&) {
      step_ = nullptr;
      steps_.clear();
      uploader_->release();
      make_ready(config, layout);
    }
  }

  std::optional<std::size_t> upload(Loader& loader) override {
    uploader_->make_room();
    auto lease = next_of(loader);
    if (!lease) return std::nullopt;
    const cuda::Range range(cuda::range_names::copy);
    batch_ = uploader_->upload(std::move(*lease));
    return batch_->count();
  }

  void upload(const Batch& batch) override {
    const cuda::Range range(cuda::range_names::copy);
    batch_ = uploader_->upload(batch);
  }

  void step() override {
    const cuda::Range range(cuda::range_names::step);
    times_->run(compute_->handle(),
                [this] { step_->run(batch_->tensor(field_), batch_->get<std::int32_t>("label")); });
  }

  DeviceWork finish() override {
    uploader_->settle();
    DeviceWork work = times_->take();
    compute_->synchronize(stall_s);
    work.copy_s = uploader_->take_copy_s();
    return work;
  }

  /// A wrong label is told here: it was seen on the device.
  std::uint64_t used_bytes() override {
    if (step_) step_->synchronize();
    const cuda::MemoryState memory = cuda::memory_state();
    const std::uint64_t used = memory.total_bytes - memory.free_bytes;
    const std::uint64_t held = steps_.held_bytes() + uploader_->bytes();
    return used - std::min(used, held - std::min(held, needed_));
  }

  std::size_t memory_bytes(const Config& config, const BatchLayout& layout) const override {
    return steps_.bytes(config) + feeding.slots * layout.bytes();
  }

  std::size_t largest_batch() const override { return steps_.largest_batch(); }

 private:
  static std::optional<Lease> next_of(Loader& loader) {
    const cuda::Range range(cuda::range_names::loader);
    return loader.next();
  }

  void make_ready(const Config& config, const BatchLayout& layout) {
    step_ = &steps_.of(config, compute_->handle());
    uploader_->reserve(layout.bytes());
    needed_ = memory_bytes(config, layout);
  }

  static constexpr cuda::FeedOptions feeding{.slots = 3, .stall_s = stall_s, .queue_s = stall_s};

  std::string field_;
  std::optional<cuda::Stream> compute_;
  GpuSteps steps_;
  std::optional<cuda::Uploader> uploader_;
  std::optional<StepTimes> times_;
  AnyStep* step_ = nullptr;
  std::uint64_t needed_ = 0;    ///< bytes, by the config of that step
  std::optional<Batch> batch_;  ///< on the device
};

}  // namespace

bool built_with_cuda() {
  return true;
}

std::shared_ptr<AsyncDevice> train_on_gpu(const GpuTraining& training) {
  return std::make_shared<GpuTrainer>(cuda::find_device(training.uuid).index, training);
}

std::uint64_t gpu_free_bytes(const std::string& uuid) {
  cuda::use_device(cuda::find_device(uuid).index);
  return cuda::memory_state().free_bytes;
}

}  // namespace feedrate
