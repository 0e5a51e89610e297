// SPDX-License-Identifier: Apache-2.0
#include "command/last_words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "trials/last_error.hpp"
#include "trials/pulse.hpp"

namespace feedrate {
namespace {

/// The last lines of an output, joined and printable.
std::string quoted_end(const std::string& output) {
  constexpr std::size_t most = 3, longest = 300;
  std::string text;
  const std::vector<std::string_view> lines = lines_of(output);
  for (std::size_t l = lines.size() - std::min(lines.size(), most); l < lines.size(); ++l) {
    text += (text.empty() ? "" : " / ") + std::string(lines[l]);
  }
  text.erase(0, text.size() - std::min(text.size(), longest));
  return printable(std::move(text));
}

}  // namespace

std::string last_words(const std::string& output) {
  const std::string end = quoted_end(output);
  return end.empty() ? "; it printed nothing" : "; it printed last: \"" + end + "\"";
}

}  // namespace feedrate
