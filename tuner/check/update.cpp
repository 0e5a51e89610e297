// SPDX-License-Identifier: Apache-2.0
#include "check/update.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <utility>

#include "feedrate/core/clock.hpp"
#include "feedrate/data/file_writer.hpp"
#include "feedrate/report/json/json.hpp"
#include "journal/journal.hpp"
#include "request/version.hpp"

namespace feedrate {
namespace {

/// All rounds of one config; each process is a block.
std::vector<Round> rounds_of(const std::vector<CheckBlock>& blocks,
                             std::vector<Round> CheckBlock::*which) {
  std::vector<Round> rounds;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (Round round : blocks[b].*which) {
      round.order = static_cast<int>(rounds.size());
      round.block = static_cast<int>(b);
      rounds.push_back(round);
    }
  }
  return rounds;
}

const GateMetric* metric_named(const std::vector<GateMetric>& metrics, const std::string& name) {
  for (const GateMetric& metric : metrics) {
    if (metric.name == name) return &metric;
  }
  return nullptr;
}

void put_ceilings(Trial& trial, const std::vector<GateMetric>& metrics) {
  Ceilings ceilings = trial.ceilings.value_or(Ceilings{});
  if (const auto* loader = metric_named(metrics, "loader_samples_per_s")) {
    ceilings.loader = loader->value.estimate;
  }
  if (const auto* device = metric_named(metrics, "device_samples_per_s")) {
    ceilings.device = device->value.estimate;
  }
  ceilings.coupled = trial.samples_per_s().estimate;
  trial.ceilings = ceilings;
}

void put_speedup(Outcome& outcome, const std::vector<GateMetric>& metrics) {
  const GateMetric* speedup = metric_named(metrics, "speedup");
  if (!speedup) return;
  const std::size_t recommended = outcome.choice().trial;
  for (TierChoice& choice : outcome.tiers) {
    if (choice.trial == recommended) choice.speedup = speedup->value;
  }
  if (outcome.verified) outcome.verified = speedup->value;
}

}  // namespace

Json updated(const Baseline& baseline, const Remeasured& now, const Machine& machine,
             const std::vector<GateMetric>& metrics, const std::string& reason) {
  Report report = baseline.report;
  Outcome& outcome = report.outcome;
  Trial& recommended = outcome.trials[outcome.choice().trial];
  Json before = {{"samples_per_s", to_json(recommended.samples_per_s())},
                 {"started_at", report.tool.started_at},
                 {"commit", report.tool.commit}};
  recommended.rounds = rounds_of(now.blocks, &CheckBlock::recommended);
  put_ceilings(recommended, metrics);
  if (!baseline.keeps_reference()) {
    outcome.trials[outcome.reference].rounds = rounds_of(now.blocks, &CheckBlock::reference);
  }
  put_speedup(outcome, metrics);
  report.machine = machine;
  if (now.card) report.card = now.card;
  report.tool.version = version;
  report.tool.commit = commit;
  report.tool.started_at = now_utc();
  Json json = to_json(report);
  json["baseline"] = {
      {"reason", reason}, {"updated_at", report.tool.started_at}, {"before", std::move(before)}};
  return json;
}

void write_baseline(const std::string& path, const Json& document) {
  const std::string text = json_text(document);
  struct stat status {};  // that of a command may be its user's alone, and stays so
  const mode_t mode = ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0666;
  write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, mode);
  remove_journal(journal_path_of(path));
}

}  // namespace feedrate
