// SPDX-License-Identifier: Apache-2.0
#include "script/greeting.hpp"

#include "feedrate/report/json/script_json.hpp"

namespace feedrate {
namespace {

ScriptLoader loader_of(const Json& json) {
  ScriptLoader loader;
  from_json(json, loader);
  return loader;
}

/// The settings that the hook tells; a script has none of those of the built-in steps.
Config config_of(const Json& told) {
  Json json = to_json(Config{});
  json.update(told);
  return json.get<Config>();
}

}  // namespace

Script script_of(const Json& greeting, double start_s) {
  Script script;
  script.config = config_of(greeting.at("config"));
  script.loader = loader_of(greeting.at("loader"));
  for (const Json& other : greeting.at("others")) script.others.push_back(loader_of(other));
  detail::read_all(greeting, "iterable", script.iterable, "persistent", script.persistent,
                   "batch_fixed", script.batch_fixed, "start_fixed", script.start_fixed,
                   "prefetch_fixed", script.prefetch_fixed, "start_method", script.start_method,
                   "start_method_fixed", script.start_method_fixed, "not_importable",
                   script.not_importable, "batches", script.batches, "device", script.device, "gpu",
                   script.gpu, "torch", script.torch, "python", script.python, "world",
                   script.world, "waits_at_exit", script.waits_at_exit);
  if (const Json& copies = greeting.at("copies"); !copies.is_null()) {
    detail::read_all(copies, "copies", script.copies, "non_blocking", script.non_blocking);
  }
  script.start_s = start_s;
  return script;
}

}  // namespace feedrate
