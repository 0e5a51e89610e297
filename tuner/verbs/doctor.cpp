// SPDX-License-Identifier: Apache-2.0
// The verb `doctor`: gathers facts, judges them, and writes the findings as text or JSON.
#include "doctor/findings.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/metrics.hpp"
#include "feedrate/card/machine_facts.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/machine/cache_folder.hpp"
#include "feedrate/machine/limits.hpp"
#include "feedrate/report/gate/gate_sentences.hpp"
#include "feedrate/report/json/gate_json.hpp"
#include "feedrate/report/text/card.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/shell.hpp"
#include "gate/gate_output.hpp"
#include "request/flags.hpp"
#include "request/gate_flags.hpp"
#include "request/terminal.hpp"
#include "request/version.hpp"
#include "screen/output.hpp"
#include "verbs/verb.hpp"
#include "workload/blas.hpp"
#include "workload/cuda_device.hpp"

namespace feedrate {
namespace {

constexpr const char* doctor_purpose =
    "Check this machine for training problems, and say how to fix them.";

struct DoctorOptions {
  std::string path;        ///< a folder or file whose storage is checked; empty: the cache folder
  bool json = false;       ///< JSON instead of text
  bool color = false;      ///< colours the statuses
  std::size_t width = 80;  ///< columns of the output
  GateRequest gate;
  std::string command_line;
};

/// The storage that matters when none is named: where the cache is, or would be.
std::string path_to_look_at(const DoctorOptions& options) {
  if (!options.path.empty()) return options.path;
  const std::string cache = cache_folder_path();
  return cache.empty() ? "." : detail::nearest_existing(cache);
}

/// Padded before it is coloured: escapes take no columns.
std::string status_cell(Status status, bool color) {
  constexpr std::array<std::string_view, 4> colors = {"\033[32m", "\033[36m", "\033[33m",
                                                      "\033[31m"};
  const std::string cell = left_aligned(name_of(status), 9);
  if (!color) return cell;
  return std::string(colors[static_cast<std::size_t>(status)]) + cell + "\033[0m";
}

std::size_t name_columns(const std::vector<Finding>& findings) {
  std::size_t columns = 0;
  for (const Finding& finding : findings) columns = std::max(columns, columns_of(finding.name));
  return columns + 2;
}

/// "ok       cpus      2 CPUs", what was seen wrapped, and the remedy below it. On a terminal that
/// is too narrow for that, what was seen stands below the name.
void write_finding(const Finding& finding, std::size_t names, const DoctorOptions& options,
                   std::ostream& out) {
  const bool beside = options.width >= 9 + names + 20;
  const std::size_t indent = beside ? 9 + names : 9;
  const std::size_t columns = std::max(options.width, indent + 20) - indent;
  std::string left = status_cell(finding.status, options.color) +
                     left_aligned(finding.name, beside ? names : finding.name.size());
  if (!beside) {
    out << left << '\n';
    left.assign(indent, ' ');
  }
  for (const std::string& line : wrapped(finding.seen, columns)) {
    out << left << line << '\n';
    left.assign(indent, ' ');
  }
  if (finding.mend.empty()) return;
  left = std::string(indent, ' ') + "-> ";
  for (const std::string& line : wrapped(finding.mend, columns - 3)) {
    out << left << line << '\n';
    left.assign(indent + 3, ' ');
  }
}

std::string summary(const std::vector<Finding>& findings) {
  const auto count = [&](Status status) {
    return std::to_string(std::count_if(findings.begin(), findings.end(),
                                        [&](const Finding& f) { return f.status == status; }));
  };
  return "problems: " + count(Status::problem) + ", warnings: " + count(Status::warning) +
         ", notes: " + count(Status::note);
}

Gate begin_gate(const DoctorOptions& options) {
  Gate gate;
  gate.tool = {version, commit, options.command_line, now_utc(), 0, 0};
  return gate;
}

void fill(Gate& gate, const Facts& facts, const std::vector<Finding>& findings,
          const DoctorOptions& options) {
  gate.machine = facts.card.machine;
  gate.verb = "doctor";
  gate.subject = "this machine";
  gate.metrics = metrics_of(facts, findings);
  gate.requirements = judged(options.gate.requirements, gate.metrics);
}

/// What is written to files: a problem is a requirement that is not met, as for the exit code.
Gate with_problems(Gate gate, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.status != Status::problem) continue;
    gate.requirements.push_back({.text = "no problem: " + finding.name,
                                 .metric = "problems",
                                 .value = std::nullopt,
                                 .fulfilment = Fulfilment::not_met,
                                 .reason = finding.seen});
  }
  return gate;
}

