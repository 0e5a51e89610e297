// SPDX-License-Identifier: Apache-2.0
// The verb `workloads`: lists the built-in workloads.
#include "workload/workloads.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <string>

#include "feedrate/report/text/format.hpp"
#include "request/flags.hpp"
#include "request/terminal.hpp"
#include "screen/output.hpp"
#include "verbs/verb.hpp"

namespace feedrate {
namespace {

constexpr const char* workloads_purpose = "List the built-in workloads.";

int run_workloads(const std::vector<std::string>& words) {
  CLI::App app(workloads_purpose, "autotune workloads");
  if (!parse_words(app, words)) return 0;
  std::string list;
  for (const BuiltIn& workload : built_in_workloads()) {
    const std::string text = std::string(workload.what) + ".";
    list += labelled(workload.name, text, 14, columns(STDOUT_FILENO));
  }
  print_out(list);
  return 0;
}

const RegisteredVerb registered_workloads{{{"workloads", workloads_purpose}, run_workloads}};

}  // namespace
}  // namespace feedrate
