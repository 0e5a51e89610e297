// SPDX-License-Identifier: Apache-2.0
#include "workload/assemble.hpp"

#include <functional>
#include <utility>

#include "feedrate/report/text/format.hpp"
#include "feedrate/train/cost.hpp"
#include "feedrate/train/cpu/make_step.hpp"
#include "workload/blas.hpp"

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
    open_blas(config.step_threads);
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

}  // namespace

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

}  // namespace feedrate
