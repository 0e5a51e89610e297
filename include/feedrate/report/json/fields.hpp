// SPDX-License-Identifier: Apache-2.0
// Reads the fields of JSON objects; what can't be read is told with its place.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/report/json/machine_json.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// What can't be read: where it is, from the outside in ("trials.3.rounds.0"), and what is wrong.
struct Misread : Json::exception {
  Misread(std::string where, std::string what)
      : Json::exception(599, (where + ": " + what).c_str()),
        place(std::move(where)),
        problem(std::move(what)) {}

  std::string place, problem;
};

/// Calls `read()`, and puts `place` in front of that of what it can't read.
template <class Read>
void at_place(const std::string& place, Read&& read) {
  try {
    read();
  } catch (const Misread& inner) {
    throw Misread(inner.place.empty() ? place : place + "." + inner.place, inner.problem);
  } catch (const Json::exception& error) {  // "[json.exception.type_error.302] type must be ..."
    const std::string_view text = error.what();
    throw Misread(place, std::string(text.substr(std::min(text.find("] ") + 2, text.size()))));
  } catch (const Error& error) {
    std::string sentence = error.what();
    if (sentence.ends_with('.')) sentence.pop_back();
    throw Misread(place, sentence);
  }
}

inline const Json& member(const Json& object, const char* key) {
  if (!object.is_object()) {
    throw Misread("", "type must be object, but is " + std::string(object.type_name()));
  }
  const auto found = object.find(key);
  if (found == object.end()) throw Misread("", "the key '" + std::string(key) + "' is missing");
  return *found;
}

/// Throws Misread where the number is none of type T.
template <class T>
T number_of(const Json& value) {
  constexpr auto least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const bool whole = value.is_number_integer() || !value.is_number();
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                    : whole                    ? std::in_range<T>(value.get<std::int64_t>())
                            : value.get<double>() >= static_cast<double>(least) &&
                                  value.get<double>() < static_cast<double>(most);
  if (!fits) throw Misread("", value.dump() + " is out of range");
  return value.get<T>();
}

/// One value. The writers write null for what is unknown or not finite: it becomes the type's empty
/// value, or, for numbers with a point, not-a-number.
template <class T>
void read_value(const Json& value, T& field) {
  if constexpr (std::is_floating_point_v<T>) {
    field = value.is_null() ? std::numeric_limits<T>::quiet_NaN() : value.get<T>();
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    field = value.is_null() ? T{} : number_of<T>(value);
  } else {
    field = value.is_null() ? T{} : value.get<T>();
  }
}

template <class T>
void read_value(const Json& value, std::optional<T>& field) {
  field.reset();
  if (!value.is_null()) read_value(value, field.emplace());
}

template <class T>
void read_value(const Json& value, std::vector<T>& field) {
  field.clear();
  if (value.is_null()) return;
  if (!value.is_array()) {
    throw Misread("", "type must be array, but is " + std::string(value.type_name()));
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    T item{};
    at_place(std::to_string(i), [&] { read_value(value[i], item); });
    field.push_back(std::move(item));
  }
}

/// The field `key`.
template <class T>
void read(const Json& object, const char* key, T& field) {
  const Json& value = member(object, key);
  at_place(key, [&] { read_value(value, field); });
}

/// Calls `read(value)` with that of `key`.
template <class Read>
void read_by(const Json& object, const char* key, Read&& read) {
  const Json& value = member(object, key);
  at_place(key, [&] { read(value); });
}

/// An optional field: where it is null or missing, the value is not changed.
template <class T>
void read_if_told(const Json& object, const char* key, T& field) {
  if (object.contains(key) && !object.at(key).is_null()) read(object, key, field);
}

/// Several fields: a key, its field, a key, its field, and so on.
inline void read_all(const Json&) {}

template <class T, class... Rest>
void read_all(const Json& object, const char* key, T& field, Rest&&... rest) {
  read(object, key, field);
  read_all(object, rest...);
}

/// Several fields that older files lack: they stay as they are where they are missing.
inline void read_newer(const Json&) {}

template <class T, class... Rest>
void read_newer(const Json& object, const char* key, T& field, Rest&&... rest) {
  if (object.contains(key)) read(object, key, field);
  read_newer(object, rest...);
}

/// Calls `read(value)` with that of `key`, unless it is missing.
template <class Read>
void read_newer_by(const Json& object, const char* key, Read&& read) {
  if (object.contains(key)) read_by(object, key, read);
}

/// Which of `names` the text is; throws Error(data) when it is none.
template <std::size_t N>
std::size_t index_of(const std::array<std::string_view, N>& names, const Json& json) {
  const auto name = json.get<std::string>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw Error(Fault::data, "'" + name + "' is not known here.");
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace detail
}  // namespace feedrate::inline v0
