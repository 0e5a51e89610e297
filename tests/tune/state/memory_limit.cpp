// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/state/memory_limit.hpp"

#include <catch2/catch_test_macros.hpp>

#include "formula_machine.hpp"

namespace feedrate::memory_limit_tests {
namespace {

TEST_CASE("What needs too much memory says so in units that suit", "[memory_limit]") {
  // Bug: "1.29e+05 MiB" for 126 GiB, and "9.54e-07 MiB" for a byte. A sample takes 1 MiB.
  FormulaMachine machine([](const Config&) { return 1; }, [](const Config&) { return 1; });
  TuneOptions options;
  options.max_memory_bytes = 1;
  MemoryLimit limit(machine, options);
  CHECK(limit.why_not({.batch = 129'024}) == "needs 126 GiB, more than the 1 B that it may take");
  options.max_memory_bytes = std::uint64_t{40} << 20;
  MemoryLimit larger(machine, options);
  CHECK(larger.why_not({.batch = 40}).empty());
  CHECK(larger.why_not({.batch = 41}) == "needs 41.0 MiB, more than the 40.0 MiB that it may take");
}

}  // namespace
}  // namespace feedrate::memory_limit_tests
