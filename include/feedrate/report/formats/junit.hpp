// SPDX-License-Identifier: Apache-2.0
// A gate as JUnit XML: a test case for each metric that is judged and for each requirement.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/formats/escapes.hpp"
#include "feedrate/report/gate/gate_sentences.hpp"

namespace feedrate::inline v0 {
namespace detail {

struct JunitCase {
  std::string name;
  Conclusion conclusion = Conclusion::pass;
  std::string kind;      ///< such as "not met"
  std::string sentence;  ///< empty where it passed
};

/// What could not be compared at all is a test case too: a file without any looks like a success.
inline std::vector<JunitCase> junit_cases(const Gate& gate) {
  std::vector<JunitCase> cases;
  if (gate.overruled) {
    std::string why;
    for (const std::string& note : gate.notes) why += (why.empty() ? "" : " ") + note;
    cases.push_back({"the whole run", *gate.overruled, words_of(*gate.overruled), why});
  }
  for (const GateMetric& metric : gate.metrics) {
    if (!metric.conclusion) continue;
    cases.push_back(
        {metric.name, *metric.conclusion, words_of(*metric.conclusion), sentence_of(metric)});
  }
  for (const GateRequirement& requirement : gate.requirements) {
    cases.push_back({requirement.text, conclusion_of(requirement.fulfilment),
                     words_of(requirement.fulfilment), sentence_of(gate, requirement)});
  }
  return cases;
}

/// `failure`, `skipped`, or nothing.
inline std::string_view junit_element(Conclusion conclusion, Undecided undecided) {
  const int code = exit_code_of(conclusion, undecided);
  if (conclusion == Conclusion::pass) return {};
  return code == 1 ? "failure" : "skipped";
}

inline std::string case_text(const Gate& gate, const JunitCase& one, Undecided undecided) {
  const std::string element(junit_element(one.conclusion, undecided));
  const std::string opening = "    <testcase classname=\"autotune." + xml_text(gate.verb) +
                              "\" name=\"" + xml_text(one.name) + "\"";
  if (element.empty()) return opening + "/>\n";
  std::string text =
      opening + ">\n      <" + element + " message=\"" + xml_text(one.sentence) + "\"";
  if (element == "failure") text += " type=\"" + xml_text(one.kind) + "\"";
  text += ">" + xml_text(one.kind + ": " + one.sentence + " Repeat: " + gate.tool.command_line);
  return text + "</" + element + ">\n    </testcase>\n";
}

/// tests="3" failures="1" errors="0" skipped="1" time="12.500"
inline std::string junit_counts(const Gate& gate, const std::vector<JunitCase>& cases,
                                Undecided undecided) {
  std::size_t failures = 0, skipped = 0;
  for (const JunitCase& one : cases) {
    const std::string_view element = junit_element(one.conclusion, undecided);
    failures += element == "failure";
    skipped += element == "skipped";
  }
  return " tests=\"" + std::to_string(cases.size()) + "\" failures=\"" + std::to_string(failures) +
         "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\" time=\"" +
         fixed(gate.tool.wall_s, 3) + "\"";
}

}  // namespace detail

/// Slower and not met are failures. Inconclusive and not comparable are skipped, with the reason;
/// failures with --undecided fail.
inline std::string junit_document(const Gate& gate, Undecided undecided) {
  const auto cases = detail::junit_cases(gate);
  const std::string counts = detail::junit_counts(gate, cases, undecided);
  const std::string started = gate.tool.started_at.substr(0, 19);  // JUnit's times have no zone
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"autotune " +
                     xml_text(gate.verb) + "\"" + counts + ">\n  <testsuite name=\"" +
                     xml_text(gate.subject) + "\"" + counts;
  if (!started.empty()) text += " timestamp=\"" + xml_text(started) + "\"";
  text += ">\n";
  for (const auto& one : cases) text += detail::case_text(gate, one, undecided);
  text += "    <system-out>" + xml_text(verdict_of(gate));
  for (const std::string& note : gate.notes) text += "\n" + xml_text(note);
  return text + "</system-out>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace feedrate::inline v0
