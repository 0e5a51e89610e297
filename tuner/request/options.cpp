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
#include "request/help.hpp"
#include "version.hpp"

namespace feedrate {
namespace {

/// What a run that goes on may be given anew: how it is shown.
constexpr std::array<std::string_view, 5> shown_anew = {"--json", "--quiet", "--verbose",
                                                        "--no-progress", "--color"};

/// Options that stand together in the help.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string name) : app_(app), name_(std::move(name)) {}

  template <class T>
  CLI::Option* option(const char* flag, T& field, const char* type, const std::string& help) const {
    return app_.add_option(flag, field, help)->group(name_)->type_name(type);
  }
  /// One of some words.
  void word(const char* flag, std::string& field, const char* type,
            const std::vector<std::string_view>& words, const char* help) const {
    read(flag, type, help, [&field, flag, words](const std::string& text) {
      field = std::string(words[parse_name(flag, text, words)]);
    });
  }
  /// A whole number from 0 on.
  void count(const char* flag, std::uint64_t& field, const char* help) const {
    read(flag, "N", help,
         [&field, flag](const std::string& text) { field = parse_count(flag, text); });
  }
  void flag(const char* flag, bool& field, const char* help) const {
    app_.add_flag(flag, field, help)->group(name_);
  }

 private:
  void read(const char* flag, const char* type, const char* help,
            const std::function<void(const std::string&)>& reader) const {
    app_.add_option_function<std::string>(flag, reader, help)->group(name_)->type_name(type);
  }

  CLI::App& app_;
  std::string name_;
};

void add_color(CLI::App& app, ColorWish& color) {
  app.add_option_function<std::string>(
         "--color",
         [&color](const std::string& text) {
           color = static_cast<ColorWish>(parse_name("--color", text, {"auto", "always", "never"}));
         },
         "Colours: auto (the default) uses them on a terminal unless NO_COLOR is set; always and "
         "never decide it.")
      ->type_name("WHEN");
}

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
  group.option("--trial-child", options.trial_child, "PID", "")->group("");
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

void add_doctor(CLI::App& app, CommandLine& line) {
  auto* doctor = app.add_subcommand(
      "doctor", "Say what is wrong with this machine for training, and how to mend it.");
  doctor
      ->add_option("--path", line.doctor.path,
                   "The folder or file whose storage is looked at, by default the cache folder.")
      ->type_name("PATH");
  doctor->add_flag("--json", line.doctor.json, "Print JSON instead of text.");
  add_color(*doctor, line.doctor_color);
  doctor->callback([&] { line.verb = Verb::doctor; });
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

/// An empty value is a variable of the user's shell that nobody has set.
void refuse_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "--what-if") continue;  // whose value may be left out
    const auto& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    throw Error(Fault::usage, name + " is empty: give it a value, or leave it out.");
  }
  for (const CLI::App* verb : app.get_subcommands()) refuse_empty(*verb);
}

/// CLI11's own words for what is wrong, as one sentence.
Error refusal(const CLI::ParseError& error) {
  std::string sentence = error.what();
  while (!sentence.empty() && (sentence.back() == '.' || sentence.back() == '\n'))
    sentence.pop_back();
  return Error(Fault::usage, sentence + "; 'autotune --help' lists the options.");
}

std::string joined(const std::vector<std::string>& words) {
  std::string line = "autotune";
  for (const std::string& word : words) (line += ' ') += shell_quoted(word);
  return line;
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& given) {
  CommandLine line;
  CLI::App app(
      "autotune finds out why a GPU or CPU waits while training, and what to set so that it no "
      "longer does.",
      "autotune");
  app.formatter(std::make_shared<FittingHelp>());
  app.set_version_flag("--version", std::string("autotune ") + version + " (" + commit + ")",
                       "Print the version and exit.");
  app.set_help_flag("--help,-h", "Print this help and exit.");
  add_data(app, line.sweep);
  add_axes(app, line.sweep);
  add_search(app, line.sweep);
  add_constraints(app, line.sweep);
  add_command(app, line.sweep);
  add_trials(app, line.sweep);
  add_output(app, line.sweep);
  add_color(app, line.sweep.color);
  app.add_subcommand("workloads", "List the built-in workloads.")->callback([&] {
    line.verb = Verb::workloads;
  });
  add_doctor(app, line);
  app.require_subcommand(0, 1);

  std::vector<std::string> words = given;
  line.sweep.words = given;
  line.sweep.command = cut_command(words);
  line.sweep.command_line = joined(given);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::Success& asked) {  // --help and --version
    line.verb = Verb::nothing;
    app.exit(asked);
    return line;
  } catch (const CLI::ParseError& error) {
    throw refusal(error);
  }
  refuse_empty(app);
  check_resume(app, line.sweep);
  line.sweep.workload_given = app.count("--workload") > 0;
  line.sweep.what_if = app.count("--what-if") > 0;
  return line;
}

}  // namespace feedrate
