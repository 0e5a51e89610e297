// SPDX-License-Identifier: Apache-2.0
// The verb `show`: prints the screen of a report.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "feedrate/report/json/json.hpp"
#include "feedrate/report/json/read_report.hpp"
#include "request/flags.hpp"
#include "screen/output.hpp"
#include "screen/patch_file.hpp"
#include "screen/reporting.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

constexpr const char* show_purpose = "Print the screen of a report again.";

/// Throws Error(data) where the file is no report.
int run_show(const std::vector<std::string>& words) {
  std::string path;
  bool json = false, verbose = false, patch = false;
  ColorWish color = ColorWish::automatic;
  CLI::App app(show_purpose, "autotune show");
  app.add_option("REPORT", path, "The JSON file that a run wrote.")->required();
  app.add_flag("--verbose", verbose, "Print everything that was measured.");
  app.add_flag("--patch", patch, "Print only the change of a script, as git apply takes it.");
  app.add_flag("--json", json, "Check the report and print it as JSON.");
  add_color(app, color);
  if (!parse_words(app, words)) return 0;
  const ReadReport read = read_report(path);
  if (patch) {
    print_out(patch_of(read.report));
    return 0;
  }
  print_out(json ? json_text(read.json) : screen_of(read.report, path, color, verbose));
  return 0;
}

const RegisteredVerb registered_show{{{"show", show_purpose}, run_show}};

}  // namespace
}  // namespace feedrate
