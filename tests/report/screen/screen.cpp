// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/screen/screen.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <sstream>

#include "example_report.hpp"

namespace feedrate::screen_tests {
namespace {

using Catch::Matchers::ContainsSubstring;

/// The verbose screen as one line of single blanks, so that it doesn't matter where lines break.
std::string flowing(const Report& report, bool verbose = true) {
  std::istringstream words(screen_text(report, {.verbose = verbose}));
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Where `part` begins in `text`; it must be there.
std::size_t place_of(const std::string& text, std::string_view part) {
  INFO(text);
  INFO(part);
  REQUIRE(text.find(part) != std::string::npos);
  return text.find(part);
}

TEST_CASE("The screen fits 24 lines, and the verdict comes first", "[screen]") {
  // Bug: the recommendation below two pages of details. The last line, the report's name, is the
  // command's.
  Report report = testing::full_report();
  CHECK_THAT(screen_text(report),
             ContainsSubstring("\nCOST  At 3.50 EUR/h, waiting for data costs"));
  report.price.reset();
  report.outcome.what_if.clear();  // they are shown where the user asks for them
  report.skips.clear();
  report.outcome.trials[0].config.accumulate = 1;
  for (Round& round : report.outcome.trials[1].rounds) round.wait_s = 0.4 * round.duration_s;
  report.outcome.diagnoses.push_back(
      {.cause = Cause::epoch_boundary,
       .numbers = {.boundary_s = 1, .boundary_share = 0.2, .epoch_samples = 1e4}});
  report.accelerator.reset();
  report.outcome.headline = Tier::safe;
  report.settings = settings_for(report);
  report.outcome.not_applicable.assign(9, {"batch", "64", "--max-batch is 32"});
  report.next.push_back({"autotune --budget 180s", "more rounds"});
  report.next.push_back({"python3 bench/peers/torch_loader.py --data train", "measure"});
  const std::string text = screen_text(report);
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 23);
  const std::size_t verdict = place_of(text, "SET   workers 2, prefetch 4");
  const std::size_t gain = place_of(text, "2.00x as fast as now");
  const std::size_t why = place_of(text, "WHY   The step waits");
  const std::size_t paste = place_of(text, "PASTE feedrate: auto source");
  CHECK(verdict < gain);
  CHECK(gain < why);
  CHECK(why < paste);
  CHECK(paste < place_of(text, "NEXT  autotune --data DIR"));
}

TEST_CASE("Details are shown with --verbose alone, and what went wrong always", "[screen]") {
  // Bug: a flag without an effect, or failures that only a verbose screen tells.
  Report report = testing::full_report();
  report.notes = {"A note of the script."};
  report.warnings = {"The script died."};
  report.outcome.trials.back().status = TrialStatus::failed;
  for (const char* detail :
       {"prediction error", "Each part alone", "Rate by memory", "A note of"}) {
    CHECK_THAT(flowing(report, false), !ContainsSubstring(detail));
    CHECK_THAT(flowing(report, true), ContainsSubstring(detail));
  }
  for (const bool verbose : {false, true}) {
    CHECK_THAT(flowing(report, verbose), ContainsSubstring("1 of 5 configs failed"));
    CHECK_THAT(flowing(report, verbose), ContainsSubstring("1 unreadable sample skipped"));
    CHECK_THAT(flowing(report, verbose), ContainsSubstring("The script died."));
  }
  // Bug: a screen that says less than the one sentence which all failures share.
  report.outcome.trials.back().reason = {Why::error, "The loader failed: no rows."};
  CHECK_THAT(flowing(report, false), ContainsSubstring("failed. The loader failed: no rows."));
}

TEST_CASE("The screen says why, how fast, what to set and what to do next", "[screen]") {
  // Bug: a part of the story that is missing.
  const std::string text = flowing(testing::example_report());
  CHECK_THAT(text, ContainsSubstring("built-in workload, not your data"));
  CHECK_THAT(text, ContainsSubstring("WHY The step waits for data 60 %"));
  CHECK_THAT(text, ContainsSubstring("Loading a sample: decode 70 %, augment 20 %, read 10 %"));
  CHECK_THAT(text, ContainsSubstring("safe changes"));
  CHECK_THAT(text, ContainsSubstring("2.00x"));
  CHECK_THAT(text, ContainsSubstring("SET workers 2, prefetch 4"));
  CHECK_THAT(text, ContainsSubstring("pinned on: not applicable"));
  CHECK_THAT(text, ContainsSubstring("1 of 3 configs not measured: the budget ended."));
  CHECK_THAT(text, ContainsSubstring("NEXT autotune --data DIR"));
  CHECK_THAT(text, ContainsSubstring(
                       "-> Load in the background: workers 2, prefetch 4 (2.00x, measured)"));
  CHECK_THAT(text, ContainsSubstring("Median prediction error: 4.9 %."));
  CHECK_THAT(text, ContainsSubstring("Rate by memory: 1,001/s with 5.00 MiB, 2,001/s with"));
  CHECK_THAT(text, ContainsSubstring("9.00 MiB"));
}

TEST_CASE("The screen of a full report shows accumulation, caveats, what-ifs and the emulation",
          "[screen]") {
  // Bug: a batch that accumulates shown as a smaller batch, or a caveat that nobody reads.
  const std::string text = flowing(testing::full_report());
  CHECK_THAT(text, ContainsSubstring("+ bf16 batch 16x4"));
  CHECK_THAT(text, ContainsSubstring("accumulate 4"));
  CHECK_THAT(text, ContainsSubstring("another config could be up to 1.8 % faster"));
  CHECK_THAT(text, ContainsSubstring("Precision fp32 -> bf16: check that training converges"));
  CHECK_THAT(text, ContainsSubstring("optimizer.step() after every 4 batches"));
  CHECK_THAT(text, ContainsSubstring("EMUL emulated"));
  CHECK_THAT(text, ContainsSubstring("decoding free"));
  CHECK_THAT(text, ContainsSubstring("(1.10x, estimated)"));
  CHECK_THAT(text, ContainsSubstring("1 of 5 configs skipped: more memory needed"));
}

TEST_CASE("What was left out is counted in whole sentences, with what ended the run", "[screen]") {
  // Bug: a budget blamed for what an interruption cut off.
  Report report = testing::example_report();
  report.outcome.trials[0].rounds.clear();
  report.outcome.trials[0].status = TrialStatus::not_reached;
  report.outcome.interrupted = true;
  const std::vector<std::string> lines = coverage_lines(report);
  CHECK_THAT(lines.at(0), ContainsSubstring("1 of 3 configs measured"));
  CHECK(lines.at(2) == "2 of 3 configs not measured: the run was interrupted.");
}

TEST_CASE("A reference that nothing was compared with is not said to lead", "[screen]") {
  // Bug: "Its lead over the other configs tried is not significant", where no other was tried.
  Report report = testing::example_report();
  Outcome& outcome = report.outcome;
  for (std::size_t t = 0; t < outcome.trials.size(); ++t) {
    if (t == outcome.reference) continue;
    outcome.trials[t].rounds.clear();
    outcome.trials[t].status = TrialStatus::not_reached;
  }
  outcome.tiers = {{.tier = Tier::safe, .trial = outcome.reference}};
  outcome.headline = Tier::safe;
  const std::string text = flowing(report);
  CHECK_THAT(text, ContainsSubstring("No other config was measured: raise --budget."));
  CHECK_THAT(text, !ContainsSubstring("lead"));
  outcome.trials[outcome.reference == 0 ? 1 : 0].status = TrialStatus::infeasible;
  CHECK_THAT(flowing(report), ContainsSubstring("No other config was measured: raise --budget."));
  outcome.interrupted = true;
  CHECK_THAT(flowing(report), ContainsSubstring("measured: the run was interrupted."));
}

TEST_CASE("Two remedies of what is said once stand below one sentence", "[screen]") {
  // Bug: "The loader alone reaches 716 samples/s" twice in a row.
  Report report = testing::example_report();
  report.outcome.diagnoses.push_back(report.outcome.diagnoses.front());
  report.outcome.diagnoses.back().gain = 1.5;
  const std::string text = flowing(report, false);
  CHECK(text.find("The step waits for data 60 %") == text.rfind("The step waits for data 60 %"));
  CHECK_THAT(text, ContainsSubstring("prefetch 4 (2.00x, measured) -> Load in the background"));
}

TEST_CASE("An emulated accelerator below the utilization wanted is not called well fed",
          "[screen]") {
  // Bug: "well fed" above "below the 90 % wanted". The reference runs at 1000 samples/s.
  Report report = testing::example_report();
  report.outcome.diagnoses.clear();
  report.accelerator = Accelerator{"0.1@120", 0.1, 120, 0.9, 0, "the command line"};
  CHECK_THAT(flowing(report), ContainsSubstring("utilization is below the 90 % wanted"));
  CHECK_THAT(flowing(report), !ContainsSubstring("well fed"));
  report.accelerator->wanted = 0.7;
  CHECK_THAT(flowing(report), ContainsSubstring("well fed"));
}

TEST_CASE("A loop that waits for another loader is not called well fed", "[screen]") {
  // Bug: "well fed" of a loop that waits for its unlabelled samples.
  Report report = testing::example_report();
  report.outcome.diagnoses.clear();
  for (Round& round : report.outcome.trials[0].rounds) round.wait_s = 0.02 * round.duration_s;
  Script& script = report.workload.script.emplace();
  script.other_loader = "a loader";
  script.other_share = 0.88;
  CHECK_THAT(flowing(report),
             ContainsSubstring("The loop waits for this DataLoader for 2.0 % of the time. Its step "
                               "waits for another one for 88 %"));
  CHECK_THAT(flowing(report), ContainsSubstring("--loader 'a loader' tunes that one."));
  CHECK_THAT(flowing(report), !ContainsSubstring("well fed"));
  script.other_share = 0.09;
  CHECK_THAT(flowing(report), ContainsSubstring("well fed"));
  CHECK_THAT(flowing(report), !ContainsSubstring("--loader"));
}

TEST_CASE("A device that waits, or gains all the same, is not called well fed if no cause is found",
          "[screen]") {
  // Bug: "well fed: it waits for data 32 % of the time", where rounds differ too much to say why.
  Report report = testing::example_report();
  report.outcome.diagnoses.clear();
  for (Round& round : report.outcome.trials[0].rounds) round.wait_s = 0.32 * round.duration_s;
  CHECK_THAT(
      flowing(report),
      ContainsSubstring("No cause found, although the device waits for data 32 % of the time."));
  CHECK_THAT(flowing(report), !ContainsSubstring("well fed"));
  report.outcome.trials[0].ceilings = {.loader = 2000, .device = 900, .coupled = 1000};
  CHECK_THAT(flowing(report),
             ContainsSubstring("no faster than the whole loop: use an idle machine."));
  for (Round& round : report.outcome.trials[0].rounds) round.wait_s = 0.04 * round.duration_s;
  CHECK_THAT(flowing(report), ContainsSubstring("the recommended settings make the step faster."));
  for (TierChoice& choice : report.outcome.tiers) choice.speedup = {1.04, 1.02, 1.06};
  CHECK_THAT(flowing(report), ContainsSubstring("well fed: it waits for data 4.0 %"));
}

TEST_CASE("A gap that no cause explains is told", "[screen]") {
  // Bug: causes of a tenth of the gap that look like all of it.
  Report report = testing::example_report();
  report.outcome.unexplained_share = 0.04;
  CHECK_THAT(flowing(report, false), !ContainsSubstring("is unexplained"));
  report.outcome.unexplained_share = 0.34;
  CHECK_THAT(flowing(report, false), ContainsSubstring("34 % of the lost time is unexplained."));
}

TEST_CASE("GPU axes are shown if they vary, with PyTorch's words", "[screen]") {
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

TEST_CASE("A command to run next is on one line", "[screen]") {
  // Bug: a command that is wrapped, of which a shell runs the first half when it is pasted.
  Report report = testing::example_report();
  const std::string command = "autotune --output 'a  b/" + std::string(80, 'x') + ".json' --seed 1";
  report.next = {{"autotune --data DIR", "on your files"}, {command, "more rounds"}};
  const std::string text = screen_text(report, {.verbose = true});
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
  CHECK_THAT(text, ContainsSubstring("batch 64, 128: not applicable (--max-batch is 32)."));
  CHECK_THAT(text, ContainsSubstring("pinned on: not applicable"));
}

TEST_CASE("The standing says how far another config could be ahead, only if one could", "[words]") {
  // Bug: an infinite gain in words, or "tied" that hides a possible gain of 4 %.
  TierChoice choice{Tier::safe, Confidence::tied, 0, {}, {0, 1}, 0.02, {}};
  CHECK(describe(choice, "throughput") ==
        "the cheapest of 2 equally fast configs; another config could be up to 2.0 % faster");
  choice.gain_upper_bound = 0.001;
  CHECK(describe(choice, "throughput") == "the cheapest of 2 equally fast configs");
  choice.standing = Confidence::unresolved;
  choice.gain_upper_bound = std::numeric_limits<double>::infinity();
  CHECK_THAT(
      describe(choice, "throughput"),
      ContainsSubstring("lead over the other configs tried is not significant; raise --budget"));
  choice.standing = Confidence::close;
  choice.gain_upper_bound = 0.042;
  CHECK(describe(choice, "throughput") ==
        "its lead over the other finalists is not significant; another config could be up to 4.2 % "
        "faster");
  choice.standing = Confidence::resolved;
  CHECK(describe(choice, "throughput") == "significantly faster than each other finalist");
  // Bug: "0.80x as fast. Significantly faster", of a config that needs less energy.
  CHECK(describe(choice, "samples_per_joule") ==
        "significantly better by samples_per_joule than each other finalist");
}

TEST_CASE("Gains of wider tiers are offers, and unproved gains are marked", "[screen]") {
  // Bug: another rounding that gains 2 % hidden, or in bold; and "keep what you have" that does not
  // say what looked faster. The safe choice is recommended, and bf16 offered.
  Report report = testing::full_report();
  report.outcome.headline = Tier::safe;
  CHECK_THAT(flowing(report),
             ContainsSubstring("Offer: 2.40x (2.30 to 2.50) with precision bf16, batch 16, "
                               "accumulate 4, which changes rounding."));
  CHECK_THAT(screen_text(report, {.color = true}), ContainsSubstring("\x1b[1m2.00x"));
  CHECK_THAT(screen_text(report, {.color = true}), !ContainsSubstring("\x1b[1m2.40x"));
  Report slower = report;
  slower.outcome.tiers[1].speedup = {1.9, 1.85, 1.95};
  CHECK_THAT(flowing(slower), !ContainsSubstring("Offer:"));
  TierChoice& choice = report.outcome.tiers[0];
  choice = {.trial = 0, .tie_set = {0}, .promising = 1, .promise = {1.08, 0.97, 1.2}};
  report.outcome.verified.reset();
  CHECK_THAT(flowing(report), ContainsSubstring("SET nothing: keep workers 0, prefetch 0") &&
                                  ContainsSubstring("Inconclusive: raise --budget"));
  CHECK_THAT(flowing(report),
             ContainsSubstring("Probably faster, not significant: 1.08x (0.970 to 1.20) with "
                               "workers 2, prefetch 4"));
}

TEST_CASE("The first line names neighbours, where they took a tenth of the machine", "[screen]") {
  // Bug: rounds that know of neighbours, and a screen that says "No cause found".
  Report report = testing::example_report();
  CHECK_THAT(flowing(report), !ContainsSubstring("other processes took"));
  const auto others = [&](double share) {
    for (Trial& trial : report.outcome.trials) {
      for (Round& round : trial.rounds) round.others_share = share;
    }
    return flowing(report);
  };
  CHECK_THAT(others(0.45), ContainsSubstring("other processes took 45 % of the CPUs"));
  CHECK_THAT(others(0.05), !ContainsSubstring("other processes took"));
}

TEST_CASE("A run that ends before its budget says so", "[screen]") {
  // Bug: a user who waits for the rest of the minute, or who takes an interruption for an answer.
  Report report = testing::example_report();
  report.budget_s = 60;
  report.tool.wall_s = 14.6;
  CHECK_THAT(flowing(report), ContainsSubstring("Stopped after 14.6 s of 60.0 s: nothing better "
                                                "is likely."));
  report.outcome.interrupted = true;
  CHECK_THAT(flowing(report), !ContainsSubstring("Stopped after"));
  report.outcome.interrupted = false;
  report.tool.wall_s = 59;
  CHECK_THAT(flowing(report), !ContainsSubstring("Stopped after"));
}

TEST_CASE("A reference that could not run says why", "[screen]") {
  // Bug: a blank where the reason should stand, when the reference needs too much memory.
  Report report = testing::example_report();
  Trial& reference = report.outcome.trials[0];
  reference.ceilings.reset();
  reference.rounds.clear();
  reference.status = TrialStatus::infeasible;
  reference.reason = {Why::memory, {}, 40 << 20, 9 << 20};
  CHECK_THAT(screen_text(report), ContainsSubstring("does not fit into memory: needs 40.0 MiB"));
  reference.reason = {Why::error, "The GPU has no room for it."};
  CHECK_THAT(
      screen_text(report),
      ContainsSubstring("The reference does not fit into memory: The GPU has no room for it."));
}

TEST_CASE("A part of the reference that can't be measured alone says why", "[screen]") {
  // Bug: "the run ended before", of a loader that crashed when it ran alone.
  Report report = testing::example_report();
  Trial& reference = report.outcome.trials[0];
  reference.ceilings.reset();
  CHECK_THAT(flowing(report), ContainsSubstring("No diagnosis: the run ended before"));
  reference.reason = {Why::no_ceilings, "It crashed."};
  CHECK_THAT(flowing(report),
             ContainsSubstring("No diagnosis: its ceilings were not measured: It crashed."));
}

TEST_CASE("What holds the rate back as recommended is said below the causes", "[screen]") {
  // Bug: "SET ... 15.4x", and not a word of the GPU that waits 81 % of the time all the same.
  Report report = testing::example_report();
  Trial& chosen = report.outcome.trials[report.outcome.tiers[0].trial];
  chosen.config.workers = 16;
  chosen.ceilings = Ceilings{.loader = 8382, .copy = 343395, .device = 41350, .coupled = 7661};
  // Bug: "waits 81 %" beside a busy of 44 %, where workers and the step share cores.
  CHECK_THAT(flowing(report), !ContainsSubstring("As recommended"));
  for (Round& round : chosen.rounds) round.wait_s = 0.81 * round.duration_s;
  CHECK_THAT(flowing(report),
             ContainsSubstring("As recommended the step waits 81 %: loading is the limit (at most "
                               "5.40x)."));
  chosen.ceilings->loader = 39'000;  // fast enough: something else is why
  CHECK_THAT(flowing(report), !ContainsSubstring("As recommended"));
  chosen.ceilings->loader = 8382;
  chosen.ceilings->coupled = 34'000;
  CHECK_THAT(flowing(report), !ContainsSubstring("As recommended"));
  chosen.ceilings.reset();
  CHECK_THAT(flowing(report), !ContainsSubstring("As recommended"));
}

TEST_CASE("nvml_busy is shown beside busy if a driver reported it", "[screen]") {
  // Bug: a column of dashes on the cpu, or a table that runs over the edge because of it.
  Report report = testing::full_report();
  CHECK(screen_text(report).find("nvidia-smi") == std::string::npos);
  Trial& chosen = report.outcome.trials[report.outcome.tiers[0].trial];
  for (Round& round : chosen.rounds) round.nvml_busy = 0.97;
  for (const std::size_t width : {80u, 120u}) {
    const std::string text = screen_text(report, {.width = width, .verbose = true});
    CHECK_THAT(text, ContainsSubstring("busy nvidia-smi of best"));
    CHECK_THAT(text, ContainsSubstring("97 %"));
    for (const std::string_view line : split(text, '\n')) CHECK(columns_of(line) <= width);
  }
  CHECK(screen_text(report, {.width = 60}).find("nvidia-smi") == std::string::npos);
}

TEST_CASE("GPU counters are shown below the rates if they exist", "[screen]") {
  // Bug: a line of dashes on the cpu, 0 % of a part that is not counted, or another config's
  // figures.
  Report report = testing::full_report();
  CHECK(screen_text(report).find("counters") == std::string::npos);
  report.outcome.trials[report.outcome.reference].rounds[0].gpm = {0.125, 0.125, 0.125};
  Trial& chosen = report.outcome.trials[report.outcome.choice().trial];
  chosen.rounds[0].gpm = {0.625, -1, 0.25};
  CHECK_THAT(screen_text(report, {.verbose = true}),
             ContainsSubstring("GPU counters (recommended): multiprocessors 62 %, memory"));
}

TEST_CASE("The memory of a GPU in use stands beside its rate", "[screen]") {
  // Bug: the memory of the host alone, where a larger batch fills that of the GPU.
  Report report = testing::full_report();
  CHECK(screen_text(report, {.width = 200}).find("GPU mem") == std::string::npos);
  Trial& chosen = report.outcome.trials[report.outcome.tiers[0].trial];
  chosen.rounds[0].device_bytes = std::uint64_t{3} << 30;
  for (const std::size_t width : {80u, 92u, 120u}) {
    const std::string text = screen_text(report, {.width = width, .verbose = true});
    CHECK_THAT(text, ContainsSubstring("GPU mem"));
    CHECK_THAT(text, ContainsSubstring("3.00 GiB"));
    for (const std::string_view line : split(text, '\n')) CHECK(columns_of(line) <= width);
  }
  CHECK_THAT(screen_text(report, {.width = 92}), ContainsSubstring("GPU mem    memory"));
}

TEST_CASE("Lines keep within 40, 80 and 200 columns", "[screen]") {
  // Bug: lines that wrap, on a narrow terminal. Only words that can't be broken may be longer.
  for (const std::size_t width : {40u, 80u, 200u}) {
    const Report report = testing::full_report();
    std::istringstream lines(screen_text(report, {.width = width}) +
                             screen_text(report, {.width = width, .verbose = true}));
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
