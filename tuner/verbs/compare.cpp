// SPDX-License-Identifier: Apache-2.0
// The verb `compare`: prints reports side by side, and ranks what was measured alike.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/report/comparison/comparison_json.hpp"
#include "feedrate/report/comparison/comparison_text.hpp"
#include "feedrate/report/json/json.hpp"
#include "feedrate/report/json/read_report.hpp"
#include "request/flags.hpp"
#include "request/terminal.hpp"
#include "screen/output.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

constexpr const char* compare_purpose =
    "Print reports side by side: the ratio of two, the outliers among three or more.";

constexpr int not_ranked = 3;  ///< exit code where the reports were measured differently

/// The same run counted twice would move the median.
void refuse_same_run(const std::vector<NamedReport>& reports, const NamedReport& one,
                     const Json& json, const std::vector<Json>& documents) {
  std::error_code ignored;
  for (std::size_t r = 0; r < reports.size(); ++r) {
    if (std::filesystem::equivalent(reports[r].file, one.file, ignored)) {
      throw Error(Fault::usage, "'" + reports[r].file + "' and '" + one.file +
                                    "' are the same file; give each report once.");
    }
    if (documents[r] == json) {
      throw Error(Fault::usage, "'" + reports[r].file + "' and '" + one.file +
                                    "' hold the same run; give each report once.");
    }
  }
}

std::vector<NamedReport> read_reports(const std::vector<std::string>& paths) {
  std::vector<NamedReport> reports;
  std::vector<Json> documents;  // what tells runs apart
  for (const std::string& path : paths) {
    ReadReport read = read_report(path);
    const Json identity = {read.json["tool"], read.json["machine"]["fingerprint"]};
    NamedReport one{path, read.json["schema_version"].get<int>(), std::move(read.report)};
    refuse_same_run(reports, one, identity, documents);
    documents.push_back(identity);
    reports.push_back(std::move(one));
  }
  return reports;
}

/// Returns 3 where the reports were measured differently. Throws Error(usage) on fewer than two, or
/// the same twice, and Error(data) where a file is no report.
int run_compare(const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  bool json = false;
  CLI::App app(compare_purpose, "autotune compare");
  app.add_option("REPORT", paths, "JSON files that runs wrote, two or more.")->required();
  app.add_flag("--json", json, "Print JSON instead of text.");
  if (!parse_words(app, words)) return 0;
  if (paths.size() < 2) {
    throw Error(Fault::usage,
                "compare needs two reports or more; 'autotune show " + paths[0] + "' prints one.");
  }
  const ReportComparison comparison = comparison_of(read_reports(paths));
  print_out(json ? json_text(to_json(comparison))
                 : comparison_text(comparison, columns(STDOUT_FILENO)));
  return comparison.differences.empty() ? 0 : not_ranked;
}

const RegisteredVerb registered_compare{{{"compare", compare_purpose}, run_compare}};

}  // namespace
}  // namespace feedrate
