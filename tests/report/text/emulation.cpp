// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/emulation.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "feedrate/report/json/emulation_json.hpp"

namespace feedrate::emulation_tests {
namespace {

/// A loader of 1,500 samples/s beside a card that wants 90 % of 1,786.
Emulation example() {
  Emulation emulation;
  emulation.accelerator = accelerator_named("h100/resnet50");
  emulation.reference = AcceleratorUse{{}, {0.25, 0.24, 0.26}};
  emulation.recommended = AcceleratorUse{{.workers = 2, .prefetch = 4}, {0.84, 0.835, 0.845}};
  emulation.loader_samples_per_s = 1500;
  emulation.loader_workers = 2;
  emulation.sample_cpu_s = 1.3e-3;
  return emulation;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The text on one line, as it was before it was wrapped.
std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST_CASE("An emulation says that it is one, and how well the card would be used", "[emulation]") {
  // Bug: a figure that could be taken for one of a real card, or a verdict on the wrong side.
  const std::string text = unwrapped(emulation_text(example()));
  CHECK(has(text, "emulated h100/resnet50: a step of 400 samples takes 224 ms"));
  CHECK(has(text, "computes nothing"));
  CHECK(has(text, "now: utilization 25.0 ±1.0 %, below the 90 % wanted"));
  CHECK(has(text, "recommended: utilization 84.0 ±0.5 %, below the 90 % wanted"));
  CHECK(has(text,
            "One accelerator needs 1,786 samples/s. The loader alone reaches 1,500 with 2 workers, "
            "enough for 0.93 accelerators at 90 % utilization."));
  CHECK(has(text,
            "To feed one, the loader must be 1.08x as fast: a sample may take 1.21 ms of CPU "
            "time, but takes 1.30 ms."));
}

TEST_CASE("A card that is fed needs no change", "[emulation]") {
  // Bug: advice to make a loader 0.4 times as fast.
  Emulation emulation = example();
  emulation.loader_samples_per_s = 4000;
  emulation.recommended->utilization = {0.99, 0.98, 1.0};
  const std::string text = unwrapped(emulation_text(emulation));
  CHECK(has(text, "recommended: utilization 99.0 ±1.0 %, reaches the 90 % wanted"));
  CHECK(has(text, "enough for 2.48 accelerators"));
  CHECK_FALSE(has(text, "as fast"));
}

TEST_CASE("What an interrupted run did not measure is not printed", "[emulation]") {
  // Bug: a utilization of nothing, or an infinite speed-up.
  Emulation emulation;
  emulation.accelerator = accelerator_named("a100/unet3d");
  const std::string text = emulation_text(emulation);
  CHECK(has(text, "a100/unet3d"));
  CHECK_FALSE(has(text, "now: utilization"));
  CHECK_FALSE(has(text, "inf"));
  const Json json = to_json(emulation);
  CHECK(json["reference"].is_null());
  CHECK(json["accelerators_fed"].is_null());
  CHECK(json["loader_speedup_needed"].is_null());
}

TEST_CASE("The block keeps to its columns", "[emulation]") {
  // Bug: lines that run over the edge of a narrow terminal.
  for (const std::size_t width : {40u, 80u, 200u}) {
    std::istringstream lines(emulation_text(example(), 6, width));
    for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= width);
  }
}

TEST_CASE("The JSON of an emulation holds its figures in SI units, labelled", "[emulation]") {
  // Bug: percentages or milliseconds, or a document that does not say that it is emulated.
  const Json json = to_json(example());
  CHECK(json["emulated"] == true);
  CHECK(json["accelerator"]["name"] == "h100/resnet50");
  CHECK(json["accelerator"]["step_s"] == 0.224);
  CHECK(json["accelerator"]["demand_samples_per_s"].get<double>() == Catch::Approx(1785.714));
  CHECK(json["recommended"]["utilization"]["estimate"] == 0.84);
  CHECK(json["recommended"]["reaches_wanted"] == false);
  CHECK(json["recommended"]["config"]["workers"] == 2);
  CHECK(json["accelerators_fed"].get<double>() == Catch::Approx(0.9333).epsilon(1e-3));
  CHECK(json["sample_cpu_allowed_s"].get<double>() == Catch::Approx(1.213e-3).epsilon(1e-3));
}

}  // namespace
}  // namespace feedrate::emulation_tests
