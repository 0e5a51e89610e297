// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/sources/normalized.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "feedrate/load/loader.hpp"

namespace feedrate::normalized_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// Sample i is the levels i, i + 1, ... up to the number of them, a ragged field of i % 3 rows, and
/// the label i. Some 250 of the samples lie on storage.
struct Pictures {
  std::size_t pixels = 5;

  std::size_t size() const { return 250; }
  Layout layout() const {
    return {{"words", DType::i32, {3}, true},
            {"image", DType::u8, {pixels}},
            {"label", DType::i32, {}}};
  }
  void load(std::size_t i, const Sample& sample, Random&) const {
    for (std::size_t p = 0; p < pixels; ++p) {
      sample.get<std::uint8_t>("image")[p] = static_cast<std::uint8_t>(i + p);
    }
    for (std::int32_t& word : sample.get<std::int32_t>("words")) word = -7;
    sample.set_length("words", i % 3);
    sample.scalar<std::int32_t>("label") = static_cast<std::int32_t>(i);
  }
  std::string name(std::size_t i) const { return "picture-" + std::to_string(i); }
  std::size_t touch(std::size_t i) const { return 100 + i; }
  bool evict(std::size_t i) const { return i == 3; }
};

std::shared_ptr<const Source> normalized(std::size_t pixels) {
  return std::make_shared<const Normalized>(make_source(Pictures{pixels}), "image");
}

TEST_CASE("Bytes become floats from 0 to 1, and all else stays as it is", "[normalized]") {
  // Bug: floats from 0 to 255, the bytes of another sample, or a label that is lost on the way.
  for (const int workers : {0, 3}) {
    Loader loader(normalized(5), {.batch = 32, .workers = workers, .prefetch = 2});
    std::size_t seen = 0;
    for (const auto& batch : loader.epoch()) {
      const auto labels = batch.get<std::int32_t>("label");
      const auto images = batch.get<float>("image");
      for (std::size_t s = 0; s < batch.count(); ++s, ++seen) {
        const auto first = static_cast<std::size_t>(labels[s]);
        for (std::size_t p = 0; p < 5; ++p) {
          REQUIRE(images[5 * s + p] == Approx(static_cast<double>((first + p) % 256) / 255));
        }
        REQUIRE(static_cast<std::size_t>(batch.lengths("words")[s]) == first % 3);
        REQUIRE(batch.get<std::int32_t>("words")[3 * s] == (first % 3 > 0 ? -7 : 0));
      }
    }
    CHECK(seen >= 250 / 32 * 32);
  }
}

TEST_CASE("Pictures of several sizes share a thread's memory, and so do nested sources",
          "[normalized]") {
  // Bug: levels that are written behind the end of memory that a smaller picture has left.
  for (const std::size_t pixels : {std::size_t{7}, std::size_t{4000}, std::size_t{3}}) {
    Loader loader(normalized(pixels), {.batch = 4, .prefetch = 0});
    const auto batch = loader.next();
    const auto first = static_cast<std::size_t>(batch->get<std::int32_t>("label")[0]);
    const double last = static_cast<double>((first + pixels - 1) % 256) / 255;
    CHECK(batch->get<float>("image")[pixels - 1] == Approx(last));
  }
  struct Two {
    std::size_t size() const { return 9; }
    Layout layout() const { return {{"a", DType::u8, {600}}, {"b", DType::u8, {900}}}; }
    void load(std::size_t, const Sample& sample, Random&) const {
      for (std::uint8_t& level : sample.get<std::uint8_t>("a")) level = 51;
      for (std::uint8_t& level : sample.get<std::uint8_t>("b")) level = 102;
    }
  };
  const auto inner = std::make_shared<const Normalized>(make_source(Two{}), "a");
  Loader loader(std::make_shared<const Normalized>(inner, "b"), {.batch = 3, .prefetch = 0});
  const auto batch = loader.next();
  CHECK(batch->get<float>("a")[599] == Approx(0.2));
  CHECK(batch->get<float>("b")[899] == Approx(0.4));
}

TEST_CASE("Questions about samples go to the source below", "[normalized]") {
  // Bug: samples without names in messages, or a cold cache that evicts nothing.
  const auto source = normalized(5);
  CHECK(source->size() == 250);
  CHECK(source->name(3) == "picture-3");
  CHECK(source->stored());
  CHECK(source->touch(3) == 103);
  CHECK(source->evict(3));
  CHECK_FALSE(source->evict(4));
  CHECK(source->layout()[1] == Field{"image", DType::f32, {5}});
  CHECK(source->layout()[2] == Field{"label", DType::i32, {}});
}

TEST_CASE("A field that is missing, or holds no bytes, is refused", "[normalized]") {
  // Bug: labels that are scaled by 1/255.
  const auto refused = [](const char* field, const char* part) {
    CHECK_THROWS_MATCHES(Normalized(make_source(Pictures{}), field), Error,
                         MessageMatches(ContainsSubstring(part)));
  };
  refused("label", "'label' holds i32: only bytes");
  refused("picture", "There is no field 'picture'");
}

}  // namespace
}  // namespace feedrate::normalized_tests
