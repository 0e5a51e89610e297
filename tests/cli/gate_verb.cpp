// SPDX-License-Identifier: Apache-2.0
// A verb that measures nothing and finishes a gate with a known result, for the tests of its
// output.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "../report/gate/example_gate.hpp"
#include "feedrate/core/error.hpp"
#include "gate/gate_output.hpp"
#include "request/flags.hpp"
#include "request/gate_flags.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

constexpr const char* purpose = "Finish a gate with a known result.";

/// What is asked for by the name of a conclusion; hostile: the example, with all of them.
Gate gate_named(const std::string& name) {
  if (name == "hostile") return testing::example_gate();
  Gate gate = testing::empty_gate();
  gate.metrics = {testing::example_metric("samples_per_s", 0.01, Conclusion::pass)};
  for (const Conclusion conclusion :
       {Conclusion::slower, Conclusion::inconclusive, Conclusion::not_comparable}) {
    if (name != name_of(conclusion)) continue;
    gate.metrics.push_back(testing::example_metric("batches_per_s", 0.12, conclusion));
  }
  return gate;
}

int run(const std::vector<std::string>& words) {
  std::string name;
  GateRequest gate;
  GatePrinting printing;
  CLI::App app(purpose, "autotune gate");
  app.add_option("NAME", name)->required();
  app.add_flag("--json", printing.json);
  app.add_flag("--quiet", printing.quiet);
  add_gate(app, gate, {});
  if (!parse_words(app, words)) return 0;
  require_writable(gate);
  return finish_gate(gate_named(name), gate, printing);
}

const RegisteredVerb registered{{{"gate", purpose}, run}};

}  // namespace
}  // namespace feedrate
