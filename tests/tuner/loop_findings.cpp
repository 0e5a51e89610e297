// SPDX-License-Identifier: Apache-2.0
#include "script/loop_findings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace feedrate::loop_findings_tests {
namespace {

using Sentences = std::vector<std::string>;

/// What the answer to a round says of a loop of which nothing is to be told.
Json quiet() {
  return {{"made_anew", false},
          {"data_errors", nullptr},
          {"batches_per_update", nullptr},
          {"waits_for", nullptr},
          {"sets", ""}};
}

TEST_CASE("Of a loop without faults nothing is told", "[loop_findings]") {
  LoopFindings findings;
  findings.read({quiet()});
  Script script;
  findings.tell(script);
  CHECK(findings.warnings(true, true).empty());
  CHECK_FALSE(script.waits_for_other());
  CHECK(script.batches_per_update == 0);
}

TEST_CASE("What a round has shown of a loop stays known", "[loop_findings]") {
  // Bug: what one round has seen is forgotten by the next, which sees nothing of it.
  LoopFindings findings;
  Json answer = quiet();
  answer["data_errors"] = {{"error", "ValueError: no (data.py:3)"}, {"count", 1}};
  answer["batches_per_update"] = 4;
  answer["waits_for"] = {{"loader", "unlabelled"}, {"share", 0.25}};
  answer["sets"] = "size";
  findings.read({answer});
  findings.read({quiet()});
  Script script;
  findings.tell(script);
  CHECK(script.waits_for_other());
  CHECK(script.other_loader == "unlabelled");
  CHECK(script.batches_per_update == 4);
  CHECK(findings.dataset_sets() == "size");
  CHECK(findings.warnings(false, true).size() ==
        1);  // workers that start in each epoch see what is new
  const Sentences told = findings.warnings(true, true);
  REQUIRE(told.size() == 2);
  CHECK(told[0].starts_with("The script's own data failed in 1 batch, which was left out"));
  CHECK(told[1].starts_with("The script changes these values of its dataset"));
}

TEST_CASE("A loader that the script made again is made in each epoch", "[loop_findings]") {
  // Bug: no warning where the last round lay in the first epoch of a launch.
  LoopFindings findings;
  Json answer = quiet();
  answer["made_anew"] = true;
  findings.read({answer});
  findings.read({quiet()});
  CHECK(findings.warnings(true, true).at(0).starts_with("The script makes its DataLoader"));
}

TEST_CASE("Errors in the data of any rank are told", "[loop_findings]") {
  // Bug: the corrupt record lies in the part of rank 1, and nobody hears of it.
  LoopFindings findings;
  Json answer = quiet();
  answer["data_errors"] = {{"error", "ValueError: no (data.py:3)"}, {"count", 2}};
  findings.read({quiet(), answer, answer});
  CHECK(findings.warnings(true, true)
            .at(0)
            .starts_with("The script's own data failed in 4 batches, which were left out, whatever "
                         "the settings: "
                         "ValueError: no"));
}

TEST_CASE("What steps change in the dataset matters to a script that gets workers",
          "[loop_findings]") {
  // Bug: workers recommended as a safe change to a loop that fills its own buffer.
  LoopFindings findings;
  Json answer = quiet();
  answer["sets_in_step"] = "buffer";
  findings.read({answer});
  CHECK(findings.warnings(true, true).empty());
  CHECK(
      findings.warnings(true, false)
          .at(0)
          .starts_with(
              "The steps of the script change these values of its dataset: buffer. Workers keep"));
}

TEST_CASE("What a script died of is told with how often that was", "[loop_findings]") {
  // Bug: "the last time The script ended".
  LoopFindings findings;
  findings.add_death("The script ended by itself with exit code 1.");
  CHECK(findings.warnings(false, true).at(0) ==
        "The script ended by itself with exit code 1. It was launched again with the same settings "
        "and went on.");
  findings.add_death("The script was killed.");
  CHECK(findings.warnings(false, true).at(0) ==
        "The script was killed. It was launched again with the same settings and went on (2 times "
        "in all).");
}

}  // namespace
}  // namespace feedrate::loop_findings_tests
