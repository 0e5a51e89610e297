// SPDX-License-Identifier: Apache-2.0
// Reads the command line of a verb: shared by all verbs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace feedrate {

/// A verb as the help lists it.
struct VerbSummary {
  std::string name;
  std::string text;  ///< one sentence
};

/// Which colours: the terminal decides, or the user.
enum class ColorWish : std::uint8_t { automatic, always, never };

/// Adds --color.
void add_color(CLI::App& app, ColorWish& color);

/// Throws Error(usage) on an empty value: a variable of the user's shell that nobody has set.
void refuse_empty_value(const std::string& flag, const std::string& text);

/// Adds --help and reads the words. Prints the help or the version where that is asked for, and
/// returns false then. `usage` are the lines of the help that say how it is written; empty: NAME
/// [OPTIONS]. Throws Error(usage) on what the app does not know, and on empty values.
bool parse_words(CLI::App& app, std::vector<std::string> words, const std::string& usage = "");

}  // namespace feedrate
