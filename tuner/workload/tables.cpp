// SPDX-License-Identifier: Apache-2.0
#include "workload/tables.hpp"

#include <memory>
#include <span>
#include <type_traits>

#include "feedrate/data/in_memory.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/train/zoo.hpp"
#include "workload/assemble.hpp"

namespace feedrate {
namespace {

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

}  // namespace

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

}  // namespace feedrate
