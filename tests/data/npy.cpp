// SPDX-License-Identifier: Apache-2.0
// Tests of data/npy.hpp: rows as samples, with and without labels.
#include "feedrate/data/npy.hpp"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "support.hpp"

namespace feedrate::npy_tests {
using namespace feedrate::test;

static_assert(Dataset<NpyFile> && Named<NpyFile>);

namespace {

std::string npy(const std::string& name) {
  return fixture("npy/" + name + ".npy");
}

std::string refusal(const std::string& input, const std::string& labels = {}) {
  return error_of([&] { labels.empty() ? NpyFile(npy(input)) : NpyFile(npy(input), npy(labels)); });
}

/// Pages of a file that lie in the page cache.
std::size_t cached_pages(const std::string& path) {
  const MappedFile file(path);
  std::vector<unsigned char> pages((file.bytes().size() + 4095) / 4096);
  REQUIRE(::mincore(const_cast<std::uint8_t*>(file.bytes().data()), file.bytes().size(),
                    pages.data()) == 0);
  return static_cast<std::size_t>(
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }));
}

}  // namespace

TEST_CASE("A sample is a row of the array, with label 0 where there are none") {
  // Bug: rows are counted from the start of the file, or in elements.
  const NpyFile file(npy("f32"));
  REQUIRE(file.size() == 4);
  CHECK(file.layout()[0] == Field{"input", DType::f32, {2, 3}});
  OneSample one(file.layout());
  Random random(1, 0, 2);
  one.sample().scalar<std::int32_t>("label") = 9;
  file.load(2, one.sample(), random);
  const auto input = one.sample().get<float>("input");
  for (std::size_t k = 0; k < 6; ++k) CHECK(input[k] == static_cast<float>(12 + k));
  CHECK(one.sample().scalar<std::int32_t>("label") == 0);
  CHECK(file.name(2) == npy("f32") + "[2]");
  CHECK(contains(error_of([&] { file.load(4, one.sample(), random); }, Fault::usage), "Row 4"));
}

TEST_CASE("Labels of any integer type arrive as i32") {
  // Bug: labels of 8 bytes are read 4 at a time: every other one is 0.
  const std::string labels = GENERATE("labels_u8", "labels_i32", "labels_i64");
  const NpyFile file(npy("u8"), npy(labels));
  CHECK(file.label(0) == 3);
  CHECK(file.label(1) == 1);
  CHECK(file.label(2) == 0);
  CHECK(file.label(3) == 2);
}

TEST_CASE("Labels that do not fit are refused by a sentence") {
  // Bug: the last samples take their labels from beyond the end.
  CHECK(contains(refusal("f32", "labels_short"), "have 3 rows but"));
  CHECK(contains(refusal("f32", "labels_f32"), "not a list of integers"));
  CHECK(contains(refusal("f32", "i32"), "not a list of integers"));
  const NpyFile file(npy("f32"), npy("labels_negative"));
  CHECK(contains(error_of([&] { file.label(2); }), "the label -1 at row 2"));
}

TEST_CASE("Files without rows are refused by a sentence") {
  // Bug: a division by zero rows, or a scalar taken for one row.
  CHECK(contains(refusal("no_rows"), "holds no elements"));
  CHECK(contains(refusal("scalar"), "is a single number"));
  CHECK(contains(refusal("missing"), "No such file"));
}

TEST_CASE("A row that was dropped from memory is read again, unchanged") {
  // Bug: forgetting pages of a mapping loses what they hold.
  const NpyFile file(npy("f32"));
  OneSample one(file.layout());
  Random random(1, 0, 2);
  CHECK(file.evict(2));
  CHECK(file.touch(2) == 6 * sizeof(float));
  file.load(2, one.sample(), random);
  CHECK(one.sample().get<float>("input")[5] == 17);
}

TEST_CASE("Rows that share a page leave the page cache") {
  // Bug: the kernel keeps pages that are not dropped as a whole, and a cold run is a warm one.
  const TemporaryFolder folder;
  Bytes bytes = read_bytes(npy("f32"));
  const std::size_t rows = 3000, header = bytes.size() - 4 * 6 * sizeof(float);
  const std::string shape = "(4, 2, 3), }";
  const auto at = std::search(bytes.begin(), bytes.end(), shape.begin(), shape.end());
  REQUIRE(at != bytes.end());
  const std::string more = "(3000, 196)}";  // of 784 bytes each
  std::copy(more.begin(), more.end(), at);
  bytes.resize(header + rows * 784);
  write_bytes(folder / "rows.npy", bytes);
  struct statfs system {};
  REQUIRE(::statfs(folder.path().c_str(), &system) == 0);
  if (system.f_type == TMPFS_MAGIC)
    SKIP("The temporary files lie in memory, and in no page cache.");
  const NpyFile file(folder / "rows.npy");
  std::size_t touched = 0;
  for (std::size_t i = 0; i < rows; ++i) touched += file.touch(i);
  CHECK(touched == rows * 784);
  const detail::Descriptor synced(::open((folder / "rows.npy").c_str(), O_RDONLY));
  ::fsync(synced.fd());
  for (std::size_t i = 0; i < rows; ++i) CHECK(file.evict(i));
  CHECK(cached_pages(folder / "rows.npy") == 0);
}

}  // namespace feedrate::npy_tests
