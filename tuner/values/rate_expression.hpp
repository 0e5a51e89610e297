// SPDX-License-Identifier: Apache-2.0
// What --rate says: an expression that finds the rate in what a command prints.
#pragma once

#include <optional>
#include <regex>
#include <string>

namespace feedrate {

/// What --rate says: an expression whose one group holds the rate. Its unit is what the command
/// prints; it is taken for samples/s.
class RateExpression {
 public:
  /// `text` is "regex:" and an ECMAScript expression. Throws Error(usage).
  explicit RateExpression(const std::string& text);

  /// What the group of the first match caught; empty where nothing matches.
  std::optional<std::string> caught_in(const std::string& line) const;

  const std::string& text() const noexcept { return text_; }  ///< as it was given

 private:
  std::string text_;
  std::regex expression_;
};

}  // namespace feedrate
