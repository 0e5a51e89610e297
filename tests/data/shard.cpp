// SPDX-License-Identifier: Apache-2.0
#include "feedrate/data/shard.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

namespace feedrate::shard_tests {
namespace {

/// Clears what launchers set, and sets some of it.
void launched_with(std::initializer_list<std::pair<const char*, const char*>> variables) {
  for (const char* name : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                           "PMI_RANK", "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS"}) {
    unsetenv(name);
  }
  for (const auto& [name, value] : variables) setenv(name, value, 1);
}

TEST_CASE("The shard comes from whichever launcher started the process", "[shard]") {
  // Bug: a launcher whose variables are misspelt, so that every rank loads everything.
  launched_with({});
  CHECK(shard_from_environment() == Shard{0, 1});
  launched_with({{"RANK", "3"}, {"WORLD_SIZE", "8"}});
  CHECK(shard_from_environment() == Shard{3, 8});
  launched_with({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  CHECK(shard_from_environment() == Shard{1, 2});
  launched_with({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}});
  CHECK(shard_from_environment() == Shard{1, 4});
  launched_with({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "6"}});
  CHECK(shard_from_environment() == Shard{5, 6});
  launched_with({{"SLURM_PROCID", "5"}});
  CHECK(shard_from_environment() == Shard{0, 1});
}

TEST_CASE("A variable that is no number, or a rank beyond the world, is refused", "[shard]") {
  // Bug: atoi, which reads "two" as rank 0 and trains every rank on the same data.
  launched_with({{"RANK", "two"}, {"WORLD_SIZE", "8"}});
  CHECK_THROWS_AS(shard_from_environment(), Error);
  launched_with({{"RANK", "8"}, {"WORLD_SIZE", "8"}});
  CHECK_THROWS_AS(shard_from_environment(), Error);
  launched_with({});
}

}  // namespace
}  // namespace feedrate::shard_tests
