// SPDX-License-Identifier: Apache-2.0
// The first line of a journal: which run this is, and all that its search depends on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "feedrate/report/json.hpp"
#include "feedrate/report/machine_from_json.hpp"

namespace feedrate {

/// How a run began. What was measured or read of the machine then is kept: a resumed search must
/// see the same figures.
struct JournalHeader {
  static constexpr int version = 1;

  ToolInfo tool;
  std::vector<std::string> arguments;  ///< the command line, without the program's name
  std::string folder;                  ///< in which it was given
  std::string report;                  ///< file name of the report, beside the journal
  double prepared_s = 0;               ///< from the start of the program to its first trial
  Machine machine;
  std::optional<MachineCard> card;
  WorkloadInfo workload;
  std::vector<int> batches;  ///< the workload's default axis
};

inline void from_json(const Json& json, ToolInfo& tool) {
  detail::read(json, "version", tool.version);
  detail::read(json, "commit", tool.commit);
  detail::read(json, "command_line", tool.command_line);
  detail::read(json, "seed", tool.seed);
  detail::read(json, "started_at", tool.started_at);
  detail::read(json, "wall_s", tool.wall_s);
}

/// All fields; the report's own object leaves out what is of no use to readers.
inline Json workload_json(const WorkloadInfo& workload) {
  Json json = detail::workload_json(workload);
  json["field"] = workload.field;
  return json;
}

inline void from_json(const Json& json, WorkloadInfo& workload) {
  detail::read(json, "name", workload.name);
  detail::read(json, "kind", workload.kind);
  detail::read(json, "dataset", workload.dataset);
  detail::read(json, "path", workload.path);
  detail::read(json, "model", workload.model);
  detail::read(json, "field", workload.field);
  detail::read(json, "samples", workload.samples);
  detail::read(json, "sample_bytes", workload.sample_bytes);
  detail::read(json, "model_flops_per_sample", workload.flops_per_sample);
  workload.cache = json.at("cache") == "cold" ? CacheMode::cold : CacheMode::warm;
  detail::read(json, "cached_samples", workload.cached_samples);
  detail::read(json, "load_parts", workload.parts);
}

inline Json to_json(const JournalHeader& header) {
  return {{"journal_version", JournalHeader::version},
          {"tool", detail::tool_json(header.tool)},
          {"arguments", header.arguments},
          {"folder", header.folder},
          {"report", header.report},
          {"prepared_s", header.prepared_s},
          {"machine", to_json(header.machine)},
          {"card", header.card ? to_json(*header.card) : Json(nullptr)},
          {"workload", workload_json(header.workload)},
          {"batches", header.batches}};
}

inline void from_json(const Json& json, JournalHeader& header) {
  detail::read(json, "tool", header.tool);
  detail::read(json, "arguments", header.arguments);
  detail::read(json, "folder", header.folder);
  detail::read(json, "report", header.report);
  detail::read(json, "prepared_s", header.prepared_s);
  detail::read(json, "machine", header.machine);
  detail::read(json, "card", header.card);
  if (header.card) header.card->machine = header.machine;
  detail::read(json, "workload", header.workload);
  detail::read(json, "batches", header.batches);
}

}  // namespace feedrate
