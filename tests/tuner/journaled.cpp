// SPDX-License-Identifier: Apache-2.0
#include "journal/journaled.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <string>

#include "journal_folder.hpp"

namespace feedrate::journaled_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using testing::example_header;
using testing::JournalFolder;

/// A machine of its own time, on which a batch of 13 crashes, and one of 12 finds no room.
class FakeMachine final : public Measurer {
 public:
  Round run(const Request& request) override {
    ++asked;
    clock_s += 0.1 + 1e-3 * asked;
    if (request.config.batch == 13) throw TrialError(Fault::device, "It crashed.", "last words");
    if (request.config.batch == 12) throw OutOfMemory("No room for 12.");
    if (request.config.batch == 14) throw Error(Fault::interrupted, "The run was interrupted.");
    if (request.config.batch == 15) skipped.push_back({7, "bad.jpg", "it is torn"});
    return {.duration_s = 0.1, .samples = static_cast<std::uint64_t>(100 + asked), .batches = 3};
  }
  double epoch_boundary_s(const Config&) override { return 0.5 + asked; }
  std::size_t memory_bytes(const Config& config) override {
    return static_cast<std::size_t>(config.batch) << 20;
  }
  std::size_t device_memory_bytes(const Config& config) override {
    return static_cast<std::size_t>(config.batch + asked) << 10;
  }
  bool copies() override { return true; }
  double now_s() override { return clock_s; }
  std::vector<Skip> skips() override { return skipped; }

  int asked = 0;
  double clock_s = 1000;
  std::vector<Skip> skipped;
};

Request of_batch(int batch) {
  return {Part::coupled, {.batch = batch}, {}, Variant::as_is};
}

/// Asks one of everything; what came back, with the time at which it did.
std::string ask_all(Measurer& measurer) {
  std::string heard;
  for (const int batch : {8, 12, 13, 15, 16}) {
    try {
      const Round round = measurer.run(of_batch(batch));
      heard += to_json(round).dump();
    } catch (const TrialError& error) {
      heard += error.what() + error.stderr_tail() + std::to_string(static_cast<int>(error.fault()));
      heard += is_out_of_memory(error) ? " out of memory" : "";
    }
    heard += "@" + std::to_string(measurer.now_s()) + "\n";
  }
  heard += std::to_string(measurer.epoch_boundary_s({})) + " " +
           std::to_string(measurer.memory_bytes({})) + " " +
           std::to_string(measurer.device_memory_bytes({})) + " " +
           std::to_string(measurer.copies());
  for (const Skip& skip : measurer.skips()) heard += skip.name + skip.reason;
  return heard;
}

/// A journal in which `ask_all` has been answered once.
std::string recorded_run(const std::string& path, bool finished) {
  FakeMachine machine;
  Journal journal(path, to_json(example_header()));
  Journaled measurer(machine, &journal, {}, {});
  const std::string heard = ask_all(measurer);
  if (finished) measurer.finish();
  return heard;
}

TEST_CASE("A recorded run gives the same answers without measuring", "[journaled]") {
  // Bug: an answer, a failure, a skipped sample or a time that comes back otherwise.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  const std::string heard = recorded_run(path, true);
  FakeMachine machine;
  bool went_live = false;
  Recorded run = read_recorded(path);
  CHECK(run.finished);
  Journaled again(machine, nullptr, run.lines, {.go_live = [&] { went_live = true; }});
  CHECK(ask_all(again) == heard);
  CHECK(heard.find("It crashed.last words2") != heard.npos);
  CHECK(heard.find("bad.jpg") != heard.npos);
  CHECK_NOTHROW(again.finish());
  CHECK(machine.asked == 0);
  CHECK_FALSE(went_live);
}

TEST_CASE("After its records a run continues live, later and in another block", "[journaled]") {
  // Bug: a clock that starts again, so that a resumed run has twice its budget; or a pair of rounds
  // that two processes ran.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  recorded_run(path, false);
  const Recorded run = read_recorded(path);
  FakeMachine machine;
  machine.clock_s = 5;
  Journal journal(JournalFile::find(path), run.bytes);
  int went_live = 0;
  Journaled again(machine, &journal, run.lines, {.go_live = [&] {
                    ++went_live;
                    machine.clock_s += 100;  // preparing is not tuning
                  }});
  ask_all(again);
  CHECK(again.is_live());
  const double before_s = again.now_s();
  const Round round = again.run(of_batch(8));
  CHECK(went_live == 1);
  CHECK(round.block == 1);
  CHECK(std::abs(again.now_s() - before_s - 0.101) < 1e-9);
  again.run(of_batch(8));
  CHECK(went_live == 1);
  again.finish();
  const Recorded longer = read_recorded(path);
  CHECK(longer.lines.size() == run.lines.size() + 3);
  CHECK(longer.finished);
}

