// SPDX-License-Identifier: Apache-2.0
// The verb `apply`: changes the user's script as a report recommends.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "feedrate/report/json/read_report.hpp"
#include "request/flags.hpp"
#include "screen/apply_patch.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

constexpr const char* apply_purpose = "Change your script as a report recommends, after asking.";

/// Throws Error(data) where the file is no report, or the script has changed since.
int run_apply(const std::vector<std::string>& words) {
  std::string path;
  bool yes = false;
  CLI::App app(apply_purpose, "autotune apply");
  app.add_option("REPORT", path, "The JSON file that a run with your script wrote.")->required();
  app.add_flag("--yes", yes, "Do not ask.");
  if (!parse_words(app, words)) return 0;
  const ReadReport read = read_report(path);
  require_somebody_to_ask(yes);
  apply_change(read.report, yes);
  return 0;
}

const RegisteredVerb registered_apply{{{"apply", apply_purpose}, run_apply}};

}  // namespace
}  // namespace feedrate
