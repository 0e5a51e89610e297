// SPDX-License-Identifier: Apache-2.0
#include "verbs/verb.hpp"

#include <functional>
#include <map>
#include <string>

namespace feedrate {
namespace {

/// By name. A function's own variable, since verbs register before main begins.
std::map<std::string, Verb, std::less<>>& registry() {
  static std::map<std::string, Verb, std::less<>> verbs;
  return verbs;
}

}  // namespace

RegisteredVerb::RegisteredVerb(const Verb& verb) {
  registry().emplace(verb.summary.name, verb);
}

std::vector<VerbSummary> named_verbs() {
  std::vector<VerbSummary> named;
  for (const auto& [name, verb] : registry()) {
    if (!name.empty()) named.push_back(verb.summary);
  }
  return named;
}

int run_verb(const std::vector<std::string>& words) {
  const auto named = words.empty() ? registry().end() : registry().find(words.front());
  if (named == registry().end() || words.front().empty()) return registry().at("").run(words);
  return named->second.run({words.begin() + 1, words.end()});
}

}  // namespace feedrate
