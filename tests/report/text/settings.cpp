// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/settings.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>

#include "example_report.hpp"
#include "feedrate/load/loader.hpp"
#include "feedrate/load/sources/normalized.hpp"
#include "feedrate/train/optimizer.hpp"

/// The statements, run; and how they read.
#define STATED(...) __VA_ARGS__ const std::string stated = #__VA_ARGS__

namespace feedrate {
namespace cuda {

/// As in feedrate/cuda/feed.hpp, which needs a toolkit.
struct Feed {
  static int copies_in_flight() { return 2; }
};

}  // namespace cuda

namespace settings_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

struct Pictures {
  std::size_t size() const { return 64; }
  Layout layout() const { return {{"image", DType::u8, {4}}, {"label", DType::i32, {}}}; }
  void load(std::size_t, const Sample&, Random&) const {}
};

/// The text for the recommended config of a report of pictures.
std::string text_for(const Config& config, std::size_t which = 0) {
  Report report = testing::example_report();
  report.outcome.trials[1].config = config;
  report.workload.field = "image";
  report.workload.pixels = true;
  report.device = "cuda:0";
  return settings_for(report).at(which).text;
}

TEST_CASE("The text to paste for a C++ program is C++", "[settings]") {
  // Bug: prose between the statements, or a name that the library does not know.
  const Pictures dataset;
  // clang-format off
  {
    STATED(auto source = feedrate::make_source(dataset);
           const feedrate::LoaderOptions options{.batch = 8, .workers = 2, .prefetch = 3,
               .copies_in_flight = feedrate::cuda::Feed::copies_in_flight()};
           feedrate::Loader loader(source, options););
    CHECK(text_for({.workers = 2, .prefetch = 3, .batch = 8}) == stated);
    CHECK(loader.next()->count() == 8);
  }
  {
    STATED(auto bytes = feedrate::make_source(dataset);
           auto source = std::make_shared<const feedrate::Normalized>(bytes, "image");
           const feedrate::LoaderOptions options{.batch = 8, .workers = 0,
               .copies_in_flight = feedrate::cuda::Feed::copies_in_flight()};
           feedrate::Loader loader(source, options);
           const feedrate::OptimizerSpec optimizer{.accumulate = 4};);
    CHECK(text_for({.preprocess = Preprocess::host, .batch = 8, .accumulate = 4}) == stated);
    CHECK(loader.next()->count() == 8);
    CHECK(optimizer.accumulate == 4);
  }
  // clang-format on
}

TEST_CASE("Pinned memory and graphs are statements of their own", "[settings]") {
  // Bug: a placeholder for the bytes, or a graph that stands behind the semicolon as prose.
  const std::string text = text_for({.pinned = true, .graph = true, .batch = 8});
  CHECK_THAT(
      text, ContainsSubstring("feedrate::cuda::make_pinned_slab(options.slots() * "
                              "feedrate::BatchLayout(source->layout(), options.batch).bytes()));"));
  CHECK_THAT(text, ContainsSubstring("feedrate::cuda::StepOptions step_options{.graph = true};"));
}

TEST_CASE("The PyTorch text says to copy bytes if pixels are copied", "[settings]") {
  // Bug: the advice left out because the place of preprocessing was fixed, or given on a cpu.
  CHECK_THAT(text_for({.batch = 8}, 1), ContainsSubstring("torch.uint8"));
  CHECK_THAT(text_for({.preprocess = Preprocess::host, .batch = 8}, 1),
             !ContainsSubstring("torch.uint8"));
  Report report = testing::example_report();
  report.workload.pixels = true;
  CHECK_THAT(settings_for(report).at(1).text, !ContainsSubstring("torch.uint8"));
}

TEST_CASE("Changes of a script's step are lines of PyTorch", "[settings]") {
  // Bug: a precision or threads that were recommended, and nothing that says how to set them.
  const Config from{.step_threads = 8, .batch = 32};
  Config to = from;
  CHECK(detail::torch_step_change(from, to, "cuda").empty());
  to.step_threads = 1;
  CHECK(detail::torch_step_change(from, to, "cpu") ==
        "torch.set_num_threads(1)  # before the loop\n");
  to = from;
  to.precision = Precision::bf16;
  CHECK(detail::torch_step_change(from, to, "cuda") ==
        "with torch.autocast(\"cuda\", dtype=torch.bfloat16):  # around the forward pass and the "
        "loss\n");
  to.precision = Precision::fp16;
  CHECK_THAT(detail::torch_step_change(from, to, "cuda"),
             ContainsSubstring("dtype=torch.float16") &&
                 ContainsSubstring("torch.amp.GradScaler(\"cuda\")"));
}

}  // namespace
}  // namespace settings_tests
}  // namespace feedrate

#undef STATED
