// SPDX-License-Identifier: Apache-2.0
// The axes of the space, declared once: other code goes through this list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "feedrate/core/axis.hpp"

namespace feedrate::inline v0 {

/// In the order in which people read them.
inline constexpr auto all_axes = std::tuple(
    Axis<int>{.name = "workers",
              .field = &Config::workers,
              .values = &Space::workers,
              .cost = 1,
              .least = 0,
              .shown = Shown::always,
              .words = "workers",
              .help = "Loader threads (processes for a script); 0 loads in the training loop. "
                      "Default: powers of two up to the CPUs, and more while it helps."},
    Axis<int>{.name = "prefetch",
              .field = &Config::prefetch,
              .values = &Space::prefetch,
              .cost = 2,
              .cost_of = samples_in_slots,
              .shown = Shown::always,
              .words = "prefetch",
              .help = "Batches kept ready ahead of the step. Default: 1,4; on a GPU 2,4; for "
                      "a script 2,4 per worker."},
    Axis<bool>{.name = "pinned",
               .field = &Config::pinned,
               .values = &Space::pinned,
               .cost = 6,
               .kept = true,
               .not_on_cpu = "the cpu device reads batches where they lie",
               .not_emulated = "an emulated device copies nothing",
               .words = "pinned",
               .help = "Batches in page-locked memory: on, off or on,off. Default: on,off on a "
                       "GPU; only off applies to the cpu device."},
    Axis<bool>{.name = "persistent",
               .field = &Config::persistent,
               .values = &Space::persistent,
               .cost = 10,
               .newer = true,
               .not_built_in = "workers of this library always stay",
               .words = "persistent",
               .help = "PyTorch's workers stay from epoch to epoch: on, off or on,off. Of a script "
                       "only. Default: on."},
    Axis<StartMethod>{.name = "start_method",
                      .field = &Config::start_method,
                      .values = &Space::start_method,
                      .tier = Tier::processes,
                      .cost = 11,
                      .newer = true,
                      .not_built_in = "workers of this library are threads",
                      .words = "started by",
                      .help = "How PyTorch's workers start: own (as the script says), fork, "
                              "forkserver, spawn. Default: own; of a script with --allow "
                              "processes all."},
    Axis<int>{.name = "run_length",
              .field = &Config::run_length,
              .values = &Space::run_length,
              .cost = 9,
              .least = 0,
              .most = most_batch,
              .newer = true,
              .words = "run length",
              .options = OptionsWith::loader,
              .help = "Samples that a worker takes at a time; 0 chooses by sample size and "
                      "workers. Default: 0."},
    Axis<int>{.name = "step_threads",
              .field = &Config::step_threads,
              .values = &Space::step_threads,
              .cost = 4,
              .kept = true,
              .not_on_gpu = "the step runs on the GPU",
              .not_emulated = "an emulated step uses no thread of this host",
              .words = "step threads",
              .help = "Threads of the step on the cpu device. Default: half of the CPUs, and "
                      "all; of a script also one, and its own number."},
    Axis<bool>{.name = "graph",
               .field = &Config::graph,
               .values = &Space::graph,
               .cost = 7,
               .newer = true,
               .built_in = true,
               .not_on_cpu = "the cpu device launches nothing: a graph is recorded on a GPU",
               .not_emulated = "an emulated device launches nothing",
               .words = "graph",
               .options = OptionsWith::step,
               .torch = "; with torch.compile(model, mode=\"reduce-overhead\")",
               .help = "Launch the GPU step as one CUDA graph: on, off or on,off. "
                       "Default: on,off on a GPU."},
    Axis<Preprocess>{.name = "preprocess",
                     .field = &Config::preprocess,
                     .values = &Space::preprocess,
                     .cost = 8,
                     .newer = true,
                     .built_in = true,
                     .not_on_cpu = "the cpu device reads pixels where they lie",
                     .not_emulated = "an emulated device converts nothing",
                     .words = "preprocess",
                     .help = "Where u8 pixels become floats for a GPU: host (in the workers), "
                             "device or host,device. Default: both."},
    Axis<Precision>{.name = "precision",
                    .field = &Config::precision,
                    .values = &Space::precision,
                    .tier = Tier::numerics,
                    .cost = 5,
                    .not_emulated = "an emulated step has no number format, fp32 stands for it",
                    .shown = Shown::always,
                    .help = "Number formats of the step: fp32, tf32, fp16, bf16. Default: all that "
                            "the GPU has; fp32,bf16 on the cpu device; a script keeps its own."},
    Axis<int>{.name = "batch",
              .field = &Config::batch,
              .values = &Space::batch,
              .tier = Tier::training,
              .cost = 3,
              .most = most_batch,
              .shown = Shown::always,
              .words = "batch",
              .help = "Samples per step. Default: depends on the workload."},
    Axis<int>{.name = "accumulate",
              .field = &Config::accumulate,
              .tier = Tier::training,
              .most = most_batch,
              .shown = Shown::never,
              .words = "accumulate",
              .options = OptionsWith::optimizer});

inline constexpr std::size_t axis_count = std::tuple_size_v<decltype(all_axes)>;

/// Calls `visit(axis)` for each axis, in the order in which people read them.
template <class Visit>
constexpr void for_each_axis(Visit&& visit) {
  std::apply([&](const auto&... axis) { (visit(axis), ...); }, all_axes);
}

/// Calls `visit(axis, values)` for each axis that a space has values of.
template <class AnySpace, class Visit>
void for_each_axis_of(AnySpace&& space, Visit&& visit) {
  for_each_axis([&](const auto& axis) {
    if (axis.values) visit(axis, space.*axis.values);
  });
}

namespace detail {

/// The places of the axes in the list, cheapest change first, those that cost nothing left out.
inline constexpr auto axes_by_cost = [] {
  constexpr std::size_t costly =
      std::apply([](const auto&... axis) { return (std::size_t{axis.cost > 0} + ...); }, all_axes);
  const auto costs =
      std::apply([](const auto&... axis) { return std::array{axis.cost...}; }, all_axes);
  std::array<std::size_t, costly> order{};
  for (std::size_t at = 0; at < axis_count; ++at) {
    const auto dearer = [&](int cost) { return cost > 0 && cost < costs[at]; };
    if (costs[at] > 0)
      order.at(static_cast<std::size_t>(std::ranges::count_if(costs, dearer))) = at;
  }
  return order;
}();

}  // namespace detail

/// Calls `visit(axis)` for each axis that decides between equally fast configs, the first one
/// first.
template <class Visit>
constexpr void for_each_axis_by_cost(Visit&& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit(std::get<detail::axes_by_cost[I]>(all_axes)), ...);
  }
  (std::make_index_sequence<detail::axes_by_cost.size()>());
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

