// SPDX-License-Identifier: Apache-2.0
#include "script/launch_text.hpp"

#include <algorithm>

#include "feedrate/report/text/shell.hpp"

namespace feedrate {
namespace {

using LaunchWords = std::vector<std::string>;

/// Behind the program itself; of words that come twice the last ones count, as for argparse.
void replace_words(LaunchWords& command, const LaunchWords& old, const LaunchWords& given) {
  auto at = old.empty() ? command.end()
                        : std::find_end(command.begin() + 1, command.end(), old.begin(), old.end());
  if (at != command.end()) {
    at = command.erase(at, at + static_cast<std::ptrdiff_t>(old.size()));
  }
  command.insert(at, given.begin(), given.end());
}

}  // namespace

std::string launch_text(LaunchWords command, const Json& options, const Json& environment) {
  if (options.empty() && environment.empty()) return {};
  for (const Json& option : options) {
    replace_words(command, option.at("words").get<LaunchWords>(),
                  option.at("given").get<LaunchWords>());
  }
  std::string text;
  for (const auto& [name, value] : environment.items()) {
    text += name + "=" + shell_quoted(value.get<std::string>()) + " ";
  }
  return text + shell_line(command);
}

}  // namespace feedrate
