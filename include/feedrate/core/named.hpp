// SPDX-License-Identifier: Apache-2.0
// Tables whose entries have names: how something is found by what the user calls it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "feedrate/core/error.hpp"

namespace feedrate::inline v0 {

/// The names of the entries of a table.
template <class Entry, std::size_t N>
constexpr std::array<std::string_view, N> names_in(const std::array<Entry, N>& table) {
  std::array<std::string_view, N> names;
  std::ranges::transform(table, names.begin(), &Entry::name);
  return names;
}

/// "cat, dog": the names of all entries.
template <class Entry, std::size_t N>
std::string listed_names(const std::array<Entry, N>& table) {
  std::string names;
  for (const Entry& entry : table) (names += names.empty() ? "" : ", ") += entry.name;
  return names;
}

/// The entry called `name`. Throws Error(usage) that lists the names where there is none; `what`
/// says what they name, such as "objective".
template <class Entry, std::size_t N>
const Entry& entry_named(const std::array<Entry, N>& table, std::string_view name,
                         std::string_view what) {
  const auto found = std::ranges::find(table, name, &Entry::name);
  if (found != table.end()) return *found;
  throw Error(Fault::usage, "There is no " + std::string(what) + " '" + std::string(name) +
                                "'; use one of " + listed_names(table) + ".");
}

}  // namespace feedrate::inline v0
