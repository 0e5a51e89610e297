// SPDX-License-Identifier: Apache-2.0
// Damage to files: bytes of any file, and values of a JSON document.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace feedrate::attack {

using Bytes = std::vector<std::uint8_t>;
using Json = nlohmann::ordered_json;

/// Changes that a seed stands for.
class Mutations {
 public:
  explicit Mutations(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  /// One to eight changes: bits, bytes, numbers at their limits; parts that are cut, doubled, moved
  /// or taken from `other`.
  Bytes damaged(Bytes bytes, const Bytes& other) {
    for (std::size_t n = 1 + below(1 + below(8)); n > 0; --n) change(bytes, other);
    return bytes;
  }

  /// One to four values in a document become others.
  Json damaged(Json json) {
    for (std::size_t n = 1 + below(4); n > 0; --n) change(place_in(json));
    return json;
  }

 private:
  void change(Bytes& bytes, const Bytes& other) {
    static constexpr std::uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xd8, 0xd9, 0xda};
    if (bytes.empty()) bytes.push_back(0);
    // Headers lie in front: half of the changes are there.
    const std::size_t size = below(2) ? std::min<std::size_t>(bytes.size(), 700) : bytes.size();
    const std::size_t at = below(size);
    const std::size_t length = std::min(bytes.size() - at, 1 + below(below(4) ? 8 : 2000));
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = from + static_cast<std::ptrdiff_t>(length);
    switch (below(8)) {
      case 0:
        bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1u << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        std::fill(from, to, edges[below(std::size(edges))]);
        break;
      case 3:
        bytes.erase(from, to);
        break;
      case 4: {
        const Bytes copy(from, to);
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size())), copy.begin(),
                     copy.end());
        break;
      }
      case 5:
        bytes.resize(at);
        break;
      case 6: {
        const std::size_t begin = below(other.size());
        const std::size_t count = std::min(other.size() - begin, length);
        bytes.insert(from, other.begin() + static_cast<std::ptrdiff_t>(begin),
                     other.begin() + static_cast<std::ptrdiff_t>(begin + count));
        break;
      }
      default:
        for (std::size_t i = at; i < at + length; ++i)
          bytes[i] = static_cast<std::uint8_t>(random_());
    }
  }

  /// Some value of the document, at any depth.
  Json& place_in(Json& json) {
    if (!json.is_structured() || json.empty() || below(6) == 0) return json;
    auto child = json.begin();
    std::advance(child, static_cast<std::ptrdiff_t>(below(json.size())));
    return place_in(*child);
  }

  void change(Json& value) {
    const std::vector<Json> others = {nullptr,
                                      true,
                                      0,
                                      -1,
                                      1,
                                      1e308,
                                      -1e308,
                                      4294967296,
                                      1e-300,
                                      INT64_MIN,
                                      UINT64_MAX,
                                      "",
                                      "\x1b[2J\n",
                                      "workers",
                                      "cpu",
                                      std::string(5000, 'x'),
                                      Json::array(),
                                      Json::object(),
                                      Json::array({1, 2}),
                                      Json{{"a", 1}}};
    if (value.is_array() && !value.empty() && below(2)) {
      for (std::size_t n = below(3); n > 0; --n) value.push_back(value[below(value.size())]);
      if (below(2)) value.erase(below(value.size()));
    } else if (value.is_object() && !value.empty() && below(2)) {
      auto child = value.begin();
      std::advance(child, static_cast<std::ptrdiff_t>(below(value.size())));
      value.erase(child);
    } else {
      value = others[below(others.size())];
    }
  }

  std::mt19937_64 random_;
};

}  // namespace feedrate::attack
