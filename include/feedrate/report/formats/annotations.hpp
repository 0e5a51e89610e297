// SPDX-License-Identifier: Apache-2.0
// A gate as annotations of a GitHub workflow: lines that the runner reads on standard output.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/formats/escapes.hpp"
#include "feedrate/report/gate/gate_sentences.hpp"

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

/// The last one that GitHub shows says how many more there are.
inline std::string annotations_of(std::string_view kind, const Gate& gate,
                                  const std::vector<Failure>& failures) {
  const bool all = failures.size() <= most_annotations;
  const std::size_t shown = all ? failures.size() : most_annotations - 1;
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += annotation(kind, gate, failures[i].kind,
                       failures[i].sentence + " Repeat: " + gate.tool.command_line);
  }
  if (all) return text;
  return text + annotation(kind, gate, "and " + format_count(failures.size() - shown) + " more",
                           "Repeat: " + gate.tool.command_line);
}

}  // namespace detail

/// An error for what fails the build, a warning for what is not decided, and a notice with the
/// verdict. With --undecided fail, what is not decided is an error.
inline std::string annotations_document(const Gate& gate, Undecided undecided) {
  std::array<std::vector<Failure>, 2> of_kind;
  for (const Failure& failure : failures_of(gate)) {
    of_kind[exit_code_of(failure.conclusion, undecided) == 1 ? 0 : 1].push_back(failure);
  }
  std::string message = clean_text(gate.subject);
  for (const std::string& note : gate.notes) message += ". " + note;
  return detail::annotations_of("error", gate, of_kind[0]) +
         detail::annotations_of("warning", gate, of_kind[1]) +
         detail::annotation("notice", gate, verdict_of(gate), message);
}

}  // namespace feedrate::inline v0
