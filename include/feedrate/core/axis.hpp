// SPDX-License-Identifier: Apache-2.0
// An axis of the space: all that other code knows of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "feedrate/core/config.hpp"

namespace feedrate::inline v0 {

/// The names of a type's values, in their order. Whole numbers have none.
template <class T>
inline constexpr std::array<std::string_view, 0> names_of{};
template <>
inline constexpr std::array<std::string_view, 2> names_of<bool>{"off", "on"};
template <>
inline constexpr std::array<std::string_view, 4> names_of<Precision> = precision_names;
template <>
inline constexpr std::array<std::string_view, 2> names_of<Preprocess> = preprocess_names;
template <>
inline constexpr std::array<std::string_view, 4> names_of<StartMethod> = start_method_names;

/// When the title of a config names an axis.
enum class Shown : std::uint8_t { always, changed, never };

/// Which options of this library have a field of the axis' name, beside workers, prefetch and batch
/// of the loader.
enum class OptionsWith : std::uint8_t { none, loader, step, optimizer };

/// Samples in the slots of the ring: what an axis costs in memory.
constexpr long samples_in_slots(const Config& config) noexcept {
  return static_cast<long>(config.batch) * (config.prefetch + 1);
}

/// One axis.
template <class T>
struct Axis {
  using Value = T;

  std::string_view name;  ///< in JSON and files; the flag has hyphens for its underscores
  T Config::*field = {};
  std::vector<T> Space::*values = {};  ///< none: other axes decide its value
  Tier tier = Tier::safe;
  int cost = 0;  ///< place in the order that decides between equally fast configs; 0: none
  long (*cost_of)(const Config&) noexcept = nullptr;  ///< where the value itself is not the cost
  bool kept = false;           ///< between equally fast configs the value of today is the cheapest
  int least = 1, most = 1024;  ///< of whole numbers
  bool newer = false;          ///< older files lack it, and models count it only where it varies
  bool built_in = false;  ///< of the built-in steps alone: the steps of programs have their own way
  /// Why only its default applies there.
  std::string_view not_on_cpu = {}, not_on_gpu = {}, not_emulated = {}, not_built_in = {};
  Shown shown = Shown::changed;
  std::string_view words = {};  ///< in front of the value on the screen, or alone where it is "on"
  OptionsWith options = OptionsWith::none;
  std::string_view torch = {};  ///< what PyTorch is told where it is on
  std::string_view help = {};   ///< of the flag

  /// Whether it is of this library alone: a command of the user's has nothing like it.
  constexpr bool is_ours() const noexcept { return built_in || options == OptionsWith::loader; }
};

}  // namespace feedrate::inline v0
