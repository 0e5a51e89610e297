// SPDX-License-Identifier: Apache-2.0
#include "workload/workloads.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <system_error>
#include <utility>

#include "feedrate/data/folder_listing.hpp"
#include "feedrate/data/image/decoded_images.hpp"
#include "feedrate/data/image/image_folder.hpp"
#include "feedrate/data/in_memory.hpp"
#include "feedrate/data/npy.hpp"
#include "feedrate/data/texture/textures.hpp"
#include "feedrate/load/subset.hpp"
#include "feedrate/machine/cache_folder.hpp"
#include "feedrate/machine/energy.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/measure/load_parts.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/train/cost.hpp"
#include "feedrate/train/cpu/make_step.hpp"
#include "feedrate/train/emulated.hpp"
#include "feedrate/train/zoo.hpp"
#include "workload/cuda_device.hpp"

namespace feedrate {
namespace {

OptimizerSpec accumulating(OptimizerSpec optimizer, const Config& config) {
  optimizer.accumulate = config.accumulate;
  return optimizer;
}

/// Makes cpu steps of a model that read `field` and "label" of a batch.
std::function<TrainStep(const Config&)> steps_of(ModelSpec model, OptimizerSpec optimizer,
                                                 std::string field, std::uint64_t seed) {
  return [=](const Config& config) -> TrainStep {
    const std::shared_ptr<AnyStep> step =
        make_step(model, accumulating(optimizer, config), config.precision,
                  static_cast<std::size_t>(config.batch), config.step_threads, seed);
    return [step, field](const Batch& batch) {
      step->run(batch.tensor(field), batch.get<std::int32_t>("label"));
    };
  };
}

/// Says what such steps take, without making them.
std::function<std::size_t(const Config&)> step_bytes_of(ModelSpec model, OptimizerSpec optimizer) {
  return [=](const Config& config) {
    return step_bytes(model, accumulating(optimizer, config), config.precision,
                      static_cast<std::size_t>(config.batch), config.step_threads);
  };
}

/// "14 layers, 415,306 parameters".
std::string describe_model(const ModelSpec& model) {
  const ModelCost cost = cost_of(model);
  return std::to_string(model.layers.size()) +
         (model.layers.size() == 1 ? " layer, " : " layers, ") + format_count(cost.parameters) +
         " parameters";
}

/// Samples that lie in memory as they are need neither decoding nor augmentation.
std::shared_ptr<const Source> no_variant(Variant variant) {
  throw Error(Fault::usage, variant == Variant::decoded ? "these samples need no decoding"
                                                        : "these samples are not augmented");
}

PreparedWorkload assemble(std::string name, std::shared_ptr<const Source> source,
                          const ModelSpec& model, const OptimizerSpec& optimizer,
                          const std::string& field, std::uint64_t seed) {
  PreparedWorkload prepared;
  prepared.workload.name = name;
  prepared.workload.make_step = steps_of(model, optimizer, field, seed);
  prepared.workload.step_bytes = step_bytes_of(model, optimizer);
  prepared.workload.variant = no_variant;
  prepared.workload.flops_per_sample = cost_of(model).step_flops;
  prepared.model = model;
  prepared.optimizer = optimizer;
  prepared.workload.order.seed = seed;
  prepared.info.name = std::move(name);
  prepared.info.field = field;
  prepared.info.model = describe_model(model);
  prepared.info.flops_per_sample = prepared.workload.flops_per_sample;
  prepared.info.samples = source->size();
  for (const Field& part : source->layout()) {
    prepared.info.sample_bytes += part.bytes();
    if (part.name == field) prepared.info.pixels = part.dtype == DType::u8;
  }
  if (prepared.info.pixels) prepared.workload.pixels = field;
  prepared.workload.source = std::move(source);
  return prepared;
}

/// Uniform noise in [0, 1), brighter where the feature's index matches the label: learnable.
/// Source of the generator: splitmix64, Steele, Lea, Flood, OOPSLA 2014.
template <class T>
void fill(InMemory& table, std::string_view field, std::int32_t classes,
          const WorkloadRequest& request) {
  const std::span<std::int32_t> labels = table.column<std::int32_t>("label");
  const std::span<T> values = table.column<T>(field);
  const std::size_t features = values.size() / labels.size();
  constexpr float scale = std::is_same_v<T, float> ? 1.0f : 255.0f;
  std::uint64_t state = request.seed + 1;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    labels[i] = static_cast<std::int32_t>(i) % classes;
    const auto bright = static_cast<std::size_t>(labels[i]);
    for (std::size_t j = 0; j < features; ++j) {
      std::uint64_t x = state += 0x9E3779B97F4A7C15u;
      x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
      const float noise = static_cast<float>(x >> 40) * 0x1p-24f;
      const bool match = j % static_cast<std::size_t>(classes) == bright;
      values[i * features + j] = static_cast<T>(scale * (match ? 0.5f + noise / 2 : noise / 2));
    }
    request.alive();
  }
}

/// A table in memory for a model of the zoo.
template <class T>
InMemory make_table(std::size_t samples, const ModelSpec& model, std::int32_t classes,
                    const WorkloadRequest& request) {
  request.say("Making " + std::to_string(samples) + " samples in memory.");
  InMemory table(samples, {{"input", dtype_of<T>(), model.input}, {"label", DType::i32, {}}});
  fill<T>(table, "input", classes, request);
  return table;
}

/// A table that two sources share.
struct SharedTable {
  std::shared_ptr<const InMemory> table;

