// SPDX-License-Identifier: Apache-2.0
#include "request/run_flags.hpp"

#include <array>
#include <string_view>

#include "feedrate/core/named.hpp"
#include "feedrate/tune/objective/objectives.hpp"
#include "feedrate/tune/search/strategies.hpp"
#include "request/option_group.hpp"
#include "request/search_options.hpp"
#include "values/axes.hpp"
#include "values/price.hpp"

namespace feedrate {
namespace {

std::uint64_t count(const char* flag, const std::string& text) {
  return parse_count(flag, text);
}

int batch_or_workers(const char* flag, const std::string& text) {
  return parse_integer(flag, text, 1, most_batch);
}

/// The value of an enum by its name.
template <class Enum, class Names>
auto one_of(const Names& names) {
  return [&names](const char* flag, const std::string& text) {
    return static_cast<Enum>(parse_name(flag, text, {names.begin(), names.end()}));
  };
}

/// A name that a table has.
template <class Table>
auto name_in(const Table& table) {
  return [names = names_in(table)](const char* flag, const std::string& text) {
    return std::string(names[parse_name(flag, text, {names.begin(), names.end()})]);
  };
}

constexpr std::array<std::string_view, 2> cost_names = {"cpu", "latency"};
constexpr std::array<std::string_view, 2> cache_names = {"warm", "cold"};

}  // namespace

void add_data(CLI::App& app, DataRequest& data) {
  const OptionGroup group(app, "Data and workload");
  group.text("--data", data.path, "PATH",
             "Tune on your own data: a folder with one folder of JPEG files per class, or a .npy "
             "file.");
  group.text("--labels", data.labels, "FILE",
             "A .npy file with the labels of a .npy file. Default: class 0 for every sample.");
  group.value("--workload", data.workload, "NAME",
              "Tune a built-in workload. 'autotune workloads' lists them. Default: images.",
              [](const char*, const std::string& text) { return text; });
  group.value("--sample-cost", data.sample_cost_s, "TIME",
              "Extra time to load one sample of the workload tabular. Default: 100us.",
              parse_seconds);
  group.value("--cost", data.cost, "KIND",
              "Spend that time computing (cpu) or waiting (latency). Default: cpu.",
              one_of<Cost>(cost_names));
  group.value("--cache", data.cache, "MODE",
              "warm: samples are in the page cache. cold: samples are dropped from it before each "
              "round. Default: warm.",
              one_of<CacheMode>(cache_names));
  group.value("--max-skips", data.max_skips, "N",
              "Skip up to N unreadable samples. Default: 0, the first one ends its trial.", count);
  group.flag("--dct-scaling", data.dct_scaling,
             "Let the JPEG decoder shrink large pictures. Faster, but pixels differ slightly. "
             "Default: off.");
}

void add_axes(CLI::App& app, RequestedAxes& axes) {
  const OptionGroup group(app, "Axes (LIST is 1,2,4 or 16:1024:x2)");
  for_each_axis([&](const auto& axis) {
    if (!axis.values) return;
    group.read(flag_of(axis.name), "LIST", std::string(axis.help),
               [&axes, name = axis.name](const std::string& text) { axes.read(name, text); });
  });
}

void add_search(CLI::App& app, SearchRequest& search) {
  const OptionGroup group(app, "Search");
  group
      .value("--budget", search.budget_s, "TIME",
             "How long to tune. Default: 60s; 30s for a script, plus its start; 120s for a command "
             "that is launched again for each config.",
             parse_seconds)
      ->take_last();
  group.value("--objective", search.objective, "NAME",
              "What to maximise: " + listed_names(objectives) +
                  ". utilization and throughput rank by the rate, mfu needs the machine card, "
                  "samples_per_joule needs a power meter. Default: utilization.",
              name_in(objectives));
  group.value("--search", search.strategy, "NAME",
              "How configs are chosen: " + listed_names(strategies) +
                  ". Default: model. A command that is launched again for each config can't use "
                  "model.",
              name_in(strategies));
  group.value("--allow", search.allowed, "TIERS",
              "What may change: safe (same mathematics), processes (how a script's workers start), "
              "numerics (rounding), training (convergence). Default: safe,numerics,training; for "
              "a script: safe.",
              parse_tiers);
  group.value(
      "--wider-gain", search.wider_gain, "PERCENT",
      "Recommend a change of processes, rounding or convergence only if it is proved to gain "
      "this much more. Default: 5%.",
      parse_percent);
  group.value("--seed", search.seed, "N",
              "Seed of sample order, augmentation and search. Default: 0.", count);
}

void add_device(CLI::App& app, DeviceName& device) {
  OptionGroup(app, "Search")
      .value("--device", device, "NAME",
             "The device that trains: cpu; cuda, cuda:1 or cuda:GPU-UUID (number or UUID of "
             "nvidia-smi -L); emulated:h100/resnet50 or emulated:SECONDS@BATCH, which only take "
             "time. Default: the first usable GPU, else the cpu.",
             [](const char*, const std::string& text) { return parse_device(text); });
}

void add_constraints(CLI::App& app, Constraints& constraints) {
  const OptionGroup group(app, "Constraints");
  group.value("--max-memory", constraints.max_memory_bytes, "SIZE",
              "Skip configs that need more memory for batches and step, such as 500MB or 1.5GiB.",
              parse_bytes);
  group.value("--max-device-memory", constraints.max_device_memory_bytes, "SIZE",
              "Skip configs that need more GPU memory. Default: 90 % of what is free.",
              parse_bytes);
  group.value("--max-workers", constraints.max_workers, "N", "Never try more workers.",
              batch_or_workers);
  group.value("--max-batch", constraints.max_batch, "N", "Never try a larger batch.",
              batch_or_workers);
  group.value("--effective-batch", constraints.effective_batch, "N",
              "Keep N samples per update: smaller batches accumulate gradients, so that "
              "convergence and learning rate stay the same.",
              batch_or_workers);
}

void add_command(CLI::App& app, CommandRequest& command) {
  const OptionGroup group(app, "Your own command (after --)");
  group.value("--rate", command.rate, "EXPR",
              "Read the speed from the output: 'regex:([0-9.]+) img/s'. Not needed for scripts "
              "that train from PyTorch's DataLoader, nor for programs that report their speed.",
              [](const char*, const std::string& text) { return RateExpression(text); });
  group.text("--loader", command.loader, "N|NAME",
             "The DataLoader of a script to tune: its number in order of creation, or its "
             "variable. Default: the one whose loop trains.");
  group.text("--workdir", command.folder, "DIR", "Run the command in DIR. Default: here.");
  group.text("--patch", command.patch, "FILE",
             "Write the recommended change of a script to FILE, as git apply takes it. Empty where "
             "nothing changes.");
  group.flag("--apply", command.apply,
             "At the end, ask whether to change the script as recommended. The old one stays as "
             "FILE.orig.");
  group.flag("--yes", command.yes, "With --apply or --resume: do not ask.");
  group.flag("--train", command.train,
             "At the end, launch the script with the recommended settings for its whole training, "
             "and return its exit code.");
  group.flag(
      "--keep-state", command.keep_state,
      "Launch the command in copies of its folder, each removed afterwards: checkpoints stay "
      "as they are, and --train goes on from them.");
  group.flag("--keep-trackers", command.keep_trackers,
             "Keep experiment trackers on (Weights & Biases, Comet, Neptune, ...).");
  group.off("--no-confirm", command.confirm,
            "Do not confirm the recommendation in fresh processes at the end.");
}

void add_output(CLI::App& app, OutputRequest& output) {
  const OptionGroup group(app, "Output");
  group.text("--output", output.file, "FILE",
             "Write the JSON report to FILE; - is standard output. Default: "
             "feedrate-WORKLOAD.json in this folder.");
  group.flag("--json", output.json, "Print the report as JSON instead of the screen.");
  group.flag("--quiet", output.quiet, "Print only the result and errors.");
  group.flag("--verbose", output.verbose, "Print everything that was measured, not one screen.");
  group.value("--price", output.price, "AMOUNT/h",
              "Also say what waiting for data costs, if the machine costs so much, such as 3.50/h "
              "or '3.50 EUR/h'.",
              parse_price);
  group.off("--no-progress", output.progress, "Do not show what is being tried.");
}

}  // namespace feedrate
