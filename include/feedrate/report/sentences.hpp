// SPDX-License-Identifier: Apache-2.0
// The sentences of a report, as plain data.
#pragma once

#include <string>
#include <vector>

namespace feedrate::inline v0 {

/// A cause in words, whole sentences.
struct CauseText {
  std::string summary;       ///< what was measured, in one sentence
  std::string details = {};  ///< more of it; may be empty
  std::string remedy = {};   ///< what to do

  std::string evidence() const { return details.empty() ? summary : summary + " " + details; }
};

/// Those of a report that was read, in the words of its file; of a new report they are empty, and
/// made where they are needed.
struct Sentences {
  std::vector<CauseText> causes;                  ///< of the diagnoses
  std::vector<std::vector<std::string>> caveats;  ///< of the tiers
};

}  // namespace feedrate::inline v0
