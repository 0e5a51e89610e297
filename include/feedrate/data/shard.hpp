// SPDX-License-Identifier: Apache-2.0
// A shard: the part of a dataset that one of several training processes reads.
#pragma once

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "feedrate/core/error.hpp"

namespace feedrate::inline v0 {

/// Process `rank` of `world`; 0 <= rank < world.
struct Shard {
  int rank = 0;   ///< of this process, from 0
  int world = 1;  ///< processes in all

  bool operator==(const Shard&) const = default;
};

namespace detail {

inline std::optional<int> integer_from(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return std::nullopt;
  const std::string_view digits(text);
  int value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (error != std::errc{} || end != digits.end()) {
    throw Error(Fault::usage, "The environment variable " + std::string(name) + " is '" +
                                  std::string(text) + "', which is not a whole number.");
  }
  return value;
}

}  // namespace detail

/// Throws Error(usage) unless 0 <= rank < world.
inline Shard checked(Shard shard) {
  if (shard.rank >= 0 && shard.rank < shard.world) return shard;
  throw Error(Fault::usage, "Rank " + std::to_string(shard.rank) + " of " +
                                std::to_string(shard.world) +
                                " makes no sense: ranks count from 0 to world size - 1.");
}

/// The shard that the launcher of this process chose: torchrun (RANK, WORLD_SIZE), Open MPI
/// (OMPI_COMM_WORLD_*), MPICH and Intel MPI (PMI_*), Slurm (SLURM_PROCID, SLURM_NTASKS); {0, 1}
/// where none of them is set.
inline Shard shard_from_environment() {
  constexpr std::array<std::pair<const char*, const char*>, 4> launchers = {
      {{"RANK", "WORLD_SIZE"},
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"PMI_RANK", "PMI_SIZE"},
       {"SLURM_PROCID", "SLURM_NTASKS"}}};
  for (const auto& [rank_name, world_name] : launchers) {
    const auto rank = detail::integer_from(rank_name);
    const auto world = detail::integer_from(world_name);
    if (rank && world) return checked({*rank, *world});
  }
  return {};
}

}  // namespace feedrate::inline v0
