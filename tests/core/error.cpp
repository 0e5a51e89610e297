// SPDX-License-Identifier: Apache-2.0
// Tests of core/error.hpp.
#include "feedrate/core/error.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

TEST_CASE("an error keeps its fault and its sentence when it is caught as a standard exception") {
  // Bug: a fault that is lost or replaced on its way, so that the command exits with another
  // code.
  try {
    throw feedrate::Error(feedrate::Fault::data, "There is no folder 'x'; name one that exists.");
  } catch (const std::exception& caught) {
    const auto* error = dynamic_cast<const feedrate::Error*>(&caught);
    REQUIRE(error != nullptr);
    CHECK(error->fault() == feedrate::Fault::data);
    CHECK(std::string(error->what()) == "There is no folder 'x'; name one that exists.");
  }
}
