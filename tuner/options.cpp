// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "version.hpp"

namespace feedrate {
namespace {

const std::map<std::string, ColorWish> color_words = {
    {"auto", ColorWish::automatic}, {"always", ColorWish::always}, {"never", ColorWish::never}};

void add_color(CLI::App& app, ColorWish& color) {
  app.add_option("--color", color,
                 "Colours: auto (the default) uses them on a terminal unless NO_COLOR is set; "
                 "always and never decide it.")
      ->transform(CLI::CheckedTransformer(color_words).description(""))
      ->type_name("WHEN");
}

void add_data(CLI::App& app, SweepOptions& options) {
  const std::string group = "Data and workload";
  app.add_option("--data", options.data,
                 "Tune on your own data: a folder of class folders of JPEG files, or a .npy file "
                 "of samples.")
      ->group(group)
      ->type_name("PATH");
  app.add_option("--labels", options.labels,
                 "The labels of a .npy file of samples: another .npy file, as long. The default "
                 "is class 0 for all.")
      ->group(group)
      ->type_name("FILE");
  app.add_option("--workload", options.workload,
                 "A built-in workload, by default images; 'autotune workloads' lists them.")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--sample-cost", options.sample_cost,
                 "What loading one sample of the workload tabular costs beyond copying it, by "
                 "default 100us.")
      ->group(group)
      ->type_name("TIME");
  app.add_option("--cost", options.cost,
                 "Whether that cost is spent computing (cpu, the default) or waiting (latency).")
      ->group(group)
      ->check(CLI::IsMember({"cpu", "latency"}).description(""))
      ->type_name("KIND");
  app.add_option("--cache", options.cache,
                 "Measure with the samples in the page cache (warm, the default), or dropped from "
                 "it before each round (cold).")
      ->group(group)
      ->check(CLI::IsMember({"warm", "cold"}).description(""))
      ->type_name("MODE");
  app.add_option("--max-skips", options.max_skips,
                 "How many unreadable samples may be skipped, by default 0: the first one ends "
                 "its trial.")
      ->group(group)
      ->type_name("N");
  app.add_flag("--dct-scaling", options.dct_scaling,
               "Let the JPEG decoder shrink large pictures: faster, with pixels that differ by "
               "some levels. Off by default.")
      ->group(group);
}

void add_axes(CLI::App& app, SweepOptions& options) {
  const std::string group = "Axes (a list such as 1,2,4 or a range such as 16:1024:x2)";
  app.add_option("--workers", options.workers,
                 "Threads that load; 0 loads in the training loop. The default doubles up to the "
                 "CPUs, and goes on while it gains.")
      ->group(group)
      ->type_name("LIST");
  app.add_option("--batch", options.batch, "Samples per step. The default depends on the workload.")
      ->group(group)
      ->type_name("LIST");
  app.add_option("--prefetch", options.prefetch,
                 "Batches kept ready ahead of the step, by default 1,4.")
      ->group(group)
      ->type_name("LIST");
  app.add_option("--pinned", options.pinned,
                 "Batches in page-locked memory: on, off or on,off. On the cpu device only off, "
                 "the default, applies.")
      ->group(group)
      ->type_name("LIST");
  app.add_option("--precision", options.precision,
                 "Number formats of the step: fp32, tf32, fp16, bf16. The default on the cpu "
                 "device is fp32,bf16.")
      ->group(group)
      ->type_name("LIST");
  app.add_option("--step-threads", options.step_threads,
                 "Threads of the step on the cpu device, by default half of the CPUs and all.")
      ->group(group)
      ->type_name("LIST");
}

void add_search(CLI::App& app, SweepOptions& options) {
  const std::string group = "Search";
  app.add_option("--budget", options.budget, "How long to tune, by default 60s.")
      ->group(group)
      ->take_last()
      ->type_name("TIME");
  app.add_option("--device", options.device, "The device that trains, by default cpu.")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--objective", options.objective,
                 "What to maximise: utilization (the default), throughput or busy.")
      ->group(group)
      ->type_name("NAME");
  app.add_option("--allow", options.allow,
                 "What may change: safe (nothing in the mathematics), numerics (rounding), "
                 "training (convergence). The default is safe,numerics,training.")
      ->group(group)
      ->type_name("TIERS");
  app.add_option("--seed", options.seed,
                 "The seed of order, augmentation and search, by default 0.")
      ->group(group)
      ->type_name("N");
}

void add_output(CLI::App& app, SweepOptions& options) {
  const std::string group = "Output";
  app.add_option("--output", options.output,
                 "Where the JSON report goes, - for standard output. The default is "
                 "feedrate-WORKLOAD.json in this folder.")
      ->group(group)
      ->type_name("FILE");
  app.add_flag("--json", options.json, "Print the report as JSON instead of the screen.")
      ->group(group);
  app.add_flag("--quiet", options.quiet, "Print nothing but the result and errors.")->group(group);
  app.add_flag("--no-progress", options.no_progress, "Don't say what is being tried.")
      ->group(group);
  app.add_flag("--no-card", options.no_card, "Don't measure the machine card first.")->group(group);
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

std::string joined(int argc, char** argv) {
  std::string line = "autotune";
  for (int i = 1; i < argc; ++i) (line += ' ') += argv[i];
  return line;
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  CLI::App app(
      "autotune finds out why a GPU or CPU waits while training, and what to set so that it no "
      "longer does.",
      "autotune");
  app.set_version_flag("--version", std::string("autotune ") + version + " (" + commit + ")",
                       "Print the version and exit.");
  app.set_help_flag("--help,-h", "Print this help and exit.");
  add_data(app, line.sweep);
  add_axes(app, line.sweep);
  add_search(app, line.sweep);
  add_output(app, line.sweep);
  add_color(app, line.sweep.color);
  app.add_subcommand("workloads", "List the built-in workloads.")->callback([&] {
    line.verb = Verb::workloads;
  });
  add_doctor(app, line);
  app.require_subcommand(0, 1);

  std::vector<std::string> words(argv + 1, argv + argc);
  line.sweep.command = cut_command(words);
  line.sweep.command_line = joined(argc, argv);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    line.verb = Verb::nothing;
    line.exit_code = app.exit(error) == 0 ? 0 : 2;
    return line;
  }
  line.sweep.workload_given = app.count("--workload") > 0;
  return line;
}

}  // namespace feedrate
