// SPDX-License-Identifier: Apache-2.0
// A gate as annotations of a GitHub workflow: lines that the runner reads on standard output.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "feedrate/report/formats/escapes.hpp"
#include "feedrate/report/gate/gate_text.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// GitHub shows no more than 10 annotations of a kind in a step.
inline constexpr std::size_t most_annotations = 10;

inline std::string annotation(std::string_view kind, const Gate& gate, const std::string& title,
                              const std::string& message) {
  return "::" + std::string(kind) +
         " title=" + property_text("autotune " + gate.verb + ": " + title) +
         "::" + command_text(message) + "\n";
}

}  // namespace detail

/// An error for what fails the build, a warning for what is not decided, and a notice with the
/// verdict. With --undecided fail, what is not decided is an error.
inline std::string annotations_document(const Gate& gate, Undecided undecided) {
  std::string text;
  std::array<std::size_t, 2> written{};
  for (const Failure& failure : failures_of(gate)) {
    const bool error = exit_code_of(failure.conclusion, undecided) == 1;
    if (written[error]++ >= detail::most_annotations) continue;
    text += detail::annotation(error ? "error" : "warning", gate, failure.kind,
                               failure.sentence + " Repeat: " + gate.tool.command_line);
  }
  std::string message = clean_text(gate.subject);
  for (const std::string& note : gate.notes) message += ". " + note;
  return text + detail::annotation("notice", gate, verdict_of(gate), message);
}

}  // namespace feedrate::inline v0
