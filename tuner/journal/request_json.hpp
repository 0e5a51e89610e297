// SPDX-License-Identifier: Apache-2.0
// Questions to a measurer and its answers as JSON, for other processes and for the journal.
#pragma once

#include <array>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "feedrate/measure/measurer.hpp"
#include "feedrate/measure/trial_error.hpp"
#include "feedrate/report/json/from_json.hpp"
#include "feedrate/report/json/machine_from_json.hpp"
#include "feedrate/report/json/trial_json.hpp"
#include "process/refusals.hpp"

namespace feedrate {

inline constexpr std::array<std::string_view, 6> fault_names = {
    "usage", "data", "device", "trials", "interrupted", "internal"};

/// {"ask": "run", ...}; the pointers among the options are left out.
inline Json question_of(const Request& request) {
  const RoundOptions& options = request.options;
  return {{"ask", "run"},
          {"part", name_of(request.part)},
          {"variant", name_of(request.variant)},
          {"config", to_json(request.config)},
          {"seconds", options.seconds},
          {"min_batches", options.min_batches},
          {"max_batches", options.max_batches}};
}

/// {"ask": what, "config": ...}: memory_bytes, device_memory_bytes and epoch_boundary_s.
inline Json question_of(std::string_view what, const Config& config) {
  return {{"ask", what}, {"config", to_json(config)}};
}

inline void from_json(const Json& json, Request& request) {
  request.part = static_cast<Part>(detail::index_of(part_names, json.at("part")));
  request.variant = static_cast<Variant>(detail::index_of(variant_names, json.at("variant")));
  detail::read(json, "config", request.config);
  detail::read(json, "seconds", request.options.seconds);
  detail::read(json, "min_batches", request.options.min_batches);
  detail::read(json, "max_batches", request.options.max_batches);
}

inline Json to_json(const Skip& skip) {
  return {{"sample", skip.sample}, {"name", skip.name}, {"reason", skip.reason}};
}

/// {"failed": {...}}. What is no Error of ours is nobody's fault but the program's.
inline Json failure_of(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  const auto* trial = dynamic_cast<const TrialError*>(&error);
  const Fault fault = ours ? ours->fault() : Fault::internal;
  Json json = {{"fault", fault_names[static_cast<std::size_t>(fault)]},
               {"sentence", sentence_of(error)}};
  if (trial) json["stderr_tail"] = trial->stderr_tail();
  if (is_out_of_memory(error)) json["out_of_memory"] = true;
  if (dynamic_cast<const DeviceLost*>(&error)) json["device_lost"] = true;
  return {{"failed", json}};
}

/// Throws what `failure_of` was made from: a TrialError.
[[noreturn]] inline void throw_failure(const Json& json) {
  const auto fault = static_cast<Fault>(detail::index_of(fault_names, json.at("fault")));
  throw TrialError(fault, json.at("sentence").get<std::string>(), json.value("stderr_tail", ""),
                   json.value("out_of_memory", false));
}

/// {"gpu_state": ...}; null where there is no GPU.
inline Json answer_of(const std::optional<GpuState>& gpu) {
  return {{"gpu_state", gpu ? to_json(*gpu) : Json(nullptr)}};
}

/// What `answer_of` was made from; throws what was thrown instead.
inline std::optional<GpuState> gpu_state_of(const Json& answer) {
  if (answer.contains("failed")) throw_failure(answer.at("failed"));
  std::optional<GpuState> gpu;
  detail::read(answer, "gpu_state", gpu);
  return gpu;
}

/// What `measurer` answers to a question: {"round": ...}, {"seconds": ...}, {"bytes": ...} or
/// {"copies": ...}. Throws what it throws, Error(data) on a question that is none. A round gets the
/// pointers of `live`.
inline Json answer_of(Measurer& measurer, const Json& question, const RoundOptions& live) {
  const auto ask = question.at("ask").get<std::string>();
  if (ask == "copies") return {{"copies", measurer.copies()}};
  if (ask == "gpu_state") return answer_of(measurer.gpu_state());
  if (ask == "run") {
    auto request = question.get<Request>();
    request.options.abort = live.abort;
    request.options.progress = live.progress;
    request.options.joules = live.joules;
    return {{"round", to_json(measurer.run(request))}};
  }
  const auto config = question.at("config").get<Config>();
  if (ask == "epoch_boundary_s") return {{"seconds", measurer.epoch_boundary_s(config)}};
  if (ask == "memory_bytes") return {{"bytes", measurer.memory_bytes(config)}};
  if (ask == "device_memory_bytes") return {{"bytes", measurer.device_memory_bytes(config)}};
  throw Error(Fault::data, "Nobody can answer '" + ask + "' here.");
}

/// An answer as it was, or what was thrown instead.
template <class T>
T answered(const Json& answer, const char* key) {
  if (answer.contains("failed")) throw_failure(answer.at("failed"));
  T value{};
  detail::read(answer, key, value);
  return value;
}

}  // namespace feedrate
