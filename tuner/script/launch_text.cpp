// SPDX-License-Identifier: Apache-2.0
#include "script/launch_text.hpp"

#include <algorithm>
#include <filesystem>

#include "feedrate/report/text/shell.hpp"

namespace feedrate {
namespace {

using LaunchWords = std::vector<std::string>;

/// Behind the script, of whose arguments there are so many: new words go before its subcommand,
/// where they belong there, and never behind "--". Of words that come twice the last ones count, as
/// for argparse.
void replace_words(LaunchWords& command, std::ptrdiff_t arguments, const Json& option) {
  const auto old = option.at("words").get<LaunchWords>();
  const auto given = option.at("given").get<LaunchWords>();
  const auto begin = command.end() - arguments;
  auto at = std::find(begin, command.end(), "--");
  if (option.value("first", false)) at = begin;
  if (const auto last = std::find_end(begin, command.end(), old.begin(), old.end());
      !old.empty() && last != command.end())
    at = command.erase(last, last + static_cast<std::ptrdiff_t>(old.size()));
  command.insert(at, given.begin(), given.end());
}

/// Whether the command ends with the script and its arguments: other words would go to whoever
/// launches it.
bool gives_arguments(const LaunchWords& command, const LaunchWords& argv) {
  if (argv.empty() || argv.size() > command.size()) return false;
  const auto script = command.end() - static_cast<std::ptrdiff_t>(argv.size());
  if (!std::equal(argv.begin() + 1, argv.end(), script + 1)) return false;
  if (argv.front() == "-m" || script->find(' ') != std::string::npos)
    return *script == argv.front();
  using Path = std::filesystem::path;
  return Path(*script).filename() == Path(argv.front()).filename();
}

std::string set_to(const std::string& variable, const Json& value) {
  return variable + "=" + shell_quoted(value.get<std::string>());
}

/// The word by which `env NAME=VALUE ... COMMAND` sets a variable, whatever is set before it; null
/// where there is none.
std::string* word_of_env(LaunchWords& command, const std::string& name) {
  if (command.empty() || std::filesystem::path(command.front()).filename() != "env") return nullptr;
  std::string* last = nullptr;
  for (auto word = command.begin() + 1; word != command.end(); ++word) {
    if (!word->starts_with('-') && word->find('=') == word->npos) break;
    if (word->starts_with(name + "=")) last = &*word;
    const bool takes_word = *word == "-u" || *word == "-C";
    if (takes_word && word + 1 != command.end()) ++word;
  }
  return last;
}

/// "Give the script -j 8, without --timeout 9, and WORKERS=8, where it is launched."
std::string advice(const Json& options, const Json& environment) {
  LaunchWords given, gone;
  for (const Json& option : options) {
    const auto words = option.at("given").get<LaunchWords>();
    const auto old = option.at("words").get<LaunchWords>();
    given.insert(given.end(), words.begin(), words.end());
    if (words.empty()) gone.insert(gone.end(), old.begin(), old.end());
  }
  if (given.empty() && gone.empty()) {
    std::string text;
    for (const auto& [name, value] : environment.items())
      text += (text.empty() ? "Set " : " and ") + set_to(name, value);
    return text + " where the script is launched.";
  }
  if (given.empty()) {
    std::string text = "Launch the script without " + shell_line(gone);
    for (const auto& [name, value] : environment.items()) text += ", with " + set_to(name, value);
    return text + ".";
  }
  std::string text = "Give the script " + shell_line(given);
  if (!gone.empty()) text += ", without " + shell_line(gone) + ",";
  for (const auto& [name, value] : environment.items()) text += " and " + set_to(name, value);
  return text + " where it is launched.";
}

}  // namespace

std::string launch_text(LaunchWords command, const LaunchWords& argv, const Json& options,
                        const Json& environment) {
  if (options.empty() && environment.empty()) return {};
  if (!options.empty() && !gives_arguments(command, argv)) return advice(options, environment);
  const std::size_t names = argv.size() > 1 && argv.front() == "-m" ? 2 : 1;
  const auto before = static_cast<std::ptrdiff_t>(command.size() - argv.size() + names);
  for (const Json& option : options)
    replace_words(command, static_cast<std::ptrdiff_t>(command.size()) - before, option);
  std::string text, plain;
  for (const auto& [name, value] : environment.items()) {
    if (std::string* const own = word_of_env(command, name)) {
      *own = name + "=" + value.get<std::string>();
    } else {
      text += set_to(name, value) + " ";
    }
  }
  for (const std::string& word : command) plain += (plain.empty() ? "" : " ") + shell_quoted(word);
  const std::string line = shell_line(command);
  return line == plain ? text + line : advice(options, environment);  // a secret is not shown
}

}  // namespace feedrate
