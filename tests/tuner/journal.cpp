// SPDX-License-Identifier: Apache-2.0
#include "journal/journal.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "journal/recorded.hpp"
#include "journal_folder.hpp"

namespace {

int storage_error = 0;  ///< of fdatasync; 0: it does what it does

}  // namespace

/// In the place of the C library's: the disk of a test does not fail by itself.
extern "C" int fdatasync(int fd) {
  errno = storage_error;
  return storage_error ? -1 : static_cast<int>(::syscall(SYS_fdatasync, fd));
}

namespace feedrate::journal_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using testing::example_header;
using testing::JournalFolder;
using testing::text_of;

Json record(int number) {
  return {{"question", {{"ask", "copies"}}}, {"answer", {{"n", number}}}, {"elapsed_s", number}};
}

/// The text of a journal with three records.
std::string three_records(const std::string& path) {
  Journal journal(path, to_json(example_header()));
  for (int n = 1; n <= 3; ++n) journal.append(record(n), n == 3);
  return text_of(path);
}

TEST_CASE("A journal that is cut at any byte of its last two lines is read up to there",
          "[journal]") {
  // Bug: a torn last line that makes the whole run unreadable, or that the next line is glued to.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  const std::string whole = three_records(path);
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  const std::size_t second = whole.rfind('\n', last - 2) + 1;
  for (std::size_t cut = second; cut <= whole.size(); ++cut) {
    std::ofstream(path, std::ios::trunc) << whole.substr(0, cut);
    const Recorded run = read_recorded(path);
    const std::size_t wanted = cut == whole.size() ? 3 : cut >= last ? 2 : 1;
    REQUIRE(run.lines.size() == wanted);
    { Journal(JournalFile::find(path), run.bytes).append(record(9)); }
    const Recorded again = read_recorded(path);
    REQUIRE(again.lines.size() == wanted + 1);
    REQUIRE(again.lines.back() == record(9));
  }
}

TEST_CASE("A last line that is whole but damaged is cut off, one before it is refused",
          "[journal]") {
  // Bug: zeros that a power failure left at the end of a file, or a search that goes on without
  // an answer in the middle.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  const std::string whole = three_records(path);
  std::ofstream(path, std::ios::trunc) << whole << std::string(100, '\0') << "\n";
  CHECK(read_recorded(path).lines.size() == 3);
  CHECK(read_recorded(path).bytes == whole.size());
  std::ofstream(path, std::ios::trunc) << whole << "{\"elapsed_s\":\n" << record(4).dump() << "\n";
  CHECK_THROWS_MATCHES(read_recorded(path), Error,
                       MessageMatches(ContainsSubstring("Line 5 of the journal")));
}

