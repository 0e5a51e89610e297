// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/screen.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <sstream>

#include "example_report.hpp"

namespace feedrate::screen_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

/// The screen as one line of single blanks, so that it doesn't matter where lines break.
std::string flowing(const Report& report) {
  std::istringstream words(screen_text(report));
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST_CASE("The screen says why, how fast, what to set and what to do next", "[screen]") {
  // Bug: a part of the story that is missing.
  const std::string text = flowing(testing::example_report());
  CHECK_THAT(text, ContainsSubstring("built-in workload, not yours"));
  CHECK_THAT(text, ContainsSubstring("WHY The step waits 60 %"));
  CHECK_THAT(text, ContainsSubstring("decode 70 %, augment 20 %, read 10 %"));
  CHECK_THAT(text, ContainsSubstring("safe changes"));
  CHECK_THAT(text, ContainsSubstring("2.00x"));
  CHECK_THAT(text, ContainsSubstring("SET workers 2, prefetch 4"));
  CHECK_THAT(text, ContainsSubstring("pinned on: not applicable"));
  CHECK_THAT(text, ContainsSubstring("1 of 3 configs was not reached within the budget"));
  CHECK_THAT(text, ContainsSubstring("NEXT autotune --data DIR"));
  CHECK_THAT(text, ContainsSubstring("(2.00x, measured)"));
  CHECK_THAT(text, ContainsSubstring("Its rate was predicted within 4.9 %."));
  CHECK_THAT(text, ContainsSubstring("rate against memory: 1,001/s with 5.00 MiB, 2,001/s with"));
  CHECK_THAT(text, ContainsSubstring("9.00 MiB"));
}

TEST_CASE("The screen of a full report shows accumulation, caveats, what-ifs and the emulation",
          "[screen]") {
  // Bug: a batch that accumulates shown as a smaller batch, or a caveat that nobody reads.
  const std::string text = flowing(testing::full_report());
  CHECK_THAT(text, ContainsSubstring("+ bf16 batch 16x4"));
  CHECK_THAT(text, ContainsSubstring("accumulate 4"));
  CHECK_THAT(text, ContainsSubstring("another could be up to 1.8 % faster"));
  CHECK_THAT(text, ContainsSubstring("precision fp32 -> bf16: whether training converges"));
  CHECK_THAT(text, ContainsSubstring("optimizer.step() after every 4 batches"));
  CHECK_THAT(text, ContainsSubstring("EMUL emulated"));
  CHECK_THAT(text, ContainsSubstring("decoding free"));
  CHECK_THAT(text, ContainsSubstring("(1.10x, modelled)"));
  CHECK_THAT(text, ContainsSubstring("1 of 5 configs needs more memory than allowed"));
  CHECK_THAT(text, ContainsSubstring("% in the median."));
}

TEST_CASE("What was left out is counted in whole sentences, with what ended the run", "[screen]") {
  // Bug: "1 of 3 configs were measured", or a budget blamed for what an interruption cut off.
  Report report = testing::example_report();
  report.outcome.trials[0].rounds.clear();
  report.outcome.trials[0].status = TrialStatus::not_reached;
  report.outcome.interrupted = true;
  const std::vector<std::string> lines = coverage_lines(report);
  CHECK_THAT(lines.at(0), ContainsSubstring("1 of 3 configs was measured"));
  CHECK(lines.at(2) == "2 of 3 configs were not reached before the interruption.");
}

TEST_CASE("An emulated accelerator below the utilization wanted is not called well fed",
          "[screen]") {
  // Bug: "well fed" above "below the 90 % wanted". The reference runs at 1000 samples/s.
  Report report = testing::example_report();
  report.outcome.diagnoses.clear();
  report.accelerator = Accelerator{"0.1@120", 0.1, 120, 0.9, 0, "the command line"};
  CHECK_THAT(flowing(report), ContainsSubstring("used less than the 90 % wanted"));
  CHECK_THAT(flowing(report), !ContainsSubstring("well fed"));
  report.accelerator->wanted = 0.7;
  CHECK_THAT(flowing(report), ContainsSubstring("well fed"));
}

TEST_CASE("A device that waits is not called well fed for want of a cause", "[screen]") {
  // Bug: "well fed: it waits for data 32 % of the time", where rounds differ too much to say why.
  Report report = testing::example_report();
  report.outcome.diagnoses.clear();
  for (Round& round : report.outcome.trials[0].rounds) round.wait_s = 0.32 * round.duration_s;
  CHECK_THAT(flowing(report),
             ContainsSubstring("No cause could be told, though it waits for data 32 %"));
  CHECK_THAT(flowing(report), !ContainsSubstring("well fed"));
  for (Round& round : report.outcome.trials[0].rounds) round.wait_s = 0.04 * round.duration_s;
  CHECK_THAT(flowing(report), ContainsSubstring("well fed: it waits for data 4.0 %"));
}

TEST_CASE("What of a gap is unexplained is said once", "[screen]") {
  // Bug: "This leaves 34 % of the gap open." and, below it, "34 % of the gap is unexplained."
  Report report = testing::example_report();
  report.outcome.unexplained_share = 0.34;
  CHECK_THAT(flowing(report), !ContainsSubstring("is unexplained"));
  report.outcome.diagnoses[0].share_of_gap = 0;  // a cause within the step has not said it
  CHECK_THAT(flowing(report), ContainsSubstring("34 % of the gap is unexplained."));
}

TEST_CASE("What only a GPU has is shown where it is varied, and said in PyTorch's words",
          "[screen]") {
  // Bug: a switch of GPUs on the screen of a cpu, or one that was chosen and that nobody is told.
  Report report = testing::example_report();
  CHECK_THAT(flowing(report), !ContainsSubstring("graph") && !ContainsSubstring("preprocess"));
  CHECK_THAT(flowing(report), !ContainsSubstring("uint8"));
  report.device = "cuda:1";
  report.machine.gpus.list.resize(2);
  report.machine.gpus.list[1].name = "NVIDIA H200";
  Config& reference = report.outcome.trials[0].config;
  Config& chosen = report.outcome.trials[1].config;
  reference.preprocess = Preprocess::host;
  chosen.graph = chosen.pinned = true;
  chosen.precision = Precision::tf32;
  report.workload.pixels = true;
  report.settings = settings_for(report);
  const std::string text = flowing(report);
  CHECK_THAT(text, ContainsSubstring("NVIDIA H200 (cuda:1)"));
  CHECK_THAT(text, ContainsSubstring("graph on, preprocess device"));
  CHECK_THAT(text, ContainsSubstring("torch.compile(model, mode=\"reduce-overhead\")"));
  CHECK_THAT(text, ContainsSubstring("torch.set_float32_matmul_precision(\"high\")"));
  CHECK_THAT(text, ContainsSubstring("images as torch.uint8"));
  CHECK_THAT(text, ContainsSubstring("make_pinned_slab"));
  CHECK_THAT(text, ContainsSubstring("num_workers and torch.compile were not measured"));
  report.device = "cuda:7";
  CHECK_THAT(flowing(report), ContainsSubstring("images · cuda:7 ·"));
}

TEST_CASE("A command to run next stands on one line", "[screen]") {
  // Bug: a command that is wrapped, of which a shell runs the first half when it is pasted.
  Report report = testing::example_report();
  const std::string command = "autotune --output 'a  b/" + std::string(80, 'x') + ".json' --seed 1";
  report.next = {{"autotune --data DIR", "on your files"}, {command, "more rounds"}};
  const std::string text = screen_text(report, {80, false});
  CHECK_THAT(text, ContainsSubstring("\nNEXT  autotune --data DIR (on your files)\n      " +
                                     command + "\n      (more rounds)\n"));
}

TEST_CASE("Values that one reason leaves out share a line", "[screen]") {
  // Bug: twenty lines of batches that don't fit, and the recommendation scrolled away.
  Report report = testing::example_report();
  report.outcome.not_applicable = {{"batch", "64", "--max-batch is 32"},
                                   {"pinned", "on", "there is no GPU"},
                                   {"batch", "128", "--max-batch is 32"}};
  const std::string text = flowing(report);
  CHECK_THAT(text, ContainsSubstring("batch 64, 128: not applicable, --max-batch is 32"));
  CHECK_THAT(text, ContainsSubstring("pinned on: not applicable"));
}

TEST_CASE("Words of standing say how far another could be ahead, and only then", "[words]") {
  // Bug: an infinite gain in words, or "tied" that hides a possible gain of 4 %.
  TierChoice choice{Tier::safe, Confidence::tied, 0, {}, {0, 1}, 0.02, {}};
  CHECK(describe(choice) ==
        "the cheapest of 2 that are equally fast; another could be up to 2.0 % faster");
  choice.gain_upper_bound = 0.001;
  CHECK(describe(choice) == "the cheapest of 2 that are equally fast");
  choice.standing = Confidence::unresolved;
  choice.gain_upper_bound = std::numeric_limits<double>::infinity();
  CHECK_THAT(describe(choice), ContainsSubstring("; another could be faster: raise --budget"));
  choice.standing = Confidence::close;
  choice.gain_upper_bound = 0.042;
  CHECK(describe(choice) ==
        "no other finalist was shown to be faster; another could be up to 4.2 % faster");
  choice.standing = Confidence::resolved;
  CHECK(describe(choice) == "shown to be faster than the other finalists");
}

TEST_CASE("What wider tiers gain is an offer, and what was not shown is told so", "[screen]") {
  // Bug: another rounding that gains 2 % hidden, or in bold; and "keep what you have" that does not
  // say what looked faster. The safe choice is recommended, and bf16 offered.
  Report report = testing::full_report();
  report.outcome.headline = Tier::safe;
  CHECK_THAT(flowing(report),
             ContainsSubstring("offer, 2.40x (2.30 to 2.50), which changes rounding: "
                               "workers 2, prefetch 4, precision bf16"));
  CHECK_THAT(screen_text(report, {.color = true}), ContainsSubstring("\x1b[1m2.00x"));
  CHECK_THAT(screen_text(report, {.color = true}), !ContainsSubstring("\x1b[1m2.40x"));
  TierChoice& choice = report.outcome.tiers[0];
  choice = {.trial = 0, .tie_set = {0}, .promising = 1, .promise = {1.08, 0.97, 1.2}};
  report.outcome.verified.reset();
  CHECK_THAT(flowing(report), ContainsSubstring("keep it as it is: what looked faster was not "
                                                "shown to be"));
  CHECK_THAT(flowing(report),
             ContainsSubstring("looked like 1.08x (0.970 to 1.20), and was not shown "
                               "to be faster: workers 2, prefetch 4"));
}

TEST_CASE("The first line names neighbours, where they took a tenth of the machine", "[screen]") {
  // Bug: rounds that know of neighbours, and a screen that says "No cause could be told".
  Report report = testing::example_report();
  CHECK_THAT(flowing(report), !ContainsSubstring("other processes took"));
  const auto others = [&](double share) {
    for (Trial& trial : report.outcome.trials) {
      for (Round& round : trial.rounds) round.others_share = share;
    }
    return flowing(report);
  };
  CHECK_THAT(others(0.45),
             ContainsSubstring("CPUs, of which other processes took 45 % while measuring"));
  CHECK_THAT(others(0.05), !ContainsSubstring("other processes took"));
}

TEST_CASE("A run that ends before its budget says so", "[screen]") {
  // Bug: a user who waits for the rest of the minute, or who takes an interruption for an answer.
  Report report = testing::example_report();
  report.budget_s = 60;
  report.tool.wall_s = 14.6;
  CHECK_THAT(flowing(report), ContainsSubstring("Ended after 14.6 s of 60.0 s: more rounds "
                                                "promised too little."));
  report.outcome.interrupted = true;
  CHECK_THAT(flowing(report), !ContainsSubstring("Ended after"));
  report.outcome.interrupted = false;
  report.tool.wall_s = 59;
  CHECK_THAT(flowing(report), !ContainsSubstring("Ended after"));
}

TEST_CASE("A reference that could not run says why", "[screen]") {
  // Bug: a blank where the reason should stand, when the reference needs too much memory.
  Report report = testing::example_report();
  Trial& reference = report.outcome.trials[0];
  reference.ceilings.reset();
  reference.rounds.clear();
  reference.status = TrialStatus::infeasible;
  reference.reason = "needs 40 MiB, more than the 9 MiB that it may take";
  CHECK_THAT(screen_text(report),
             ContainsSubstring("The reference does not fit into memory: needs 40 MiB"));
  reference.reason = "The GPU has no room for it.";
  CHECK_THAT(
      screen_text(report),
      ContainsSubstring("The reference does not fit into memory: The GPU has no room for it."));
}

TEST_CASE("What nvidia-smi shows stands beside busy where a driver told it", "[screen]") {
  // Bug: a column of dashes on the cpu, or a table that runs over the edge because of it.
  Report report = testing::full_report();
  CHECK(screen_text(report).find("nvidia-smi") == std::string::npos);
  Trial& chosen = report.outcome.trials[report.outcome.tiers[0].trial];
  for (Round& round : chosen.rounds) round.nvml_busy = 0.97;
  for (const std::size_t width : {80u, 120u}) {
    const std::string text = screen_text(report, {.width = width});
    CHECK_THAT(text, ContainsSubstring("busy nvidia-smi of best"));
    CHECK_THAT(text, ContainsSubstring("97 %"));
    for (const std::string_view line : split(text, '\n')) CHECK(columns_of(line) <= width);
  }
  CHECK(screen_text(report, {.width = 60}).find("nvidia-smi") == std::string::npos);
}

TEST_CASE("What the parts of a GPU do stands below the rates where it is counted", "[screen]") {
  // Bug: a line of dashes on the cpu, 0 % of a part that is not counted, or another config's
  // figures.
  Report report = testing::full_report();
  CHECK(screen_text(report).find("counters") == std::string::npos);
  report.outcome.trials[report.outcome.reference].rounds[0].gpm = {0.125, 0.125, 0.125};
  Trial& chosen = report.outcome.trials[report.outcome.choice().trial];
  chosen.rounds[0].gpm = {0.625, -1, 0.25};
  CHECK_THAT(
      screen_text(report),
      ContainsSubstring("GPU as recommended, by its counters: multiprocessors 62 %, memory"));
}

TEST_CASE("The memory of a GPU in use stands beside its rate", "[screen]") {
  // Bug: the memory of the host alone, where a larger batch fills that of the GPU.
  Report report = testing::full_report();
  CHECK(screen_text(report, {.width = 200}).find("GPU mem") == std::string::npos);
  Trial& chosen = report.outcome.trials[report.outcome.tiers[0].trial];
  chosen.rounds[0].device_bytes = std::uint64_t{3} << 30;
  for (const std::size_t width : {80u, 92u, 120u}) {
    const std::string text = screen_text(report, {.width = width});
    CHECK_THAT(text, ContainsSubstring("GPU mem"));
    CHECK_THAT(text, ContainsSubstring("3.00 GiB"));
    for (const std::string_view line : split(text, '\n')) CHECK(columns_of(line) <= width);
  }
  CHECK_THAT(screen_text(report, {.width = 92}), ContainsSubstring("GPU mem    memory"));
}

TEST_CASE("Lines keep within 40, 80 and 200 columns", "[screen]") {
  // Bug: lines that wrap, on a narrow terminal. Only words that can't be broken may be longer.
  for (const std::size_t width : {40u, 80u, 200u}) {
    std::istringstream lines(screen_text(testing::full_report(), {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      const bool one_word = line.find(' ', line.find_first_not_of(' ')) == std::string::npos;
      CHECK((columns_of(line) <= width || one_word));
    }
  }
}

TEST_CASE("Without colours there is no escape byte, with them there is", "[screen]") {
  // Bug: escape sequences in a file or a pipe.
  const Report report = testing::example_report();
  CHECK(screen_text(report).find('\x1b') == std::string::npos);
  CHECK(screen_text(report, {.color = true}).find('\x1b') != std::string::npos);
}

TEST_CASE("No number of workers is named for PyTorch", "[settings]") {
  // Bug: figures for PyTorch that nobody measured.
  for (const Setting& setting : testing::example_report().settings) {
    if (setting.framework != "pytorch") continue;
    CHECK_THAT(setting.text, ContainsSubstring("num_workers=..."));
    CHECK_THAT(setting.measured_with, ContainsSubstring("not measured"));
  }
}

TEST_CASE("A report without results has a screen too", "[screen]") {
  // Bug: a crash on a report of a sweep that was interrupted at once.
  Report report = testing::example_report();
  report.outcome.tiers.clear();
  CHECK_THAT(screen_text(report), ContainsSubstring("No config was measured"));
}

}  // namespace
}  // namespace feedrate::screen_tests
