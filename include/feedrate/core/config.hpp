// SPDX-License-Identifier: Apache-2.0
// A config: one point of the space that the tuner searches. Its axes are enumerated here, once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace feedrate {

/// The number format of a training step's operands; products are accumulated in fp32.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16 };

inline constexpr std::array<std::string_view, 4> precision_names = {"fp32", "tf32", "fp16", "bf16"};

constexpr std::string_view name_of(Precision precision) noexcept {
  return precision_names[static_cast<std::size_t>(precision)];
}

/// Where the u8 pixels of a sample become floats.
enum class Preprocess : std::uint8_t {
  device,  ///< on the device, so that bytes travel
  host,    ///< in the workers, so that floats travel: four times as many bytes
};

inline constexpr std::array<std::string_view, 2> preprocess_names = {"device", "host"};

constexpr std::string_view name_of(Preprocess preprocess) noexcept {
  return preprocess_names[static_cast<std::size_t>(preprocess)];
}

/// What changing an axis changes beside the speed. A recommendation is made per tier.
enum class Tier : std::uint8_t {
  safe,      ///< nothing in the mathematics
  numerics,  ///< rounding
  training,  ///< convergence
};

inline constexpr std::array<std::string_view, 3> tier_names = {"safe", "numerics", "training"};

/// The largest batch that can be asked for.
inline constexpr int most_batch = 1 << 20;

/// How to feed and run a training step. The defaults are what frameworks do when told nothing.
struct Config {
  int workers = 0;       ///< threads that fill batches; 0: the caller fills them
  int prefetch = 0;      ///< batches kept ready ahead of the one in use
  bool pinned = false;   ///< batches in page-locked memory
  int step_threads = 1;  ///< threads of the step; on the cpu device only
  bool graph = false;    ///< the step is one recorded CUDA graph; on cuda only
  Preprocess preprocess = Preprocess::device;  ///< of u8 pixels; on cuda only
  Precision precision = Precision::fp32;       ///< number format of the step
  int batch = 32;                              ///< samples per step
  int accumulate = 1;  ///< steps whose gradients are averaged for one update

  bool operator==(const Config&) const = default;
};

/// One axis of the space: its name in flags and JSON, its tier, and its field.
template <class T>
struct Axis {
  std::string_view name;
  Tier tier;
  T Config::*field;
  bool newer = false;     ///< choice files of older versions lack it: there it had its default
  bool built_in = false;  ///< of the built-in steps alone: programs and commands have their own way
};

/// Calls `visit(axis)` for each axis, in the order in which people read them.
template <class Visit>
constexpr void for_each_axis(Visit&& visit) {
  visit(Axis<int>{"workers", Tier::safe, &Config::workers});
  visit(Axis<int>{"prefetch", Tier::safe, &Config::prefetch});
  visit(Axis<bool>{"pinned", Tier::safe, &Config::pinned});
  visit(Axis<int>{"step_threads", Tier::safe, &Config::step_threads});
  visit(Axis<bool>{.name = "graph",
                   .tier = Tier::safe,
                   .field = &Config::graph,
                   .newer = true,
                   .built_in = true});
  visit(Axis<Preprocess>{.name = "preprocess",
                         .tier = Tier::safe,
                         .field = &Config::preprocess,
                         .newer = true,
                         .built_in = true});
  visit(Axis<Precision>{"precision", Tier::numerics, &Config::precision});
  visit(Axis<int>{"batch", Tier::training, &Config::batch});
  visit(Axis<int>{"accumulate", Tier::training, &Config::accumulate});
}

/// The axis of a field.
template <class T>
constexpr Axis<T> axis_of(T Config::*field) noexcept {
  Axis<T> found{};
  for_each_axis([&](const auto& axis) {
    if constexpr (std::is_same_v<decltype(axis.field), T Config::*>) {
      if (axis.field == field) found = axis;
    }
  });
  return found;
}

/// An axis' value as flags and people write it.
inline std::string value_text(int value) {
  return std::to_string(value);
}
inline std::string value_text(bool value) {
  return value ? "on" : "off";
}
inline std::string value_text(Precision value) {
  return std::string(name_of(value));
}
inline std::string value_text(Preprocess value) {
  return std::string(name_of(value));
}

}  // namespace feedrate