/// "required  met: cpus >= 2: cpus is 2.".
void write_requirements(const Gate& gate, const DoctorOptions& options, std::ostream& out) {
  for (const GateRequirement& requirement : gate.requirements) {
    const std::string line = words_of(requirement.fulfilment) + ": ";
    out << labelled("required", line + sentence_of(gate, requirement), 10, options.width);
  }
}

void write_text(const Facts& facts, const std::vector<Finding>& findings, const Gate& gate,
                const DoctorOptions& options, std::ostream& out) {
  const std::size_t names = name_columns(findings);
  out << card_text(facts.card, options.width) << '\n';
  for (const Finding& finding : findings) write_finding(finding, names, options, out);
  out << '\n' << summary(findings) << '\n';
  write_requirements(gate, options, out);
}

void write_json(const Facts& facts, const std::vector<Finding>& findings, const Gate& gate,
                std::ostream& out) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"name", finding.name},
                    {"status", name_of(finding.status)},
                    {"seen", finding.seen},
                    {"mend", finding.mend}});
  }
  const Json document = {{"status", name_of(worst_of(findings))},
                         {"findings", list},
                         {"requirements", to_json(gate).at("requirements")},
                         {"machine", to_json(facts.card.machine)},
                         {"card", to_json(facts.card)}};
  // Names of files need not be UTF-8, and dump() would throw.
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

/// Empty where the help was asked for, and printed.
std::optional<DoctorOptions> parse_doctor(const std::vector<std::string>& words) {
  DoctorOptions options;
  ColorWish color = ColorWish::automatic;
  CLI::App app(doctor_purpose, "autotune doctor");
  app.add_option("--path", options.path,
                 "The folder or file whose storage is checked. Default: the cache folder.")
      ->type_name("PATH");
  app.add_flag("--json", options.json, "Print JSON instead of text.");
  add_gate(app, options.gate, kinds_in(doctor_metrics));
  add_color(app, color);
  if (!parse_words(app, words)) return std::nullopt;
  options.command_line = shell_line({"autotune", "doctor"}, words);
  options.color = use_color(color, STDOUT_FILENO);
  options.width = columns(STDOUT_FILENO);
  return options;
}

/// Takes some seconds of measuring. Returns 1 where something is a problem, else what comes of the
/// requirements. Throws Error(data) where the path doesn't exist.
int run_doctor(const std::vector<std::string>& words) {
  const auto options = parse_doctor(words);
  if (!options) return 0;
  require_writable(options->gate);
  const SteadyClock clock;
  const double begin_s = clock.now_s();
  Gate gate = begin_gate(*options);
  open_blas(read_limits().cpus.usable);
  Facts facts = gather_facts(path_to_look_at(*options));
  facts.has_cuda = built_with_cuda();
  const std::vector<Finding> findings = examine(facts);
  fill(gate, facts, findings, *options);
  gate.tool.wall_s = clock.now_s() - begin_s;
  std::ostringstream text;
  if (options->json) {
    write_json(facts, findings, gate, text);
  } else {
    write_text(facts, findings, gate, *options, text);
  }
  print_out(text.str());
  return write_gate(with_problems(gate, findings), options->gate);
}

const RegisteredVerb registered_doctor{{{"doctor", doctor_purpose}, run_doctor}};

}  // namespace
}  // namespace feedrate