TEST_CASE("No time passes between two answers", "[journaled]") {
  // Bug: a decision on a clock that moved since the last answer, which no replay takes again.
  FakeMachine machine;
  Journaled measurer(machine, nullptr, {}, {});
  measurer.run(of_batch(8));
  const double at_answer_s = measurer.now_s();
  machine.clock_s += 50;
  CHECK(measurer.now_s() == at_answer_s);
  measurer.run(of_batch(8));
  CHECK(measurer.now_s() > at_answer_s + 50);
}

TEST_CASE("Questions of an interrupted run are not recorded", "[journaled]") {
  // Bug: questions in the journal that a resumed run does not ask.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  FakeMachine machine;
  std::atomic<bool> stop{false};
  Journal journal(path, to_json(example_header()));
  Journaled measurer(machine, &journal, {}, {.stop = &stop});
  measurer.run(of_batch(8));
  CHECK_THROWS_AS(measurer.run(of_batch(14)), Error);
  stop = true;
  measurer.run(of_batch(8));
  measurer.finish();
  CHECK(read_recorded(path).lines.size() == 1);
  CHECK_FALSE(read_recorded(path).finished);
}

TEST_CASE("A stop while answers are given again leaves journal and report as they are",
          "[journaled]") {
  // Bug: "another version wrote it, so start anew", or a report without rounds in place of a fuller
  // one.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  recorded_run(path, false);
  FakeMachine machine;
  std::atomic<bool> stop{false}, abort{false};
  Journaled again(machine, nullptr, read_recorded(path).lines, {.stop = &stop, .abort = &abort});
  again.run(of_batch(8));
  stop = true;
  const auto interrupted = MessageMatches(ContainsSubstring("interrupted"));
  CHECK_THROWS_MATCHES(again.memory_bytes({}), Error, interrupted);
  CHECK(abort.load());
  CHECK_THROWS_MATCHES(again.finish(), Error, interrupted);
  Journaled unasked(machine, nullptr, read_recorded(path).lines, {.stop = &stop});
  CHECK_THROWS_MATCHES(unasked.finish(), Error, interrupted);
  CHECK(machine.asked == 0);
}

TEST_CASE("Questions that differ from the journal end the run", "[journaled]") {
  // Bug: the answer to one config taken for another's.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  recorded_run(path, true);
  FakeMachine machine;
  std::atomic<bool> abort{false};
  Journaled again(machine, nullptr, read_recorded(path).lines, {.abort = &abort});
  again.run(of_batch(8));
  const auto refused = MessageMatches(ContainsSubstring("Record 2 of the journal"));
  CHECK_THROWS_MATCHES(again.run(of_batch(9)), Error, refused);
  CHECK(abort.load());
  CHECK_THROWS_MATCHES(again.run(of_batch(13)), Error, refused);
  CHECK_THROWS_MATCHES(again.finish(), Error, refused);
  CHECK(machine.asked == 0);
}

TEST_CASE("A record whose answer was changed ends the run in a sentence", "[journaled]") {
  // Bug: an unexpected error, as of a fault of the program, where a file was edited.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  recorded_run(path, true);
  std::vector<Json> lines = read_recorded(path).lines;
  lines[0]["answer"] = {{"rounds", 3}};
  FakeMachine machine;
  std::atomic<bool> abort{false};
  Journaled again(machine, nullptr, lines, {.abort = &abort});
  const auto refused = MessageMatches(ContainsSubstring("Record 1 of the journal is damaged"));
  CHECK_THROWS_MATCHES(again.run(of_batch(8)), Error, refused);
  CHECK_THROWS_MATCHES(again.memory_bytes({}), Error, refused);
  CHECK(abort.load());
  CHECK(machine.asked == 0);
}

TEST_CASE("A finished run does not match a request for fewer answers", "[journaled]") {
  // Bug: a report of half a run that claims to be all of it.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  recorded_run(path, true);
  FakeMachine machine;
  Journaled again(machine, nullptr, read_recorded(path).lines, {});
  again.run(of_batch(8));
  CHECK_THROWS_AS(again.finish(), Error);
}

TEST_CASE("A failure that ends the run is thrown as it is, and not recorded", "[journaled]") {
  // Bug: a child that can't be started recorded as the fault of a config.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  FakeMachine machine;
  std::atomic<bool> abort{true};
  Journal journal(path, to_json(example_header()));
  Journaled measurer(machine, &journal, {}, {.abort = &abort});
  CHECK_THROWS_AS(measurer.run(of_batch(13)), TrialError);
  CHECK_THROWS_AS(measurer.run(of_batch(8)), TrialError);
  CHECK(read_recorded(path).lines.empty());
}

}  // namespace
}  // namespace feedrate::journaled_tests
