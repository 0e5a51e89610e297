// SPDX-License-Identifier: Apache-2.0
// The first line of a journal: the identity of a run, and everything that its search depends on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "feedrate/report/json/json.hpp"
#include "feedrate/report/json/machine_from_json.hpp"
#include "feedrate/report/json/workload_from_json.hpp"

namespace feedrate::inline v0 {

/// How a run began. What was measured or read of machine and environment then is kept: a resumed
/// search must see the same figures.
struct JournalHeader {
  static constexpr int version = 4;

  ToolInfo tool;
  std::vector<std::string> arguments;  ///< the command line, without the program's name
  std::string folder;                  ///< in which it was given
  std::string report;                  ///< file name of the report, beside the journal
  double prepared_s = 0;               ///< from the start of the program to its first trial
  Machine machine;
  std::optional<MachineCard> card;
  std::vector<ThreadPool> thread_pools;  ///< that the environment sized
  WorkloadInfo workload;
  std::vector<int> batches;  ///< the workload's default axis
  std::string device;        ///< UUID of the GPU that trains; empty: another device does
};

inline Json to_json(const ThreadPool& pool) {
  return {{"variable", pool.variable}, {"threads", pool.threads}};
}

inline void from_json(const Json& json, ThreadPool& pool) {
  detail::read_all(json, "variable", pool.variable, "threads", pool.threads);
}

/// All fields; the report's own object leaves out what is of no use to readers.
inline Json workload_json(const WorkloadInfo& workload) {
  Json json = detail::workload_json(workload);
  json["field"] = workload.field;
  json["stored_bytes"] = workload.stored_bytes;
  json["pixels"] = workload.pixels;
  json["device_free_bytes"] = workload.device_free_bytes;
  json["largest_batch"] = workload.largest_batch;
  return json;
}

/// Reads what `workload_json` writes.
inline WorkloadInfo workload_of(const Json& json) {
  auto workload = json.get<WorkloadInfo>();
  detail::read_all(json, "field", workload.field, "stored_bytes", workload.stored_bytes, "pixels",
                   workload.pixels, "device_free_bytes", workload.device_free_bytes);
  detail::read_if_told(json, "largest_batch", workload.largest_batch);  // older journals lack it
  return workload;
}

inline Json to_json(const JournalHeader& header) {
  return {
      {"journal_version", JournalHeader::version},
      {"tool", detail::tool_json(header.tool)},
      {"arguments", header.arguments},
      {"folder", header.folder},
      {"report", header.report},
      {"prepared_s", header.prepared_s},
      {"machine", to_json(header.machine)},
      {"card", header.card ? to_json(*header.card) : Json(nullptr)},
      {"thread_pools", detail::json_array(header.thread_pools,
                                          [](const ThreadPool& pool) { return to_json(pool); })},
      {"workload", workload_json(header.workload)},
      {"batches", header.batches},
      {"device", header.device}};
}

inline void from_json(const Json& json, JournalHeader& header) {
  detail::read_all(json, "tool", header.tool, "arguments", header.arguments, "folder",
                   header.folder, "report", header.report, "prepared_s", header.prepared_s,
                   "machine", header.machine, "card", header.card);
  if (header.card) header.card->machine = header.machine;
  detail::read_all(json, "thread_pools", header.thread_pools, "batches", header.batches, "device",
                   header.device);
  header.workload = workload_of(json.at("workload"));
}

}  // namespace feedrate::inline v0