TEST_CASE("Foreign files are refused with a sentence", "[journal]") {
  // Bug: an exception of the JSON library on a file that is no journal of this version.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  const auto refuses = [&](const std::string& text, const std::string& sentence) {
    std::ofstream(path, std::ios::trunc) << text;
    CHECK_THROWS_MATCHES(read_recorded(path), Error, MessageMatches(ContainsSubstring(sentence)));
  };
  refuses("", "holds no whole line");
  refuses("{\"journal_version\":2", "holds no whole line");
  refuses("hello\n", "is no journal");
  refuses("[]\n", "is no journal");
  refuses("{\"schema_version\":1}\n", "is no journal");
  refuses("{\"journal_version\":4}\n", "is no journal");
  refuses("{\"journal_version\":1}\n", "of version 1");
  refuses("{\"journal_version\":\"one\"}\n", "of version \"one\"");
  refuses(std::string(100'000, '[') + "\n", "is no journal");
  CHECK_THROWS_MATCHES(read_recorded(folder.file("missing")), Error,
                       MessageMatches(ContainsSubstring("There is no journal")));
}

TEST_CASE("A run of another version or machine is refused", "[journal]") {
  // Bug: rounds of two machines in one race.
  JournalHeader header = example_header();
  Machine here = header.machine;
  CHECK_NOTHROW(require_same(header, "run.jsonl", header.tool.version, here));
  CHECK_THROWS_MATCHES(require_same(header, "run.jsonl", "9.9", here), Error,
                       MessageMatches(ContainsSubstring("this is 9.9")));
  here.fingerprint = "another";
  CHECK_THROWS_MATCHES(require_same(header, "run.jsonl", header.tool.version, here), Error,
                       MessageMatches(ContainsSubstring("another machine")));
}

TEST_CASE("A run is resumed only on its own GPU", "[journal]") {
  // Bug: rates of two cards in one race, because CUDA_VISIBLE_DEVICES was changed in between.
  JournalHeader header = example_header();
  CHECK_NOTHROW(require_same_device(header, ""));
  header.device = "GPU-a";
  CHECK_NOTHROW(require_same_device(header, "GPU-a"));
  CHECK_THROWS_MATCHES(
      require_same_device(header, "GPU-b"), Error,
      MessageMatches(ContainsSubstring("trained on GPU-a and would now train on GPU-b")));
  CHECK_THROWS_MATCHES(require_same_device(header, ""), Error,
                       MessageMatches(ContainsSubstring("would now train on no GPU")));
}

TEST_CASE("A new journal replaces an old one", "[journal]") {
  // Bug: the answers of last week's run at the head of today's.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  three_records(path);
  { const Journal fresh(path, to_json(example_header())); }
  CHECK(read_recorded(path).lines.empty());
}

TEST_CASE("What is no journal of ours is never replaced", "[journal]") {
  // Bug: the user's train.jsonl is emptied by --output train.json, or a file that a link leads to.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl"), link = folder.file("link.jsonl");
  const auto refuses = [&](const std::string& name, const std::string& why) {
    CHECK_THROWS_MATCHES(require_unused_journal(name), Error,
                         MessageMatches(ContainsSubstring(why)));
    CHECK_THROWS_MATCHES(Journal(name, to_json(example_header())), Error,
                         MessageMatches(ContainsSubstring(why)));
  };
  std::ofstream(path) << "{\"text\": \"a line of a dataset\"}\n";
  refuses(path, "is there and is no journal");
  CHECK(text_of(path) == "{\"text\": \"a line of a dataset\"}\n");
  std::filesystem::create_symlink(path, link);
  refuses(link, "is a link");
  std::filesystem::remove(path);
  refuses(link, "is a link");
  CHECK(::mkfifo(path.c_str(), 0600) == 0);
  refuses(path, "is no file");
  CHECK_THROWS_MATCHES(read_recorded(path), Error,
                       MessageMatches(ContainsSubstring("There is no journal")));
}

TEST_CASE("A journal that is out of date is removed, and nothing else", "[journal]") {
  // Bug: the user's base.jsonl, removed since base.json is a baseline that was updated.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  std::ofstream(path) << "{\"text\": \"a line of a dataset\"}\n";
  remove_journal(path);
  CHECK(std::filesystem::exists(path));
  std::filesystem::remove(path);
  remove_journal(path);
  {
    const Journal running(path, to_json(example_header()));
    remove_journal(path);
    CHECK(std::filesystem::exists(path));
  }
  remove_journal(path);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("A journal is for its owner alone", "[journal]") {
  // Bug: passwords of the command line in a file that everybody may read.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  std::ofstream(path) << "";
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  const Journal journal(path, to_json(example_header()));
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0600));
}

TEST_CASE("A journal has one writer at a time", "[journal]") {
  // Bug: two runs whose lines alternate in one file.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  CHECK_NOTHROW(require_unused_journal(path));
  const Journal first(path, to_json(example_header()));
  CHECK_THROWS_MATCHES(Journal(path, to_json(example_header())), Error,
                       MessageMatches(ContainsSubstring("Another autotune is writing")));
  CHECK_THROWS_AS(require_unused_journal(path), Error);
  CHECK_THROWS_MATCHES(JournalFile::find(path), Error,
                       MessageMatches(ContainsSubstring("Another autotune is writing")));
  CHECK(read_recorded(path).header.tool.version == example_header().tool.version);
}

TEST_CASE("Lines added before a journal is locked are read and kept", "[journal]") {
  // Bug: a journal that is cut where it ended when it was read, with answers behind it by now.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  three_records(path);
  auto other = std::make_unique<Journal>(JournalFile::find(path), read_recorded(path).bytes);
  CHECK_THROWS_AS(JournalFile::find(path), Error);
  other->append(record(4));
  other.reset();
  JournalFile file = JournalFile::find(path);
  const Recorded run = read_recorded(path);
  { const Journal journal(std::move(file), run.bytes); }
  CHECK(read_recorded(path).lines.size() == 4);
}

TEST_CASE("A line that does not reach the storage is an error and is removed", "[journal]") {
  // Bug: a journal that promises lines which the disk has refused.
  const JournalFolder folder;
  const std::string path = folder.file("run.jsonl");
  Journal journal(path, to_json(example_header()));
  journal.append(record(1));
  storage_error = EIO;
  journal.append(record(2), false);
  CHECK_THROWS_MATCHES(journal.append(record(3)), Error,
                       MessageMatches(ContainsSubstring("Input/output error")));
  storage_error = EINVAL;
  CHECK_NOTHROW(journal.append(record(4)));
  storage_error = 0;
  const Recorded run = read_recorded(path);
  REQUIRE(run.lines.size() == 3);
  CHECK(run.lines.back() == record(4));
}

TEST_CASE("A journal in a place that can't be written to is one sentence", "[journal]") {
  // Bug: an error without the path, or a crash; or exit 1 for what another name mends.
  const JournalFolder folder;
  CHECK_THROWS_MATCHES(require_unused_journal(folder.file("")), Error,
                       MessageMatches(ContainsSubstring("choose another --output")));
  CHECK_THROWS_MATCHES(JournalFile::find(folder.file("missing")), Error,
                       MessageMatches(ContainsSubstring("There is no journal")));
  CHECK_THROWS_MATCHES(Journal("/proc/run.jsonl", to_json(example_header())), Error,
                       MessageMatches(ContainsSubstring("'/proc/run.jsonl' can't be written")));
}

}  // namespace
}  // namespace feedrate::journal_tests
