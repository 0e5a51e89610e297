// SPDX-License-Identifier: Apache-2.0
#include "request/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "feedrate/core/error.hpp"
#include "feedrate/report/text/shell.hpp"
#include "request/axes.hpp"
#include "request/option_group.hpp"
#include "request/version.hpp"

namespace feedrate {
namespace {

/// What a run that goes on may be given anew: how it is shown.
constexpr std::array<std::string_view, 5> shown_anew = {"--json", "--quiet", "--verbose",
                                                        "--no-progress", "--color"};

void add_data(CLI::App& app, SweepOptions& options) {
  const OptionGroup group(app, "Data and workload");
  group.option("--data", options.data, "PATH",
               "Tune on your own data: a folder of class folders of JPEG files, or a .npy file "
               "of samples.");
  group.option("--labels", options.labels, "FILE",
               "The labels of a .npy file of samples: another .npy file, as long. The default "
               "is class 0 for all.");
  group.option("--workload", options.workload, "NAME",
               "A built-in workload, by default images; 'autotune workloads' lists them.");
  group.option("--sample-cost", options.sample_cost, "TIME",
               "What loading one sample of the workload tabular costs beyond copying it, by "
               "default 100us.");
  group.word("--cost", options.cost, "KIND", {"cpu", "latency"},
             "Whether that cost is spent computing (cpu, the default) or waiting (latency).");
  group.word("--cache", options.cache, "MODE", {"warm", "cold"},
             "Measure with the samples in the page cache (warm, the default), or dropped from it "
             "before each round (cold).");
  group.count("--max-skips", options.max_skips,
              "How many unreadable samples may be skipped, by default 0: the first one ends its "
              "trial.");
  group.flag("--dct-scaling", options.dct_scaling,
             "Let the JPEG decoder shrink large pictures: faster, with pixels that differ by "
             "some levels. Off by default.");
}

void add_axes(CLI::App& app, SweepOptions& options) {
  const OptionGroup group(app, "Axes (a LIST is 1,2,4 or 16:1024:x2)");
  for_each_axis([&](const auto& axis) {
    if (!axis.values) return;
    group.option(flag_of(axis.name).c_str(), options.axes[axis.name], "LIST",
                 std::string(axis.help));
  });
  group.option(
      "--against", options.against, "PAIRS",
      "The config that you use now, such as workers=8,batch=64: the gains are over it. An axis "
      "without a value keeps the usual one: no workers, batch 32, fp32. Workers without a prefetch "
      "get prefetch 2, PyTorch's default.");
}

void add_search(CLI::App& app, SweepOptions& options) {
  const OptionGroup group(app, "Search");
  group
      .option("--budget", options.budget, "TIME",
              "How long to tune: by default 60s, 30s for a script, whose start comes on top, and "
              "120s for a command with a separate launch for each config.")
      ->take_last();
  group.option("--device", options.device, "NAME",
               "The device that trains: cpu; cuda, cuda:1 or cuda:GPU-UUID, a GPU by its number or "
               "UUID in nvidia-smi -L; or one that is emulated and only takes time: "
               "emulated:h100/resnet50 and the like, or emulated:SECONDS@BATCH. The default is the "
               "first GPU that can be used, else the cpu.");
  group
      .option("--what-if", options.what_if_name, "[PRECISION]",
              "Measure at the end what would be if only one cost were taken away: decoding, "
              "augmentation, the step, the loader. Takes up to as long again, some 20 s at most. "
              "Of a script: bf16 or fp16, how fast its step would be in that precision.")
      ->expected(0, 1);
  group.option("--objective", options.objective, "NAME",
               "What to maximise: utilization (the default) or throughput, which are both the "
               "rate; busy, mfu (needs the card) or samples_per_joule (needs a meter).");
  group.option("--search", options.search, "NAME",
               "How configs are chosen for measuring: model (the default), grid, random or "
               "halving. Commands with separate launches have no model.");
  group.option("--allow", options.allow, "TIERS",
               "What may change: safe (nothing in the mathematics), numerics (rounding), "
               "training (convergence). The default is safe,numerics,training, and safe alone "
               "for a script.");
  group.option("--wider-gain", options.wider_gain, "PERCENT",
               "How much more a change of rounding or convergence must be shown to gain before it "
               "is recommended, by default 5%; with less it is an offer.");
  group.count("--seed", options.seed, "The seed of order, augmentation and search, by default 0.");
}

/// "--a, --b and --c".
template <std::size_t N>
std::string listed(const std::array<std::string_view, N>& names) {
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    if (i > 0) list += i + 1 == N ? " and " : ", ";
    list += names[i];
  }
  return list;
}

void add_trials(CLI::App& app, SweepOptions& options) {
  const OptionGroup group(app, "Trials");
  group.option(
      "--trial-timeout", options.trial_timeout, "TIME",
      "A trial that finishes no batch for so long is killed, by default 60s. Preparing the "
      "data may be silent for five times as long.");
  group.flag("--in-process", options.in_process,
             "Run the trials in this process, for debuggers: one that crashes ends the run.");
  group.option("--resume", options.resume, "REPORT",
               "Go on with a run that was killed, from the journal beside its report. All options "
               "are that run's own, but for " +
                   listed(shown_anew) + ".");
}

/// A resumed run has its options already; how it is shown may be said again.
void check_resume(const CLI::App& app, const SweepOptions& options) {
  if (app.count("--resume") == 0) return;
  if (!options.command.empty()) {
    throw Error(Fault::usage,
                "--resume takes its command from the journal: leave out the command behind --.");
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool shows = std::find(shown_anew.begin(), shown_anew.end(), name) != shown_anew.end();
    if (option->count() == 0 || shows || name == "--resume") continue;
    throw Error(Fault::usage,
                "--resume takes its options from the journal: leave out " + name + ".");
  }
}

void add_command(CLI::App& app, SweepOptions& options) {
  const OptionGroup group(app, "Your own command (behind --)");
  group
      .option("--set", options.set, "AXIS=TEMPLATE",
              "How the command takes a value: batch='--bs {}' by arguments, workers=env:NAME by a "
              "variable. It is then launched separately for each config. May be repeated.")
      ->expected(1)
      ->take_all();
  group.option("--rate", options.rate, "EXPR",
               "Where its speed stands in its output: 'regex:([0-9.]+) img/s'. Scripts that train "
               "from PyTorch's DataLoader, and programs that report it, need no expression.");
  group.option("--loader", options.loader, "N|NAME",
               "Which DataLoader of a script is tuned: its number, in the order in which they are "
               "made, or its variable. The default is the one whose loop trains.");
  group.option("--workdir", options.workdir, "DIR", "Where the command runs, by default here.");
  group.flag("--keep-trackers", options.keep_trackers,
             "Leave trackers of experiments (Weights & Biases, Comet, Neptune, ...) switched on.");
  group.flag("--no-confirm", options.no_confirm,
             "Do not confirm the recommendation in fresh processes at the end.");
}

void add_constraints(CLI::App& app, SweepOptions& options) {
  const OptionGroup group(app, "Constraints");
  group.option("--max-memory", options.max_memory, "SIZE",
               "Leave out what needs more memory for batches and step, such as 500MB or 1.5GiB.");
  group.option(
      "--max-device-memory", options.max_device_memory, "SIZE",
      "Leave out what needs more of a GPU's memory, by default 90 % of what is free there.");
  group.option("--max-workers", options.max_workers, "N", "Never try more workers.");
  group.option("--max-batch", options.max_batch, "N", "Never try a larger batch.");
  group.option("--effective-batch", options.effective_batch, "N",
               "Hold the samples of one update at N: smaller batches accumulate their gradients, "
               "so that convergence and learning rate stay what they are.");
}

void add_output(CLI::App& app, SweepOptions& options) {
  const OptionGroup group(app, "Output");
  group.option("--output", options.output, "FILE",
               "Where the JSON report goes, - for standard output. The default is "
               "feedrate-WORKLOAD.json in this folder.");
  group.flag("--json", options.json, "Print the report as JSON instead of the screen.");
  group.flag("--quiet", options.quiet, "Print nothing but the result and errors.");
  group.flag("--verbose", options.verbose, "Print all that was measured, not one screen.");
  group.flag("--no-progress", options.no_progress, "Don't say what is being tried.");
  group.flag("--no-card", options.no_card, "Don't measure the machine card first.");
}

/// Everything behind a lone "--" is a command of the user's; CLI11 would mix it with our options.
std::vector<std::string> cut_command(std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> command(dashes + 1, words.end());
  if (command.empty()) command.emplace_back();
  words.erase(dashes, words.end());
  return command;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line = "autotune";
  for (const std::string& word : words) (line += ' ') += shell_quoted(word);
  return line;
}

/// The other verbs, which the help lists.
void add_summaries(CLI::App& app, const std::vector<VerbSummary>& verbs) {
  for (const VerbSummary& verb : verbs) app.add_subcommand(verb.name, verb.text)->prefix_command();
}

/// A verb behind options is one of another run's.
void refuse_late_verb(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands()) {
    throw Error(Fault::usage, "'" + verb->get_name() + "' stands behind options: write autotune " +
                                  verb->get_name() + " first, and its options after it.");
  }
}

}  // namespace

std::optional<SweepOptions> parse_command_line(const std::vector<std::string>& given,
                                               const std::vector<VerbSummary>& verbs) {
  SweepOptions options;
  CLI::App app(
      "autotune finds out why a GPU or CPU waits while training, and what to set so that it no "
      "longer does.",
      "autotune");
  app.set_version_flag("--version", std::string("autotune ") + version + " (" + commit + ")",
                       "Print the version and exit.");
  add_data(app, options);
  add_axes(app, options);
  add_search(app, options);
  add_constraints(app, options);
  add_command(app, options);
  add_trials(app, options);
  add_output(app, options);
  add_color(app, options.color);
  add_summaries(app, verbs);

  std::vector<std::string> words = given;
  options.words = given;
  options.command = cut_command(words);
  options.command_line = joined(given);
  if (!parse_words(app, words)) return std::nullopt;
  refuse_late_verb(app);
  check_resume(app, options);
  options.workload_given = app.count("--workload") > 0;
  options.what_if = app.count("--what-if") > 0;
  return options;
}

}  // namespace feedrate
