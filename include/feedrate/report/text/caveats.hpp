// SPDX-License-Identifier: Apache-2.0
// Caveats: what a recommended change of batch or precision requires, in words.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <vector>

#include "feedrate/report/report.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// 4, 0.5, 1.33: with up to three digits, without needless zeros.
inline std::string short_number(double value) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3);
  return {text.data(), end.ptr};
}

/// "batch 32 -> 128".
inline std::string batch_change(const Config& from, const Config& to) {
  return "batch " + std::to_string(from.batch) + " -> " + std::to_string(to.batch);
}

/// What a batch asks for that changes how many samples make an update.
/// Source: P. Goyal et al., "Accurate, Large Minibatch SGD", 2017.
inline std::string learning_rate_caveat(const Config& from, const Config& to) {
  const double factor = static_cast<double>(to.batch) * to.accumulate /
                        (static_cast<double>(from.batch) * from.accumulate);
  return batch_change(from, to) + ": multiply the learning rate by " + short_number(factor) +
         " (linear scaling rule, Goyal et al. 2017), and check that training converges";
}

/// How a loop that has an update of its weights after every `batches` batches keeps the samples of
/// one; empty where it can't.
inline std::string held_update(const Config& from, const Config& to, int batches) {
  const int samples = from.batch * batches;
  if (samples < to.batch || samples % to.batch != 0) return {};
  const int then = samples / to.batch;
  const std::string every = then == 1 ? "each batch" : std::to_string(then) + " batches";
  return "; or update the weights after " + every + " (today after " +
         (batches == 1 ? "each" : std::to_string(batches)) +
         ") and divide the loss accordingly: each update then has as many samples as today, but "
         "batch normalisation sees other batches";
}

/// What a batch asks for that accumulation makes up for.
inline std::string accumulation_caveat(const Config& from, const Config& to) {
  return batch_change(from, to) + ": accumulate the gradients of " + std::to_string(to.accumulate) +
         (to.accumulate == 1 ? " step" : " steps") + " for each update of " +
         std::to_string(to.batch * to.accumulate) +
         " samples; batch normalisation sees other batches";
}

inline std::string precision_caveat(const Config& from, const Config& to) {
  return "precision " + std::string(name_of(from.precision)) + " -> " +
         std::string(name_of(to.precision)) + ": check that training converges (not measured)";
}

/// What another way to start workers asks of the script.
inline std::string start_caveat(StartMethod method) {
  const std::string started = "workers started by " + std::string(name_of(method));
  if (method == StartMethod::fork) {
    return started +
           " are copies of the script's process: its dataset must use neither CUDA nor locks that "
           "another thread may hold";
  }
  return started +
         " import the script again: what it does at the start belongs behind if __name__ == "
         "'__main__', and workers do not see what is set there";
}

}  // namespace detail

/// What going from `from` to `to` requires, one sentence each, without the full stop; none for
/// changes that leave the mathematics alone. `batches_per_update` is the user's, 0: unknown.
inline std::vector<std::string> caveats_of(const Config& from, const Config& to,
                                           int batches_per_update = 0) {
  std::vector<std::string> caveats;
  const bool same_update = from.batch * from.accumulate == to.batch * to.accumulate;
  if (!same_update) {
    caveats.push_back(detail::learning_rate_caveat(from, to) +
                      detail::held_update(from, to, batches_per_update));
  }
  if (same_update && from.batch != to.batch) {
    caveats.push_back(detail::accumulation_caveat(from, to));
  }
  if (from.precision != to.precision) caveats.push_back(detail::precision_caveat(from, to));
  const bool starts = from.start_method != to.start_method;
  if (starts && to.start_method != StartMethod::own)
    caveats.push_back(detail::start_caveat(to.start_method));
  return caveats;
}

/// The same for a choice of a report, against its reference.
inline std::vector<std::string> caveats_of(const Report& report, const TierChoice& choice) {
  const auto& trials = report.outcome.trials;
  for (std::size_t t = 0; t < report.sentences.caveats.size(); ++t) {
    if (report.outcome.tiers[t].tier == choice.tier) return report.sentences.caveats[t];
  }
  const auto& script = report.workload.script;
  return caveats_of(trials[report.outcome.reference].config, trials[choice.trial].config,
                    script ? script->batches_per_update : 0);
}

}  // namespace feedrate::inline v0
