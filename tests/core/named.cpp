// SPDX-License-Identifier: Apache-2.0
#include "feedrate/core/named.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <string_view>

namespace feedrate::named_tests {
namespace {

struct Animal {
  std::string_view name, help;
};

constexpr std::array<Animal, 2> animals = {{{"cat", "purrs"}, {"dog", "barks"}}};

TEST_CASE("An entry is found by its name, and the help lists all", "[named]") {
  // Bug: the neighbour of what was asked for, or a help that leaves out the last entry.
  CHECK(entry_named(animals, "dog", "animal").help == "barks");
  CHECK(names_in(animals) == std::array<std::string_view, 2>{"cat", "dog"});
  CHECK(help_of(animals) == "cat (purrs), dog (barks)");
}

TEST_CASE("A name that is not in the table is refused with those that are", "[named]") {
  // Bug: the first entry in silence, or a refusal that does not say what to write.
  CHECK_THROWS_MATCHES(entry_named(animals, "cow", "animal"), Error,
                       Catch::Matchers::Message("There is no animal 'cow'; use one of cat, dog."));
}

}  // namespace
}  // namespace feedrate::named_tests
