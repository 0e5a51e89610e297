// SPDX-License-Identifier: Apache-2.0
// Causes that lie in where work is done: pixels that are converted before they travel, and steps
// that are launched piece by piece.
#pragma once

#include <optional>
#include <string>

#include "feedrate/tune/diagnose/causes_workers.hpp"

namespace feedrate::causes {

/// The reference with its pixels converted on the device, where it converts them in the workers.
inline std::optional<Alternative> bytes_that_travel(const Case& of) {
  if (of.config().preprocess == Preprocess::device) return std::nullopt;
  const auto better = alternative(of.evidence, [&](const Config& config) {
    return differs_only_in(&Config::preprocess, of.config(), config);
  });
  return is_worth_it(of, better) ? better : std::nullopt;
}

/// "From there copies reach ..., of bytes ...": empty where the model doesn't hold both.
inline std::string copies_of_bytes(const Case& of, const Config& bytes) {
  const auto floats = of.evidence.demands.copy(of.config());
  const auto fewer = of.evidence.demands.copy(bytes);
  if (!floats || !fewer || *fewer <= *floats) return "";
  return " Copies of floats reach " + rate(*floats) + ", of bytes " + rate(*fewer) + ".";
}

/// Floats are made in the workers, and travel: four times the bytes.
inline std::optional<Claim> convert_on_device(const Case& of) {
  const auto better = bytes_that_travel(of);
  if (!better) return std::nullopt;
  return Claim{TimeComponent::gap,
               of.seconds_of(better->gain),
               {"preprocess_on_device", 0,
                "The workers turn pixels into floats before they travel; converted on the device "
                "it is " +
                    times(better->gain) + " as fast." + copies_of_bytes(of, better->config),
                "Send bytes, and convert them on the device: preprocess device.", better->gain,
                better->measured}};
}

/// What recording the step as one graph was measured to gain.
struct GraphGain {
  double step = 1;                      ///< of the step alone; 1: unknown
  std::optional<Alternative> measured;  ///< of the whole, where that config ran

  bool is_worth_it() const noexcept { return measured || step > 1.1; }
};

inline GraphGain gain_by_graph(const Case& of) {
  GraphGain gain;
  if (of.config().graph) return gain;
  const auto fits = [&](const Config& config) {
    return differs_only_in(&Config::graph, of.config(), config);
  };
  auto better = chosen(of.evidence, fits);
  if (!better) better = fastest(of.evidence, fits);
  if (is_worth_it(of, better)) gain.measured = better;
  Config recorded = of.config();
  recorded.graph = true;
  const StepDemand* now = of.evidence.demands.step(of.config());
  const StepDemand* then = of.evidence.demands.step(recorded);
  if (now && then) gain.step = then->rate(recorded.batch) / now->rate(recorded.batch);
  return gain;
}

/// "Record the step as one graph: graph on, 2.1 times as fast": measured as a whole, or alone.
inline std::string record_as_graph(const GraphGain& gain) {
  if (gain.measured) {
    return "record the step as one graph: graph on, measured " + times(gain.measured->gain) +
           " as fast";
  }
  return "record the step as one graph: graph on, with which the step alone is " +
         times(gain.step) + " as fast";
}

}  // namespace feedrate::causes
