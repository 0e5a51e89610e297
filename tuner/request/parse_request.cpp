// SPDX-License-Identifier: Apache-2.0
#include "request/parse_request.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "feedrate/core/error.hpp"
#include "feedrate/report/gate/of_report.hpp"
#include "feedrate/report/text/shell.hpp"
#include "request/check_request.hpp"
#include "request/gate_flags.hpp"
#include "request/option_group.hpp"
#include "request/run_flags.hpp"
#include "request/version.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

/// What goes with --resume: how the run is shown, and consent to launch its command.
constexpr std::array<std::string_view, 6> beside_resume = {"--json",        "--quiet", "--verbose",
                                                           "--no-progress", "--color", "--yes"};

constexpr const char* usage = "autotune [OPTIONS] [-- COMMAND...]\n       autotune VERB [OPTIONS]";

/// What is read once all flags are known.
struct LateTexts {
  std::string against, what_if;
  std::vector<std::string> templates;
};

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

void add_trials(CLI::App& app, TuneRequest& request) {
  const OptionGroup group(app, "Trials");
  group.value("--trial-timeout", request.trial_timeout_s, "TIME",
              "Kill a trial that finishes no batch for this long. Preparing the data may take five "
              "times as long without a sign of life. Default: 60s.",
              parse_seconds);
  group.flag("--in-process", request.in_process,
             "Run trials in this process, for debuggers: a crash ends the run.");
  const std::string help =
      "Continue a run that was killed, from the journal beside its report. Only " +
      listed(beside_resume) + " may be combined with it.";
  group.text("--resume", request.resume, "REPORT", help.c_str());
}

void add_late(CLI::App& app, LateTexts& texts) {
  OptionGroup(app, "Axes (LIST is 1,2,4 or 16:1024:x2)")
      .text("--against", texts.against, "PAIRS",
            "The config that you use now, such as workers=8,batch=64; gains are relative to it. "
            "Other axes keep the usual value: no workers, batch 32, fp32. Workers without a "
            "prefetch get prefetch 2, PyTorch's default.");
  app.add_option(
         "--what-if", texts.what_if,
         "At the end, measure the speed without one cost at a time: decoding, "
         "augmentation, the step, the loader; takes up to 20 s more. For a script: how fast "
         "its loop would be with bf16, TF32, channels_last, a fused or foreach "
         "optimizer, non_blocking copies or torch.compile (about 2 min more at most); with bf16 or "
         "fp16 named, only in that precision.")
      ->group("Search")
      ->type_name("[PRECISION]")
      ->expected(0, 1);
  app.add_option("--set", texts.templates,
                 "How the command takes a value: batch='--bs {}' as an argument, workers=env:NAME "
                 "as a variable. The command is then launched again for each config. Repeatable.")
      ->group("Your own command (after --)")
      ->type_name("AXIS=TEMPLATE")
      ->expected(1)
      ->take_all();
}

void read_late(const LateTexts& texts, TuneRequest& request) {
  if (!texts.against.empty()) {
    request.against = parse_against(texts.against, request.constraints.effective_batch);
  }
  if (!texts.what_if.empty()) request.search.what_if_precision = parse_what_if(texts.what_if);
  request.command.templates = parse_templates(texts.templates);
}

/// A resumed run has its options already; how it is shown may be said again.
void check_resume(const CLI::App& app, const TuneRequest& request) {
  if (request.is_command()) {
    throw Error(Fault::usage,
                "--resume takes its command from the journal: leave out the command behind --.");
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool fits =
        std::find(beside_resume.begin(), beside_resume.end(), name) != beside_resume.end();
    if (option->count() == 0 || fits || name == "--resume") continue;
    throw Error(Fault::usage,
                "--resume takes its options from the journal: leave out " + name + ".");
  }
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

/// The other verbs, which the help lists.
void add_summaries(CLI::App& app, const std::vector<VerbSummary>& verbs) {
  for (const VerbSummary& verb : verbs) {
    app.add_subcommand(verb.name, verb.text)->prefix_command()->group("Verbs");
  }
}

/// A verb behind options is not taken for one.
void refuse_late_verb(const CLI::App& app) {
  for (const CLI::App* verb : app.get_subcommands()) {
    throw Error(Fault::usage, "'" + verb->get_name() + "' must come first: write autotune " +
                                  verb->get_name() + ", and its options after it.");
  }
}

void add_flags(CLI::App& app, TuneRequest& request, LateTexts& late) {
  app.set_version_flag("--version", std::string("autotune ") + version + " (" + commit + ")",
                       "Print the version and exit.");
  add_data(app, request.data);
  add_axes(app, request.axes);
  add_late(app, late);
  add_search(app, request.search);
  add_device(app, request.device);
  add_constraints(app, request.constraints);
  add_command(app, request.command);
  add_gate(app, request.gate, kinds_in(run_metrics));
  add_trials(app, request);
  add_output(app, request.output);
  OptionGroup(app, "Output")
      .off("--no-card", request.measure_card, "Do not measure the machine card first.");
  add_color(app, request.output.color);
}

}  // namespace

std::optional<TuneRequest> parse_request(const std::vector<std::string>& given,
                                         const std::vector<VerbSummary>& verbs) {
  TuneRequest request;
  request.words = given;
  request.command_line = shell_line({"autotune"}, given);
  LateTexts late;
  CLI::App app("autotune finds out why a GPU or CPU waits during training, and what to change.",
               "autotune");
  add_flags(app, request, late);
  add_summaries(app, verbs);
  std::vector<std::string> words = given;
  request.command.words = cut_command(words);
  if (!parse_words(app, words, usage)) return std::nullopt;
  refuse_late_verb(app);
  request.search.what_if = app.count("--what-if") > 0;
  if (!request.resume.empty()) {
    check_resume(app, request);
    return request;
  }
  read_late(late, request);
  check_request(request);
  return request;
}

}  // namespace feedrate
