// SPDX-License-Identifier: Apache-2.0
// Configs of one pipeline measured in turn: their rates, and ratios of paired rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "feedrate/core/random.hpp"
#include "feedrate/measure/pipeline.hpp"
#include "feedrate/report/json/from_json.hpp"

namespace feedrate::bench {

/// Log-rates of one config, one for each pass.
using LogRates = std::vector<double>;

/// Log-rates by config: in each pass every config runs once, in random order.
inline std::vector<LogRates> interleaved(Pipeline& pipeline, const std::vector<Config>& configs,
                                         int passes, double round_s) {
  std::vector<LogRates> rates(configs.size());
  std::vector<std::size_t> order(configs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(1, 2, 3);
  const RoundOptions options{.seconds = round_s, .min_batches = 2};
  for (int pass = 0; pass < passes; ++pass) {
    shuffle(order, random);
    for (const std::size_t i : order) {
      const Round round = pipeline.run({Part::coupled, configs[i], options});
      rates[i].push_back(std::log(round.samples_per_s()));
    }
    std::fprintf(stderr, "pass %d of %d\n", pass + 1, passes);
  }
  return rates;
}

/// The logarithm of a's rate over b's from pass `first` on, with its 95 % interval.
inline Interval log_ratio(const LogRates& a, const LogRates& b, std::size_t first = 0) {
  std::vector<double> ratios;
  for (std::size_t pass = first; pass < a.size(); ++pass) ratios.push_back(a[pass] - b[pass]);
  return mean_interval(ratios, 0.05);
}

/// Adds a config where it is new.
inline void add_config(std::vector<Config>& configs, const Config& config) {
  if (std::find(configs.begin(), configs.end(), config) == configs.end()) configs.push_back(config);
}

/// Where it stands among `configs`.
inline std::size_t index_of(const std::vector<Config>& configs, const Config& config) {
  return static_cast<std::size_t>(std::find(configs.begin(), configs.end(), config) -
                                  configs.begin());
}

/// Prints what `compare()` returns, and writes it to `path` unless that is empty. Returns the exit
/// code of the program: 1 after an error, which is printed.
template <class Compare>
int publish(Compare&& compare, const std::string& path) try {
  const Json json = compare();
  std::printf("%s\n", json.dump(1).c_str());
  if (path.empty()) return 0;
  std::ofstream file(path);
  file << json.dump(1) << '\n';
  if (!file) throw Error(Fault::usage, "Can't write " + path + ": choose another file.");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

}  // namespace feedrate::bench
