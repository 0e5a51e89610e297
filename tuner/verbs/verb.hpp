// SPDX-License-Identifier: Apache-2.0
// Verbs: each is one file in this folder, which registers itself by name.
#pragma once

#include <string>
#include <vector>

#include "request/flags.hpp"

namespace feedrate {

/// What `autotune NAME` does. The verb without a name runs where no other is named.
struct Verb {
  VerbSummary summary;
  /// Runs it with the words behind its name; returns the exit code.
  int (*run)(const std::vector<std::string>& words);
};

/// Adds a verb while the program starts: `const RegisteredVerb doctor{{...}};`.
struct RegisteredVerb {
  explicit RegisteredVerb(const Verb& verb);
};

/// The verbs that have a name, sorted by it.
std::vector<VerbSummary> named_verbs();

/// Runs the verb that the first word names, else the verb without a name. Returns the exit code.
int run_verb(const std::vector<std::string>& words);

}  // namespace feedrate
