// SPDX-License-Identifier: Apache-2.0
#include "verbs/check_options.hpp"

#include <CLI/CLI.hpp>

#include "check/judge.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/report/text/shell.hpp"
#include "request/gate_flags.hpp"
#include "request/option_group.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

void add_options(CLI::App& app, CheckOptions& options) {
  const OptionGroup check(app, "Check");
  check.text("--baseline", options.baseline, "REPORT",
             "The report that is the baseline, as --output has written it. Needed.");
  check.text("--data", options.data, "PATH", "Where the data lie now. Default: where they were.");
  check.value("--budget", options.budget_s, "TIME",
              "How long to measure, the machine card included; as long again to confirm a loss. "
              "Default: 30s.",
              parse_seconds);
  check.flag("--update", options.update,
             "Replace the figures of the baseline by those of today, and exit 0.");
  check.text("--reason", options.reason, "TEXT", "Why it is updated: the baseline keeps that.");
  add_loss_limits(app, options.limits);
  add_gate(app, options.gate, kinds_in(check_metrics));
  const OptionGroup output(app, "Output");
  output.flag("--json", options.printing.json, "Print the result as JSON instead of the screen.");
  output.flag("--quiet", options.printing.quiet, "Print only the verdict and what did not pass.");
}

void require_valid(const CheckOptions& options) {
  const auto refuse = [](const char* sentence) { throw Error(Fault::usage, sentence); };
  if (options.baseline.empty()) refuse("There is no baseline: give --baseline REPORT.");
  if (options.budget_s <= 0) refuse("--budget must be more than 0, such as 30s.");
  check_loss_limits(options.limits);
  if (options.update && options.reason.empty()) {
    refuse("--update needs --reason TEXT: the baseline keeps why it changed.");
  }
  if (!options.update && !options.reason.empty()) {
    refuse("--reason goes with --update: give both.");
  }
}

}  // namespace

std::optional<CheckOptions> parse_check(const std::vector<std::string>& words) {
  CheckOptions options;
  CLI::App app(check_purpose, "autotune check");
  add_options(app, options);
  if (!parse_words(app, words)) return std::nullopt;
  options.command_line = shell_line({"autotune", "check"}, words);
  require_valid(options);
  return options;
}

}  // namespace feedrate