  std::size_t size() const { return table->size(); }
  const Layout& layout() const { return table->layout(); }
  void load(std::size_t i, const Sample& sample, Random& random) const {
    table->load(i, sample, random);
  }
};

PreparedWorkload make_tabular(const WorkloadRequest& request) {
  const ModelSpec model = zoo::tabular();
  const SharedTable table{
      std::make_shared<const InMemory>(make_table<float>(50'000, model, 2, request))};
  auto source = make_source(DelayedDataset(table, request.cost, request.sample_cost_s));
  auto prepared = assemble("tabular", source, model, adam(), "input", request.seed);
  prepared.workload.variant = [table](Variant variant) {
    return variant == Variant::decoded ? make_source(table) : no_variant(variant);
  };
  prepared.info.dataset = "50,000 x 2048 floats in memory, each sample " +
                          format_duration(request.sample_cost_s) + " of " +
                          (request.cost == Cost::cpu ? "computing" : "waiting");
  return prepared;
}

PreparedWorkload make_wide_linear(const WorkloadRequest& request) {
  const ModelSpec model = zoo::wide_linear();
  auto source = make_source(make_table<float>(5'000, model, 100, request));
  auto prepared = assemble("wide-linear", source, model, sgd(0.01f), "input", request.seed);
  prepared.info.dataset = "5,000 x 10,000 floats in memory";
  return prepared;
}

PreparedWorkload make_small_images(const WorkloadRequest& request) {
  const ModelSpec model = zoo::small_images();
  auto source = make_source(make_table<std::uint8_t>(60'000, model, 10, request));
  auto prepared = assemble("small-images", source, model, adam(), "input", request.seed);
  prepared.info.dataset = "60,000 grey images of 28x28 bytes in memory";
  return prepared;
}

PreparedWorkload make_in_memory(const WorkloadRequest& request) {
  const ModelSpec model = zoo::in_memory();
  auto source = make_source(make_table<float>(10'000, model, 10, request));
  auto prepared = assemble("in-memory", source, model, sgd(0.01f), "input", request.seed);
  prepared.info.dataset = "10,000 x 100 x 100 floats in memory";
  return prepared;
}

/// What loading a picture costs; empty where none can be read.
std::optional<LoadCosts> load_costs(const ImageFolder& folder) {
  const LoadCosts costs = time_load_parts(folder);
  return costs.decode_s > 0 ? std::optional(costs) : std::nullopt;
}

/// The pictures without one of their costs. Some are decoded beforehand: a part of the folder that
/// is bounded in memory, and thereby in time.
std::shared_ptr<const Source> image_variant(const std::shared_ptr<const ImageFolder>& folder,
                                            const std::string& path, int threads, Variant variant) {
  if (variant == Variant::decoded) {
    const std::size_t most = std::size_t{512} << 20;
    const std::size_t share = read_limits().memory.free_bytes / 8;
    return make_source(std::make_shared<const DecodedImages>(
        folder, DecodedOptions{.bytes = std::min(most, share), .threads = threads}));
  }
  ImageOptions options = folder->options();
  options.transform = Transform::none;
  return make_source(std::make_shared<const ImageFolder>(path, options));
}

PreparedWorkload on_images(const std::string& name, const std::string& path,
                           const WorkloadRequest& request) {
  ImageOptions options;
  options.format.order = ChannelOrder::nhwc;
  if (request.device.gpu)
    options.format.dtype = DType::u8;  // bytes travel, or workers convert them
  options.dct_scaling = request.dct_scaling;
  const auto folder = std::make_shared<const ImageFolder>(path, options);
  ModelSpec model = zoo::images();
  model.layers.back() = Linear{std::max<std::size_t>(folder->class_count(), 2)};
  auto prepared =
      assemble(name, make_source(folder), model, sgd(0.01f, 0.9f), "image", request.seed);
  prepared.info.dataset = std::to_string(folder->size()) + " JPEG files in " +
                          std::to_string(folder->class_count()) + " classes";
  prepared.info.path = path;
  prepared.workload.variant = [folder, path, threads = request.threads](Variant variant) {
    return image_variant(folder, path, threads, variant);
  };
  prepared.info.load = load_costs(*folder);
  return prepared;
}

/// The embedded set: made once in the cache folder, gone on with where it was interrupted.
PreparedWorkload make_images(const WorkloadRequest& request) {
  const CacheFolder cache = look_at_cache_folder();
  if (!cache.writable) {
    throw Error(Fault::usage, "The image set can't be kept in the cache folder '" + cache.path +
                                  "': " + cache.why_not +
                                  "; set XDG_CACHE_HOME to a folder that can be written.");
  }
  const std::string path = cache.path + "/images";
  std::stop_source stop;
  bool said = false;
  const auto progress = [&](int done, int wanted) {
    if (request.stop && request.stop->load(std::memory_order_relaxed)) stop.request_stop();
    if (!std::exchange(said, true)) {
      request.say("Making " + std::to_string(wanted) + " JPEG files once, in " + path + ".");
    }
    request.progress(done, wanted);
  };
  const TexturesMade made =
      make_textures(path, TextureSpec{}, request.threads, stop.get_token(), progress);
  if (!made.complete) throw Error(Fault::interrupted, "The run was interrupted.");
  return on_images("images", path, request);
}

std::int32_t class_count(const NpyFile& file) {
  std::int32_t most = 1;
  for (std::size_t i = 0; i < file.size(); ++i) most = std::max(most, file.label(i));
  return most + 1;
}

PreparedWorkload on_npy(const WorkloadRequest& request) {
  const auto file = request.labels.empty()
                        ? std::make_shared<const NpyFile>(request.data)
                        : std::make_shared<const NpyFile>(request.data, request.labels);
  const Field input = file->layout()[0];
  if (input.dtype != DType::f32 && input.dtype != DType::u8) {
    throw Error(Fault::data, "'" + request.data + "' holds " + std::string(name_of(input.dtype)) +
                                 ", which a step doesn't read: save it as float32 or uint8.");
  }
  const auto classes = static_cast<std::size_t>(class_count(*file));
  const ModelSpec model{
      "perceptron", input.shape, {Flatten{}, Linear{128}, Relu{}, Linear{classes}}};
  auto prepared = assemble("npy", make_source(file), model, sgd(0.01f), "input", request.seed);
  prepared.info.dataset = std::to_string(file->size()) + " rows of " +
                          std::to_string(input.shape.elements()) + " " +
                          std::string(name_of(input.dtype)) + ", memory-mapped";
  prepared.info.path = request.data;
  return prepared;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw Error(Fault::data, "There is no folder or file '" + path + "': check --data.");
  }
  return S_ISDIR(status.st_mode);
}

PreparedWorkload on_data(const WorkloadRequest& request) {
  auto prepared =
      is_folder(request.data) ? on_images("folder", request.data, request) : on_npy(request);
  prepared.info.kind = "data";
  prepared.batches = {16, 32, 64};
  return prepared;
}

/// Whether one of the first files is an image; listing them all takes long where there are
/// millions.
bool may_hold_images(const std::string& folder) {
  constexpr int most = 10'000;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(
      folder, std::filesystem::directory_options::skip_permission_denied, error);
  for (int seen = 0; !error && at != end(at); at.increment(error)) {
    if (++seen > most || detail::has_jpeg_name(at->path().filename().string())) return true;
  }
  return static_cast<bool>(error);
}

PreparedWorkload (*maker_of(std::string_view name))(const WorkloadRequest&) {
  constexpr std::pair<std::string_view, PreparedWorkload (*)(const WorkloadRequest&)> makers[] = {
      {"images", make_images},
      {"tabular", make_tabular},
      {"wide-linear", make_wide_linear},
      {"small-images", make_small_images},
      {"in-memory", make_in_memory}};
  for (const auto& [known, make] : makers) {
    if (known == name) return make;
  }
  throw Error(Fault::usage,
              "There is no workload '" + std::string(name) + "': 'autotune workloads' lists them.");
}

/// Steps that take the accelerator's time and do nothing.
void emulate(PreparedWorkload& prepared, const Accelerator& accelerator) {
  Workload& workload = prepared.workload;
  workload.make_step = [accelerator](const Config&) -> TrainStep {
    const auto step = std::make_shared<EmulatedStep<>>(accelerator.step_s, accelerator.batch);
    return [step](const Batch& batch) { step->run(batch.count()); };
  };
  workload.step_bytes = {};
  workload.flops_per_sample = prepared.info.flops_per_sample = 0;
  prepared.info.model = "emulated " + accelerator.name + ", " +
                        format_duration(accelerator.step_s) + " for " +
                        std::to_string(accelerator.batch) + " samples";
  prepared.batches = {accelerator.batch};
}

/// Steps on a GPU, which has memory of its own.
void train_on(const ChosenGpu& gpu, PreparedWorkload& prepared, const WorkloadRequest& request) {
  const std::string& uuid = gpu.facts.uuid;
  Workload& workload = prepared.workload;
  if (!request.known) {
    prepared.info.device_free_bytes = gpu_free_bytes(uuid);
    request.say("Measuring what the GPU can do at best.");
    prepared.info.gpu_ceilings = measure_gpu(uuid);
    request.alive();
  }
  workload.device = train_on_gpu(
      {uuid, prepared.model, prepared.optimizer, prepared.info.field, workload.order.seed});
  prepared.info.largest_batch = std::min(workload.device->largest_batch(), std::size_t{most_batch});
  if (auto gauges = gpu_gauges(uuid); gauges.look) {
    workload.gpu = std::make_shared<GpuSampler>(std::move(gauges));
  }
  if (auto gauges = gpu_gauges(uuid, true); gauges.look) workload.gpu_state = gauges.look;
  workload.make_step = {};
  workload.step_bytes = {};
}

PreparedWorkload built_in(const WorkloadRequest& request) {
  auto prepared = maker_of(request.name)(request);
  prepared.info.kind = "builtin";
  for (const BuiltIn& known : built_in_workloads()) {
    if (known.name == request.name) prepared.batches = known.batches;
  }
  return prepared;
}

}  // namespace

const std::vector<BuiltIn>& built_in_workloads() {
  static const std::vector<BuiltIn> all = {
      {"images",
       "2,000 JPEG files of 500x375, random-resized-crop to 224, a CNN of 10 classes",
       {16, 32, 64}},
      {"tabular",
       "50,000 x 2048 floats, each sample costs --sample-cost; Linear to 2 classes, Adam",
       {32, 128, 512}},
      {"wide-linear",
       "5,000 x 10,000 floats, Linear to 100 classes",
       {16, 32, 64, 128, 256, 512, 1024}},
      {"small-images",
       "60,000 images of 28x28x1, the classic CNN of three convolutions",
       {32, 64, 128, 256}},
      {"in-memory", "10,000 x 100 x 100 floats, two linear layers", {32, 64, 128, 256}}};
  return all;
}

void check_workload(const std::string& name) {
  static_cast<void>(maker_of(name));
}

void check_data(const std::string& data, const std::string& labels) {
  const bool folder = is_folder(data);
  if (!folder && !data.ends_with(".npy")) {
    throw Error(Fault::data,
                "'" + data + "' is neither a folder nor a .npy file: give --data one of those.");
  }
  if (folder && !labels.empty()) {
    throw Error(Fault::usage,
                "--labels goes with a .npy file; the labels of images are their class folders.");
  }
  if (folder && !may_hold_images(data)) list_image_folder(data);  // which says what is missing
}

PreparedWorkload prepare_workload(const WorkloadRequest& request) {
  auto prepared = request.data.empty() ? built_in(request) : on_data(request);
  const TrainingDevice& device = request.device;
  if (device.accelerator) {
    emulate(prepared, *device.accelerator);
  } else {
    const EnergyMeter meter = device.gpu ? gpu_energy(device.gpu->facts.uuid) : cpu_energy();
    prepared.workload.joules = meter.joules;
  }
  if (device.gpu) train_on(*device.gpu, prepared, request);
  return prepared;
}

void limit_variants(Workload& workload, std::size_t samples, std::uint64_t seed) {
  if (!workload.variant) return;
  workload.variant = [whole = workload.variant, samples, seed](Variant variant) {
    auto source = whole(variant);
    if (samples >= source->size()) return source;
    return std::shared_ptr<const Source>(std::make_shared<Subset>(source, samples, seed));
  };
}

}  // namespace feedrate
