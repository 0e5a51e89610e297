// SPDX-License-Identifier: Apache-2.0
#include "workload/images.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "feedrate/data/image/decoded_images.hpp"
#include "feedrate/data/image/image_folder.hpp"
#include "feedrate/data/texture/textures.hpp"
#include "feedrate/machine/cache_folder.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/measure/load_parts.hpp"
#include "feedrate/train/zoo.hpp"
#include "workload/assemble.hpp"

namespace feedrate {
namespace {

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

}  // namespace

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

PreparedWorkload make_images(const WorkloadRequest& request) {
  const CacheFolder cache = look_at_cache_folder();
  if (!cache.writable) {
    throw Error(Fault::usage, "The image set can't be kept in the cache folder '" + cache.path +
                                  "': " + cache.why_not +
                                  "; set XDG_CACHE_HOME to a folder that can be written.");
  }
  const char* given = std::getenv("XDG_CACHE_HOME");
  if (given && *given && *given != '/') {
    request.say("XDG_CACHE_HOME is '" + std::string(given) +
                "', which is no absolute path and is ignored.");
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

}  // namespace feedrate
