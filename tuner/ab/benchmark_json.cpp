// SPDX-License-Identifier: Apache-2.0
#include "ab/benchmark_json.hpp"

#include <algorithm>
#include <cmath>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "feedrate/report/json/json.hpp"

namespace feedrate {
namespace {

/// Times of one benchmark.
struct Times {
  std::string name, unit;
  double log_sum = 0;
  int count = 0;
};

[[noreturn]] void refuse(const std::string& program, const std::string& what) {
  throw Error(Fault::data, "'" + program + "' " + what + ".");
}

bool is_aggregate(const Json& entry) {
  return entry.value("run_type", "iteration") == "aggregate";
}

/// By SkipWithMessage: this machine can't run it.
bool is_skipped(const Json& entry) {
  return entry.value("skipped", false);
}

void require_sound(const Json& entry, const std::string& name, const std::string& program) {
  if (!entry.value("error_occurred", false)) return;
  refuse(program,
         "reports that benchmark '" + name + "' failed: " + entry.value("error_message", ""));
}

double time_of(const Json& entry, const std::string& name, const std::string& program) {
  const auto time = entry.find("real_time");
  const double value = time != entry.end() && time->is_number() ? time->get<double>() : 0;
  if (value > 0 && std::isfinite(value)) return value;
  refuse(program, "has no time for benchmark '" + name + "' that can be compared");
}

void add(std::vector<Times>& all, const Json& entry, const std::string& program) {
  const std::string own = entry.at("name").get<std::string>();
  const std::string name = entry.value("run_name", own);
  require_sound(entry, name, program);
  const std::string unit = entry.value("time_unit", "ns");
  auto found =
      std::find_if(all.begin(), all.end(), [&](const Times& times) { return times.name == name; });
  if (found == all.end()) found = all.insert(found, {.name = name, .unit = unit});
  if (found->unit != unit) refuse(program, "has two units of time for benchmark '" + name + "'");
  found->log_sum += std::log(time_of(entry, name, program));
  ++found->count;
}

std::vector<ProgramMetric> metrics_of(const std::vector<Times>& all) {
  std::vector<ProgramMetric> metrics;
  for (const Times& times : all) {
    metrics.push_back({.name = times.name,
                       .unit = times.unit,
                       .value = std::exp(times.log_sum / times.count),
                       .higher_is_better = false});
  }
  return metrics;
}

}  // namespace

std::vector<ProgramMetric> parse_benchmarks(std::string_view text, const std::string& program) try {
  std::vector<Times> all;
  bool has_aggregates = false;
  const Json document = Json::parse(text);
  for (const Json& entry : document.at("benchmarks")) {
    has_aggregates = has_aggregates || is_aggregate(entry);
    if (!is_aggregate(entry) && !is_skipped(entry)) add(all, entry, program);
  }
  if (all.empty() && has_aggregates) {
    refuse(program, "wrote only aggregates: leave out --benchmark_report_aggregates_only");
  }
  if (all.empty()) refuse(program, "ran no benchmark: check its filter");
  return metrics_of(all);
} catch (const Json::exception&) {
  refuse(program, text.empty()
                      ? std::string("ran no benchmark: check its filter")
                      : std::string("wrote no JSON of Google Benchmark, or only a part of it"));
}

std::vector<ProgramMetric> read_benchmarks(const std::string& path, const std::string& program) {
  constexpr std::size_t most = std::size_t{256} << 20;  // each repetition of a benchmark has 500 B
  const auto text = read_text(path, most);
  if (!text) {
    refuse(program,
           "wrote no results: --benchmark-json is for Google Benchmark programs, which write them "
           "where the variable BENCHMARK_OUT says");
  }
  return parse_benchmarks(*text, program);
}

}  // namespace feedrate
