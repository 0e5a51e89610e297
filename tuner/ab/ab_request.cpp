// SPDX-License-Identifier: Apache-2.0
#include "ab/ab_request.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "feedrate/core/error.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/shell.hpp"
#include "request/gate_flags.hpp"
#include "request/option_group.hpp"
#include "request/run_flags.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

constexpr const char* purpose =
    "Compare two commands, or two configs: is HEAD slower than BASE? Both run in turns, each time "
    "in a fresh process. Exit code 0: pass, 1: slower, 3: inconclusive.";

constexpr const char* usage =
    "autotune ab [OPTIONS] -- BASE... -- HEAD...\n"
    "       autotune ab [OPTIONS] --base PAIRS --head PAIRS\n"
    "       autotune ab [OPTIONS] --aa|--plant SHARE -- BASE...";

/// What may be required of HEAD. Benchmarks are compared, not required.
constexpr std::array<MetricKind, 8> ab_kinds = {{{"samples_per_s", "samples/s"},
                                                 {"batches_per_s", "batches/s"},
                                                 {"wall_s", "s", false},
                                                 {"fed", "1"},
                                                 {"utilization", "1"},
                                                 {"busy", "1"},
                                                 {"first_batch_s", "s", false},
                                                 {"memory_bytes", "bytes", false}}};

/// What is read once all flags are known.
struct Texts {
  std::string base, head;
  bool time = false, benchmark_json = false;
};

double parse_duration(const char* flag, const std::string& text) {
  const double seconds = parse_seconds(flag, text);
  if (seconds > 0) return seconds;
  throw Error(Fault::usage, std::string(flag) + " must be longer than 0 s.");
}

void add_metrics(CLI::App& app, AbRequest& request, Texts& texts) {
  const OptionGroup group(app, "What is compared (default: the rate that the commands report)");
  group.value("--rate", request.rate, "EXPR",
              "Read the rate from the output: 'regex:([0-9.]+) img/s'. Not needed for scripts that "
              "train from PyTorch's DataLoader, nor for programs that report their speed.",
              [](const char*, const std::string& text) { return RateExpression(text); });
  group.flag("--time", texts.time, "The time from start to end of each command.");
  group.flag("--benchmark-json", texts.benchmark_json,
             "The commands are Google Benchmark programs: each benchmark is a metric.");
  group.text("--base", texts.base, "PAIRS",
             "A config of a built-in workload or of --data, such as workers=2,batch=64, in place "
             "of commands.");
  group.text("--head", texts.head, "PAIRS", "The config that is compared with it.");
}

void add_limits(CLI::App& app, AbRequest& request) {
  CompareOptions& options = request.options;
  add_loss_limits(app, options.limits);
  const OptionGroup group(app, "Limits");
  group.value("--seconds", options.run_s, "TIME",
              "How long each run is measured, but for --time and --benchmark-json. Default: 1s.",
              parse_duration);
  group.value("--blocks", options.most_blocks, "N",
              "Give up after N blocks of four runs. Default: 60.",
              [](const char* flag, const std::string& text) {
                return parse_integer(flag, text, 6, 10000);
              });
  group.value("--budget", options.budget_s, "TIME",
              "Give up when the next block would end later. Default: 10min.", parse_duration);
  group.value("--trial-timeout", request.timeout_s, "TIME",
              "End a run that reports nothing for this long; with --time and --benchmark-json, one "
              "that takes longer. Default: 60s, and 10min for those.",
              parse_duration);
  group.value("--seed", options.seed, "N", "Seed of the order of runs. Default: 0.",
              [](const char* flag, const std::string& text) { return parse_count(flag, text); });
}

void add_self_check(CLI::App& app, AbRequest& request) {
  const OptionGroup group(app, "Test the gate (BASE alone)");
  group.flag("--aa", request.aa, "Compare BASE with itself: this must pass.");
  group.value("--plant", request.plant, "SHARE",
              "Compare BASE with itself, slowed so that it loses this share of its rate. Exit code "
              "0: the loss was found.",
              parse_loss);
}

void add_running(CLI::App& app, AbRequest& request) {
  const OptionGroup group(app, "Commands");
  group.text("--workdir", request.folder, "DIR", "Run the commands in DIR. Default: here.");
  group.flag("--keep-trackers", request.keep_trackers,
             "Keep experiment trackers on (Weights & Biases, Comet, Neptune, ...).");
  const OptionGroup output(app, "Output");
  output.flag("--json", request.printing.json, "Print the result as JSON instead of the screen.");
  output.flag("--quiet", request.printing.quiet, "Print only the verdict and errors.");
  output.off("--no-progress", request.progress, "Do not show what is being run.");
}

