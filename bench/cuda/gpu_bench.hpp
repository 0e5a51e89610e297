// SPDX-License-Identifier: Apache-2.0
// Shared by the benches of the GPU: they need a GPU, time by its events, take turns, and print a
// table or JSON.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "feedrate/core/error.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/memory.hpp"
#include "feedrate/cuda/stream.hpp"

namespace feedrate::bench {

/// The middle of some values, and the quartiles around it.
struct Spread {
  double low = 0, median = 0, high = 0;
};

inline Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// What a figure should be.
struct Promise {
  double least = -1, most = -1;  ///< < 0: no such bound

  bool made() const noexcept { return least >= 0 || most >= 0; }
  bool kept_by(double value) const noexcept {
    return (least < 0 || value >= least) && (most < 0 || value <= most);
  }
};

struct Figure {
  std::string name, unit;
  Spread value;
  Promise promise;
};

/// Ratios of values that were measured in the same rounds.
inline std::vector<double> ratios(const std::vector<double>& over,
                                  const std::vector<double>& under) {
  std::vector<double> result(over.size());
  std::transform(over.begin(), over.end(), under.begin(), result.begin(), std::divides<>());
  return result;
}

/// Calls each of `variants` once per round, in random order, and returns [variant][round].
inline std::vector<std::vector<double>> in_turn(
    int rounds, const std::vector<std::function<double()>>& variants) {
  std::mt19937 random(1);
  std::vector<std::vector<double>> values(variants.size());
  std::vector<std::size_t> order(variants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (std::size_t variant : order) values[variant].push_back(variants[variant]());
  }
  return values;
}

/// Seconds, by the GPU's clock, of what `queue()` puts into the stream.
template <class Queue>
double seconds_of(cudaStream_t stream, Queue&& queue) {
  cuda::Event start(cuda::Event::Kind::timed), end(cuda::Event::Kind::timed);
  start.record(stream);
  queue();
  end.record(stream);
  cuda::wait_until([&] { return end.done(); }, 60, "the work that is timed");
  return end.seconds_since(start);
}

/// Fills memory of the GPU, and waits until it is there for all streams: a plain copy of pageable
/// memory may return before.
inline void write(std::byte* to, const void* from, std::size_t bytes) {
  cuda::check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "filling memory");
  cuda::check(cudaDeviceSynchronize(), "filling memory");
}

/// What a bench is run with.
struct Setting {
  cudaStream_t stream = nullptr;
  int rounds = 15;
};

/// The figures of one bench.
class Table {
 public:
  void add(const std::string& name, const std::string& unit, const std::vector<double>& values,
           Promise promise = {}) {
    figures_.push_back({name, unit, spread_of(values), promise});
  }

  void print() const {
    for (const Figure& figure : figures_) {
      std::printf("  %-44s %10.4g %-9s (%.4g to %.4g)%s\n", figure.name.c_str(),
                  figure.value.median, figure.unit.c_str(), figure.value.low, figure.value.high,
                  verdict(figure).c_str());
    }
  }

  nlohmann::ordered_json json() const {
    auto list = nlohmann::ordered_json::array();
    for (const Figure& figure : figures_) {
      const Spread& value = figure.value;
      nlohmann::ordered_json row = {{"name", figure.name},
                                    {"unit", figure.unit},
                                    {"median", value.median},
                                    {"quartiles", {value.low, value.high}}};
      if (figure.promise.least >= 0) row["at_least"] = figure.promise.least;
      if (figure.promise.most >= 0) row["at_most"] = figure.promise.most;
      if (figure.promise.made()) row["kept"] = figure.promise.kept_by(value.median);
      list.push_back(row);
    }
    return list;
  }

 private:
  static std::string verdict(const Figure& figure) {
    const Promise& promise = figure.promise;
    if (!promise.made()) return "";
    const bool least = promise.least >= 0;
    char text[64];
    std::snprintf(text, sizeof text, "  %s %g: %s",
                  least ? ">=" : "<=", least ? promise.least : promise.most,
                  promise.kept_by(figure.value.median) ? "kept" : "missed");
    return text;
  }

  std::vector<Figure> figures_;
};

using Body = std::function<void(const Setting&, Table&)>;

namespace detail {

/// The GPU, or why there is none.
inline cuda::Device the_gpu() {
  if (cuda::device_count() == 0) throw Error(Fault::device, "There is no GPU here.");
  cuda::use_device(0);
  return cuda::describe_device(0);
}

inline void measure(const char* name, const Setting& setting, bool as_json, const cuda::Device& gpu,
                    const Body& body) {
  const cuda::Stream stream;
  Table table;
  body({stream.handle(), setting.rounds}, table);
  if (!as_json) {
    std::printf("%s on %s: median of %d rounds (and quartiles)\n", name, gpu.name.c_str(),
                setting.rounds);
    return table.print();
  }
  const nlohmann::ordered_json json = {{"bench", name},
                                       {"gpu", gpu.name},
                                       {"uuid", gpu.uuid},
                                       {"rounds", setting.rounds},
                                       {"figures", table.json()}};
  std::printf("%s\n", json.dump(1).c_str());
}

}  // namespace detail

/// Runs `body` on the first GPU: [--json] [--rounds N]. Exit code 77 where there is no GPU, 1 where
/// a check before the timing, or the GPU, failed.
inline int run(int count, char** words, const char* name, const Body& body) {
  bool as_json = false;
  Setting setting;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--json") {
      as_json = true;
    } else if (word == "--rounds" && i + 1 < count && std::atoi(words[i + 1]) > 0) {
      setting.rounds = std::atoi(words[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--json] [--rounds N]\n", name);
      return 2;
    }
  }
  cuda::Device gpu;
  try {
    gpu = detail::the_gpu();
  } catch (const Error& none) {
    std::fprintf(stderr, "%s\n", none.what());
    return 77;
  }
  try {
    detail::measure(name, setting, as_json, gpu, body);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
  return 0;
}

/// What a bench that computes wrong results says instead of a figure.
inline void require(bool ok, const std::string& defect) {
  if (!ok) throw Error(Fault::data, defect + " Nothing was timed.");
}

}  // namespace feedrate::bench
