// SPDX-License-Identifier: Apache-2.0
#include "trials/trial_order.hpp"

#include "feedrate/report/json/from_json.hpp"

namespace feedrate {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json data_json(const DataRequest& data) {
  return {{"path", data.path},
          {"labels", data.labels},
          {"workload", or_null(data.workload)},
          {"cost", or_null(data.cost)},
          {"sample_cost_s", or_null(data.sample_cost_s)},
          {"cache", data.cache},
          {"max_skips", data.max_skips},
          {"dct_scaling", data.dct_scaling}};
}

DataRequest data_of(const Json& json) {
  DataRequest data;
  detail::read_all(json, "path", data.path, "labels", data.labels, "workload", data.workload,
                   "cost", data.cost, "sample_cost_s", data.sample_cost_s, "cache", data.cache,
                   "max_skips", data.max_skips, "dct_scaling", data.dct_scaling);
  return data;
}

/// What a step on that device needs to be told: the parent has chosen it.
Json device_json(const TrainingDevice& device) {
  if (const auto& emulated = device.accelerator) {
    return {{"name", emulated->name}, {"step_s", emulated->step_s}, {"batch", emulated->batch}};
  }
  if (!device.gpu) return nullptr;
  return {{"index", device.gpu->index}, {"uuid", device.gpu->facts.uuid}};
}

TrainingDevice device_of(const Json& json) {
  TrainingDevice device;
  if (json.contains("uuid")) {
    device.gpu.emplace();
    detail::read_all(json, "index", device.gpu->index, "uuid", device.gpu->facts.uuid);
  } else if (json.contains("step_s")) {
    device.accelerator.emplace();
    detail::read_all(json, "name", device.accelerator->name, "step_s", device.accelerator->step_s,
                     "batch", device.accelerator->batch);
  }
  return device;
}

}  // namespace

Json to_json(const TrialOrder& order) {
  return {{"data", data_json(order.data)},
          {"device", device_json(order.device)},
          {"seed", order.seed},
          {"cached_samples", order.cached_samples}};
}

void from_json(const Json& json, TrialOrder& order) {
  order.data = data_of(json.at("data"));
  order.device = device_of(json.at("device"));
  detail::read_all(json, "seed", order.seed, "cached_samples", order.cached_samples);
}

}  // namespace feedrate
