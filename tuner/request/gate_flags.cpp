// SPDX-License-Identifier: Apache-2.0
#include "request/gate_flags.hpp"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "request/option_group.hpp"
#include "values/axes.hpp"

namespace feedrate {
void add_require(CLI::App& app, std::vector<Requirement>& requirements,
                 std::vector<MetricKind> kinds) {
  std::string names;
  for (const MetricKind& kind : kinds) {
    (names += names.empty() ? "" : ", ") += kind.name;
  }
  app.add_option_function<std::vector<std::string>>(
         "--require",
         [&requirements, kinds = std::move(kinds)](const std::vector<std::string>& texts) {
           requirements.clear();
           for (const std::string& text : texts) {
             requirements.push_back(parse_requirement(text, kinds));
           }
         },
         "Exit 1 unless this holds, such as 'fed >= 0.90', and 3 if the 95 % interval holds the "
         "bound. Repeatable. Metrics: " +
             names + ".")
      ->group("Gate")
      ->type_name("EXPR")
      ->expected(1)
      ->take_all();
}

void add_undecided(CLI::App& app, Undecided& undecided) {
  OptionGroup(app, "Gate")
      .value("--undecided", undecided, "HOW",
             "What an inconclusive result counts as: pass (exit 0) or fail (exit 1). Default: exit "
             "3.",
             [](const char* flag, const std::string& text) {
               return parse_name(flag, text, {"pass", "fail"}) == 0 ? Undecided::pass
                                                                    : Undecided::fail;
             });
}

void add_gate(CLI::App& app, GateRequest& gate, std::vector<MetricKind> kinds) {
  add_require(app, gate.requirements, std::move(kinds));
  add_undecided(app, gate.undecided);
}

}  // namespace feedrate
