// SPDX-License-Identifier: Apache-2.0
// The user's script as JSON, and back.
#pragma once

#include "feedrate/report/json/choice_json.hpp"
#include "feedrate/report/json/from_json.hpp"
#include "feedrate/report/script.hpp"

namespace feedrate::inline v0 {

inline Json to_json(const ScriptLoader& loader) {
  return {{"index", loader.index},      {"name", detail::or_null(loader.name)},
          {"class", loader.class_name}, {"file", detail::or_null(loader.file)},
          {"line", loader.line},        {"why", detail::or_null(loader.why)}};
}

inline void from_json(const Json& json, ScriptLoader& loader) {
  detail::read_all(json, "index", loader.index, "name", loader.name, "class", loader.class_name,
                   "file", loader.file, "line", loader.line);
  if (json.contains("why")) detail::read(json, "why", loader.why);
}

inline Json to_json(const Script& script) {
  return {{"loader", to_json(script.loader)},
          {"others",
           detail::json_array(script.others,
                              [](const ScriptLoader& loader) -> Json { return to_json(loader); })},
          {"config", to_json(script.config)},
          {"persistent", script.persistent},
          {"iterable", script.iterable},
          {"batch_fixed", detail::or_null(script.batch_fixed)},
          {"start_fixed", detail::or_null(script.start_fixed)},
          {"prefetch_fixed", detail::or_null(script.prefetch_fixed)},
          {"start_method", detail::or_null(script.start_method)},
          {"start_method_fixed", detail::or_null(script.start_method_fixed)},
          {"not_importable", detail::or_null(script.not_importable)},
          {"batches", script.batches},
          {"device", script.device},
          {"gpu", detail::or_null(script.gpu)},
          {"torch", script.torch},
          {"python", script.python},
          {"world", script.world},
          {"copies", script.copies},
          {"non_blocking", script.non_blocking},
          {"batches_per_update", detail::positive_or_null(script.batches_per_update)},
          {"other_loader", detail::or_null(script.other_loader)},
          {"other_share", script.other_share},
          {"waits_at_exit", script.waits_at_exit},
          {"start_s", script.start_s}};
}

inline void from_json(const Json& json, Script& script) {
  detail::read_all(json, "loader", script.loader, "others", script.others, "persistent",
                   script.persistent, "batch_fixed", script.batch_fixed, "batches", script.batches,
                   "device", script.device, "gpu", script.gpu, "torch", script.torch, "python",
                   script.python, "world", script.world);
  detail::read_all(json, "copies", script.copies, "non_blocking", script.non_blocking, "start_s",
                   script.start_s);
  detail::read_older_config(json, "config", script.config);
  detail::read_if_told(json, "iterable", script.iterable);
  detail::read_if_told(json, "start_fixed", script.start_fixed);
  detail::read_if_told(json, "prefetch_fixed", script.prefetch_fixed);
  detail::read_if_told(json, "start_method", script.start_method);
  detail::read_if_told(json, "start_method_fixed", script.start_method_fixed);
  detail::read_if_told(json, "not_importable", script.not_importable);
  detail::read_if_told(json, "batches_per_update", script.batches_per_update);
  detail::read_if_told(json, "other_loader", script.other_loader);
  detail::read_if_told(json, "other_share", script.other_share);
  detail::read_if_told(json, "waits_at_exit", script.waits_at_exit);
}

inline Json to_json(const Confirmation& confirmation) {
  if (!confirmation.failure.empty()) {
    return {{"config", to_json(confirmation.config)}, {"failure", confirmation.failure}};
  }
  const auto of_pairs = [&](Json value) { return confirmation.pairs > 0 ? value : Json(nullptr); };
  return {
      {"config", to_json(confirmation.config)},
      {"speedup", of_pairs(to_json(confirmation.speedup))},
      {"verdict", of_pairs(name_of(confirmation.verdict()))},
      {"pairs", confirmation.pairs},
      {"as_is_samples_per_s", confirmation.as_is_samples_per_s},
      {"recommended_samples_per_s", of_pairs(confirmation.recommended_samples_per_s)},
      {"as_is_first_batch_s", confirmation.as_is_first_batch_s},
      {"recommended_first_batch_s", of_pairs(confirmation.recommended_first_batch_s)},
      {"as_is_nvml_busy", detail::or_null_below_0(confirmation.as_is_gpu.nvml_busy)},
      {"recommended_nvml_busy", detail::or_null_below_0(confirmation.recommended_gpu.nvml_busy)},
      {"as_is_gpm", to_json(confirmation.as_is_gpu.gpm)},
      {"recommended_gpm", to_json(confirmation.recommended_gpu.gpm)},
      {"as_is_device_bytes", detail::positive_or_null(confirmation.as_is_gpu.memory_bytes)},
      {"recommended_device_bytes",
       detail::positive_or_null(confirmation.recommended_gpu.memory_bytes)},
      {"outside_share", detail::or_null_below_0(confirmation.outside_share)},
      {"failure", nullptr}};
}

}  // namespace feedrate::inline v0