/// All values of a config, in the order of the axes.
constexpr auto values_of(const Config& config) noexcept {
  return std::apply([&](const auto&... axis) { return std::tuple(config.*axis.field...); },
                    all_axes);
}

/// A value as flags and people write it.
template <class T>
std::string value_text(T value) {
  if constexpr (std::is_same_v<T, int>) {
    return std::to_string(value);
  } else {
    return std::string(names_of<T>[static_cast<std::size_t>(value)]);
  }
}

/// "--step-threads".
inline std::string flag_of(std::string_view axis) {
  std::string flag = "--" + std::string(axis);
  std::replace(flag.begin() + 2, flag.end(), '_', '-');
  return flag;
}

/// An axis and its value on the screen: "workers 4", "pinned", "bf16".
template <class T>
std::string screen_text(const Axis<T>& axis, const Config& config) {
  const std::string words(axis.words), value = value_text(config.*axis.field);
  if (value == "on") return words;
  return words.empty() ? value : words + " " + value;
}

/// "workers 2, prefetch 4, pinned, fp32, batch 32".
inline std::string title_of(const Config& config) {
  std::string text;
  for_each_axis([&](const auto& axis) {
    const bool changed = config.*axis.field != Config{}.*axis.field;
    if (axis.shown == Shown::never || (axis.shown == Shown::changed && !changed)) return;
    text += (text.empty() ? "" : ", ") + screen_text(axis, config);
  });
  return text;
}

}  // namespace feedrate::inline v0