/// The words behind each "--".
std::vector<std::vector<std::string>> cut_commands(std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> commands;
  const auto first = std::find(words.begin(), words.end(), "--");
  for (auto at = first; at != words.end();) {
    const auto next = std::find(at + 1, words.end(), "--");
    commands.emplace_back(at + 1, next);
    at = next;
  }
  words.erase(first, words.end());
  return commands;
}

AbMetric metric_of(const AbRequest& request, const Texts& texts) {
  const bool configs = !texts.base.empty() || !texts.head.empty();
  const int asked = (request.rate ? 1 : 0) + (texts.time ? 1 : 0) + (texts.benchmark_json ? 1 : 0) +
                    (configs ? 1 : 0);
  if (asked > 1) {
    throw Error(Fault::usage,
                "Choose one of --rate, --time, --benchmark-json, and --base with --head.");
  }
  return texts.time             ? AbMetric::time
         : texts.benchmark_json ? AbMetric::benchmark_json
         : configs              ? AbMetric::config
                                : AbMetric::rate;
}

void read_configs(AbRequest& request, const Texts& texts) {
  if (texts.base.empty() || (texts.head.empty() && !request.is_self_check())) {
    throw Error(Fault::usage, "Two configs are compared: give both --base and --head.");
  }
  if (request.is_self_check() && !texts.head.empty()) {
    throw Error(Fault::usage, "One config is compared with itself: leave out --head.");
  }
  request.base_text = texts.base;
  request.head_text = texts.head;
  request.base_config = parse_against(texts.base, std::nullopt, "--base");
  request.head_config = request.is_self_check() ? request.base_config
                                                : parse_against(texts.head, std::nullopt, "--head");
}

void read_commands(AbRequest& request, std::vector<std::vector<std::string>> commands) {
  const std::size_t wanted = request.is_self_check() ? 1 : 2;
  if (commands.size() != wanted) {
    throw Error(Fault::usage, (wanted == 1 ? std::string("One command is compared with itself")
                                           : std::string("Two commands are compared")) +
                                  ", and " + std::to_string(commands.size()) +
                                  " were given: write autotune ab [OPTIONS] -- BASE" +
                                  (wanted == 1 ? "" : " -- HEAD") +
                                  "; a command that has a -- of its own goes into sh -c '...'.");
  }
  for (const auto& command : commands) {
    if (command.empty()) throw Error(Fault::usage, "There is no command behind a --.");
  }
  request.base = commands.front();
  request.head = commands.back();
}

void check_self_check(const AbRequest& request) {
  if (request.aa && request.plant) {
    throw Error(Fault::usage, "Choose --aa or --plant: one compares equals, the other does not.");
  }
  if (request.plant && *request.plant <= request.options.limits.tolerated) {
    throw Error(
        Fault::usage,
        "--plant must be larger than --tolerate: a smaller loss is never reported as slower.");
  }
}

/// Only configs have data and a device that can be chosen.
void check_pipeline(const CLI::App& app, const AbRequest& request) {
  if (request.metric == AbMetric::config) return;
  for (const CLI::Option* option : app.get_options()) {
    const bool of_pipeline =
        option->get_group() == "Data and workload" || option->get_name() == "--device";
    if (option->count() == 0 || !of_pipeline) continue;
    throw Error(Fault::usage, option->get_name() +
                                  " is for the configs of --base and --head: leave it out, the "
                                  "commands choose themselves.");
  }
}

}  // namespace

std::string subject_of(const AbRequest& request) {
  const auto name = [](const std::string& pairs, const std::vector<std::string>& words) {
    return words.empty() ? pairs : shell_line(words);
  };
  const std::string base = name(request.base_text, request.base);
  const std::string head = name(request.head_text, request.head);
  if (request.plant) return base + " with itself, slowed by " + format_percent(*request.plant);
  return request.aa ? base + " with itself" : head + " with " + base;
}

std::optional<AbRequest> parse_ab(const std::vector<std::string>& words) {
  AbRequest request;
  Texts texts;
  CLI::App app(purpose, "autotune ab");
  add_metrics(app, request, texts);
  add_limits(app, request);
  add_self_check(app, request);
  add_data(app, request.data);
  add_device(app, request.device);
  add_running(app, request);
  add_gate(app, request.gate, {ab_kinds.begin(), ab_kinds.end()});
  std::vector<std::string> own = words;
  auto commands = cut_commands(own);
  if (!parse_words(app, own, usage)) return std::nullopt;
  request.metric = metric_of(request, texts);
  check_loss_limits(request.options.limits);
  check_self_check(request);
  check_pipeline(app, request);
  if (request.metric == AbMetric::config) {
    if (!commands.empty()) {
      throw Error(Fault::usage,
                  "Configs or commands: leave out --base and --head, or the commands.");
    }
    read_configs(request, texts);
  } else {
    read_commands(request, std::move(commands));
  }
  request.command_line = shell_line({"autotune", "ab"}, words);
  return request;
}

}  // namespace feedrate
