// SPDX-License-Identifier: Apache-2.0
// Diagnosis: which part costs the time that the device does not train, and what mends it.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "feedrate/tune/outcome.hpp"

namespace feedrate {
namespace detail {

inline std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

inline std::string rate(double samples_per_s) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4g samples/s", samples_per_s);
  return text;
}

/// "1 worker", "4 workers".
inline std::string workers(const Config& config) {
  return std::to_string(config.workers) + (config.workers == 1 ? " worker" : " workers");
}

}  // namespace detail

/// The causes of the reference's gap, largest first, and what they leave open. The gap is the
/// time per sample beyond the device's own.
///
/// Without workers the gap is the caller's loading. With workers it is what the lowest ceiling
/// costs; below that ceiling lies interference, which is named when it exceeds 10 %, but stays
/// unexplained. `safe` is what changing nothing but the feeding would give, and its measured gain.
inline std::pair<std::vector<Diagnosis>, double> diagnose(const Trial& reference, const Trial& safe,
                                                          const Interval& gain) {
  if (!reference.ceilings || reference.rounds.empty()) return {{}, 0};
  const Ceilings& ceilings = *reference.ceilings;
  const double rate = reference.samples_per_s().estimate;
  const double gap_s = 1 / rate - 1 / ceilings.device;
  if (gap_s * rate < 0.1) return {{}, 0};

  std::vector<Diagnosis> causes;
  const bool serial = reference.config.workers == 0;
  const double explained_s =
      serial ? 1 / ceilings.loader : 1 / ceilings.lowest() - 1 / ceilings.device;
  const double share = std::clamp(explained_s / gap_s, 0.0, 1.0);
  const bool shares_cores = ceilings.cores && *ceilings.cores <= ceilings.loader;
  Diagnosis main;
  main.share_of_gap = share;
  if (serial) {
    main.cause = "no_overlap";
    main.evidence = "The step waits " + detail::percent(reference.waiting()) +
                    " of the time while the caller loads: 0 workers.";
    main.remedy = safe.config.workers > 0
                      ? "Load in " + detail::workers(safe.config) + " beside the step."
                      : "No number of workers was shown to be faster here.";
  } else if (shares_cores) {
    main.cause = "shared_cores";
    main.evidence = "Loader and step want the same cores, which are enough for " +
                    detail::rate(*ceilings.cores) + ".";
    main.remedy = "Use cheaper samples, a cheaper step, or more cores.";
  } else {
    main.cause = "data_starvation";
    main.evidence = "The loader alone reaches " + detail::rate(ceilings.loader) +
                    ", the device alone " + detail::rate(ceilings.device) + ".";
    main.remedy = safe.config.workers > reference.config.workers
                      ? "Load in " + detail::workers(safe.config) + "."
                      : "Make samples cheaper to load.";
  }
  if (safe.config != reference.config) main.gain = gain.estimate;
  causes.push_back(main);
  const double interference = serial ? 1 : ceilings.lowest() / rate;
  if (interference > 1.1) {
    causes.push_back({"interference", 1 - share,
                      "The coupled rate lies " + detail::percent(1 - 1 / interference) +
                          " below the lowest ceiling.",
                      "Loader and step slow each other down: try fewer workers or step threads.",
                      std::nullopt});
  }
  return {causes, 1 - share};
}

}  // namespace feedrate
