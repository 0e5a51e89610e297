// SPDX-License-Identifier: Apache-2.0
// A config is one point of the space that the tuner searches; a space has values for each field of
// it. axes.hpp says what each field is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace feedrate::inline v0 {

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

/// How PyTorch starts the workers of a script, and so what they inherit of its process.
enum class StartMethod : std::uint8_t {
  own,         ///< as the script says, or Python by itself
  fork,        ///< copies of the process, with all that it holds
  forkserver,  ///< copies of a bare process: they import the script, and are sent the dataset
  spawn,       ///< new processes, which do the same
};

inline constexpr std::array<std::string_view, 4> start_method_names = {"own", "fork", "forkserver",
                                                                       "spawn"};

constexpr std::string_view name_of(StartMethod method) noexcept {
  return start_method_names[static_cast<std::size_t>(method)];
}

/// What changing an axis changes beside the speed. A recommendation is made per tier.
enum class Tier : std::uint8_t {
  safe,       ///< nothing in the mathematics
  processes,  ///< what the workers of a script inherit of its process
  numerics,   ///< rounding
  training,   ///< convergence
};

inline constexpr std::array<std::string_view, 4> tier_names = {"safe", "processes", "numerics",
                                                               "training"};

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
  int accumulate = 1;       ///< steps whose gradients are averaged for one update
  int run_length = 0;       ///< samples that a worker takes at a time; 0: automatic
  bool persistent = false;  ///< PyTorch's workers stay from epoch to epoch; of scripts alone
  StartMethod start_method = StartMethod::own;  ///< of PyTorch's workers; of scripts alone

  bool operator==(const Config&) const = default;
};

/// The values that a sweep tries, named as the fields of Config.
struct Space {
  std::vector<int> workers = {0};
  std::vector<int> prefetch = {2};
  std::vector<bool> pinned = {false};
  std::vector<int> step_threads = {1};
  std::vector<bool> graph = {false};
  std::vector<Preprocess> preprocess = {Preprocess::device};
  std::vector<Precision> precision = {Precision::fp32};
  std::vector<int> batch = {32};
  std::vector<int> run_length = {0};
  std::vector<bool> persistent = {false};
  std::vector<StartMethod> start_method = {StartMethod::own};
  int effective_batch = 0;        ///< batch x accumulate is held at this; 0: nothing accumulates
  int most_ahead = 0;             ///< workers x prefetch; 0: any
  bool workers_may_grow = false;  ///< go on past the largest number while it still gains
};

}  // namespace feedrate::inline v0
