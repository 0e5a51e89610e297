// SPDX-License-Identifier: Apache-2.0
// What happens to a loader with threads in a child of fork().
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>

#include "feedrate/core/error.hpp"

namespace feedrate::testing {

/// Checks that the loader says in a child that its threads are not there, and gives no batch that
/// this process also gets, and ends at once there; in this process it goes on.
template <class AnyLoader>
void check_after_fork(std::optional<AnyLoader>& loader) {
  for ([[maybe_unused]] const auto& batch : loader->epoch()) continue;  // has the next one's first
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string said;
    try {
      loader->next();
    } catch (const Error& error) {
      said = error.what();
    }
    loader.reset();
    ::_exit(said.find("fork()") == std::string::npos);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(loader->next());
}

}  // namespace feedrate::testing
