// SPDX-License-Identifier: Apache-2.0
#include "request/flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "feedrate/core/error.hpp"
#include "request/help.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

void refuse_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_expected_min() == 0) continue;
    const auto& values = option->results();
    for (const std::string& value : values) refuse_empty_value(option->get_name(), value);
  }
  for (const CLI::App* verb : app.get_subcommands()) refuse_empty(*verb);
}

/// CLI11's own words for what is wrong, as one sentence.
Error refusal(const CLI::App& app, const CLI::ParseError& error) {
  std::string sentence = error.what();
  while (!sentence.empty() && (sentence.back() == '.' || sentence.back() == '\n'))
    sentence.pop_back();
  return Error(Fault::usage, sentence + "; '" + app.get_name() + " --help' lists the options.");
}

}  // namespace

void refuse_empty_value(const std::string& flag, const std::string& text) {
  if (text.empty())
    throw Error(Fault::usage, flag + " is empty: give it a value, or leave it out.");
}

void add_color(CLI::App& app, ColorWish& color) {
  app.add_option_function<std::string>(
         "--color",
         [&color](const std::string& text) {
           color = static_cast<ColorWish>(parse_name("--color", text, {"auto", "always", "never"}));
         },
         "Colours: auto, always or never. Default: auto, which means on a terminal, unless "
         "NO_COLOR "
         "is set.")
      ->type_name("WHEN");
}

bool parse_words(CLI::App& app, std::vector<std::string> words, const std::string& usage) {
  app.formatter(std::make_shared<FittingHelp>(usage));
  app.set_help_flag("--help,-h", "Print this help and exit.");
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::Success& asked) {  // --help and --version
    app.exit(asked);
    return false;
  } catch (const CLI::ParseError& error) {
    throw refusal(app, error);
  }
  refuse_empty(app);
  return true;
}

}  // namespace feedrate
