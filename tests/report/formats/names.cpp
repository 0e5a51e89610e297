// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/formats/names.hpp"

#include <catch2/catch_test_macros.hpp>

#include "gate/example_gate.hpp"

namespace feedrate::names_tests {
namespace {

TEST_CASE("Names are clean, not empty, and each only once") {
  // Bug: two names that differ in invalid bytes alone, of which the second overwrites the first.
  Gate gate = testing::empty_gate();
  for (const char* name : {"a\xff", "a\xfe", "", "a\uFFFD (2)", "b"}) {
    gate.metrics.push_back(testing::example_metric(name, 0, Conclusion::pass));
  }
  CHECK(unique_names(gate) ==
        std::vector<std::string>{"a\uFFFD", "a\uFFFD (2)", "unnamed", "a\uFFFD (2) (2)", "b"});
}

}  // namespace
}  // namespace feedrate::names_tests
