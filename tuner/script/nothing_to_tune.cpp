// SPDX-License-Identifier: Apache-2.0
#include "command/rate_ways.hpp"
#include "feedrate/core/error.hpp"
#include "script/script_session.hpp"
#include "script/script_trials.hpp"

namespace feedrate {

void throw_nothing_to_tune(const NothingToTune& nothing) {
  const std::string told = nothing.reports
                               ? "It reports its speed; what is missing is how it takes settings, "
                                 "such as --set workers=env:NUM_WORKERS --workers 2,4."
                               : three_ways();
  const std::string last =
      nothing.failed ? last_error(nothing.last_lines) : last_line(nothing.last_lines);
  const std::string said = last.empty() ? "" : " It said last: \"" + last + "\".";
  throw Error(Fault::usage, "The command " + nothing.why + "." + said + " " + told);
}

/// A script that went through its loaders without training, as one that only predicts, is launched
/// again, and the loader with most batches is taken.
void ScriptTrials::attach_to_most_batches(const NothingToTune& nothing) {
  if (nothing.failed) {
    throw TrialError(Fault::trials, "The script " + nothing.why, nothing.last_lines);
  }
  if (nothing.strange) throw_nothing_to_tune(nothing);
  if (prepared_) {
    throw Error(Fault::usage, "Launched again, the script " + nothing.why +
                                  ". If it goes on from a checkpoint, add --keep-state.");
  }
  const Json* most = nullptr;
  for (const Json& loader : nothing.loaders) {
    if (!most || loader.at("batches") > most->at("batches")) most = &loader;
  }
  if (!plan_.loader.empty() && most) {
    std::string names;
    for (const Json& loader : nothing.loaders) {
      names += (names.empty() ? "" : ", ") + loader.at("index").dump();
      if (loader.at("name").is_string()) names += " " + loader.at("name").get<std::string>();
    }
    throw Error(Fault::usage, "The script has no DataLoader '" + plan_.loader +
                                  "' that it iterates over; it has: " + names + ".");
  }
  if (!most || most->at("batches") == 0) throw_nothing_to_tune(nothing);
  plan_.loader = std::to_string(most->at("index").get<int>());
  plan_.say(
      "No loop of the script trains: it is run again, and the DataLoader with most batches is "
      "tuned.");
  try {
    launch();
  } catch (const NothingToTune& again) {
    throw_nothing_to_tune(again);
  }
}

}  // namespace feedrate
