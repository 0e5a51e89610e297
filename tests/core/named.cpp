// SPDX-License-Identifier: Apache-2.0
#include "feedrate/core/named.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <string_view>

namespace feedrate::named_tests {
namespace {

struct Animal {
  std::string_view name, sound;
};

constexpr std::array<Animal, 2> animals = {{{"cat", "purrs"}, {"dog", "barks"}}};

TEST_CASE("An entry is found by its name, and all names are listed", "[named]") {
  // Bug: the neighbour of what was asked for, or a list without the last entry.
  CHECK(entry_named(animals, "dog", "animal").sound == "barks");
  CHECK(names_in(animals) == std::array<std::string_view, 2>{"cat", "dog"});
  CHECK(listed_names(animals) == "cat, dog");
}

TEST_CASE("A name that is not in the table is refused with those that are", "[named]") {
  // Bug: the first entry in silence, or a refusal that does not say what to write.
  CHECK_THROWS_MATCHES(entry_named(animals, "cow", "animal"), Error,
                       Catch::Matchers::Message("There is no animal 'cow'; use one of cat, dog."));
}

}  // namespace
}  // namespace feedrate::named_tests
