// SPDX-License-Identifier: Apache-2.0
#include "request/gate_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "feedrate/core/named.hpp"
#include "feedrate/report/formats/formats.hpp"
#include "request/option_group.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

constexpr const char* group_name = "Gate";

/// A flag that may be repeated; each text is read into one value.
template <class Value, class Parse>
void add_repeatable(CLI::App& app, const char* flag, std::vector<Value>& values, const char* type,
                    const std::string& help, Parse parse) {
  app.add_option_function<std::vector<std::string>>(
         flag,
         [&values, parse](const std::vector<std::string>& texts) {
           values.clear();
           for (const std::string& text : texts) values.push_back(parse(text));
         },
         help)
      ->group(group_name)
      ->type_name(type)
      ->expected(1)
      ->take_all();
}

void add_require(CLI::App& app, std::vector<Requirement>& requirements,
                 std::vector<MetricKind> kinds) {
  std::string names;
  for (const MetricKind& kind : kinds) (names += names.empty() ? "" : ", ") += kind.name;
  add_repeatable(
      app, "--require", requirements, "EXPR",
      "Exit 1 unless this holds, such as 'fed >= 0.90', and 3 if the 95 % interval contains the "
      "bound. Repeatable. Metrics: " +
          names + ".",
      [kinds = std::move(kinds)](const std::string& text) {
        return parse_requirement(text, kinds);
      });
}

/// "markdown=summary.md".
FormatFile parse_format_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals + 1 == text.size()) {
    throw Error(Fault::usage, "--write '" + text +
                                  "' names no file: write FORMAT=FILE, such as junit=gate.xml; "
                                  "FILE - is standard output.");
  }
  const std::string format = text.substr(0, equals);
  entry_named(formats, format, "format");
  return {format, text.substr(equals + 1)};
}

/// Whether the verb's own JSON goes to standard output.
bool prints_json(const CLI::App& app) {
  const CLI::Option* json = app.get_option_no_throw("--json");
  const CLI::Option* output = app.get_option_no_throw("--output");
  return (json && json->count() > 0) ||
         (output && output->count() > 0 && output->results().back() == "-");
}

}  // namespace

void refuse_two_documents(const GateRequest& gate, bool prints_json) {
  const auto to_stdout = std::count_if(gate.files.begin(), gate.files.end(),
                                       [](const FormatFile& file) { return file.path == "-"; });
  if (to_stdout + (prints_json ? 1 : 0) < 2) return;
  throw Error(Fault::usage,
              "Only one document can go to standard output: name a file with --write FORMAT=FILE.");
}

void add_gate(CLI::App& app, GateRequest& gate, std::vector<MetricKind> kinds) {
  add_require(app, gate.requirements, std::move(kinds));
  OptionGroup(app, group_name)
      .value("--undecided", gate.undecided, "HOW",
             "What an inconclusive result counts as: pass (exit 0) or fail (exit 1). Default: exit "
             "3.",
             [](const char* flag, const std::string& text) {
               return parse_name(flag, text, {"pass", "fail"}) == 0 ? Undecided::pass
                                                                    : Undecided::fail;
             });
  add_repeatable(
      app, "--write", gate.files, "FORMAT=FILE",
      "Also write the result in this format; FILE - is standard output. Repeatable. Formats: " +
          listed_names(formats) + ".",
      parse_format_file);
  app.parse_complete_callback([&app, &gate] { refuse_two_documents(gate, prints_json(app)); });
}

double parse_loss(const char* flag, const std::string& text) {
  const double loss = parse_percent(flag, text);
  if (loss > 0 && loss < 1) return loss;
  throw Error(Fault::usage, std::string(flag) + " " + text + " must lie between 0% and 100%.");
}

void add_loss_limits(CLI::App& app, LossLimits& limits) {
  const OptionGroup group(app, "Limits");
  group.value("--max-loss", limits.max, "SHARE",
              "The largest loss of speed that may pass. Default: 10%.", parse_loss);
  group.value("--tolerate", limits.tolerated, "SHARE",
              "A loss that is surely larger is reported as slower. Default: 3%.", parse_loss);
}

void check_loss_limits(const LossLimits& limits) {
  if (limits.tolerated < limits.max) return;
  throw Error(Fault::usage, "--tolerate must be less than --max-loss: no verdict lies between.");
}

}  // namespace feedrate
