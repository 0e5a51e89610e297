// SPDX-License-Identifier: Apache-2.0
// Tests of data/image/image_folder.hpp: the dataset, good and bad files alike.
#include "feedrate/data/image/image_folder.hpp"

#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <thread>

#include "../../allocations.hpp"
#include "support.hpp"

namespace feedrate::image_folder_tests {
using namespace feedrate::test;

static_assert(Dataset<ImageFolder> && Named<ImageFolder>);

namespace {

/// A folder of two classes with one good picture each.
void fill(const TemporaryFolder& folder) {
  write_bytes(folder / "cat/good.jpg", make_jpeg({}));
  Making making;
  making.width = 90;
  write_bytes(folder / "dog/good.jpg", make_jpeg(making));
}

ImageOptions small() {
  ImageOptions options;
  options.size = 16;
  return options;
}

/// The sentence that loading the file `name` ends with; empty if it is fine.
std::string load_error(const ImageFolder& images, const std::string& name) {
  OneSample one(images.layout());
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!contains(images.name(i), name)) continue;
    Random random(1, 0, i);
    return error_of([&] { images.load(i, one.sample(), random); });
  }
  return "not listed";
}

}  // namespace

TEST_CASE("A sample is an image in the chosen form and the label of its folder") {
  // Bug: the layout says one shape and the pixels come in another, or labels are those of files.
  const TemporaryFolder folder;
  fill(folder);
  ImageOptions options = small();
  const ImageFolder images(folder.path(), options);
  REQUIRE(images.size() == 2);
  CHECK(images.class_count() == 2);
  CHECK(images.layout()[0] == Field{"image", DType::f32, {3, 16, 16}});
  OneSample one(images.layout());
  Random random(1, 0, 1);
  images.load(1, one.sample(), random);
  CHECK(one.sample().scalar<std::int32_t>("label") == 1);
  double sum = 0;
  for (const float value : one.sample().get<float>("image")) sum += std::abs(value);
  CHECK(sum > 1);
  options.format = {DType::u8, ChannelOrder::nhwc};
  CHECK(ImageFolder(folder.path(), options).layout()[0] == Field{"image", DType::u8, {16, 16, 3}});
}

TEST_CASE("Each kind of bad file is refused by name and reason, and the good ones still load") {
  // Bug: one bad file hangs the loader, ends the process, or gives grey samples in silence.
  const TemporaryFolder folder;
  fill(folder);
  Bytes cut = make_jpeg({});
  cut.resize(cut.size() / 2);
  write_bytes(folder / "cat/cut.jpg", cut);
  write_bytes(folder / "cat/empty.jpg", {});
  write_bytes(folder / "cat/text.jpg", Bytes{'h', 'e', 'l', 'l', 'o'});
  std::filesystem::create_directory(folder / "cat/folder.jpg");
  std::filesystem::create_symlink("nowhere", folder / "cat/link.jpg");
  REQUIRE(::mkfifo((folder / "cat/pipe.jpg").c_str(), 0600) == 0);
  write_bytes(folder / "cat/\xff\n.jpg", cut);
  const ImageFolder images(folder.path(), small());
  REQUIRE(images.size() == 9);
  CHECK(contains(load_error(images, "cut.jpg"), "cat/cut.jpg' is cut off after"));
  CHECK(contains(load_error(images, "empty.jpg"), "empty.jpg' is empty"));
  CHECK(contains(load_error(images, "text.jpg"), "text.jpg' is not a JPEG file"));
  CHECK(contains(load_error(images, "folder.jpg"), "folder.jpg' is a directory"));
  CHECK(contains(load_error(images, "link.jpg"), "link.jpg': No such file"));
  CHECK(contains(load_error(images, "pipe.jpg"), "pipe.jpg' is a pipe"));
  CHECK(contains(load_error(images, "\xff\n.jpg"), "\xff\n.jpg' is cut off"));
  CHECK(load_error(images, "cat/good.jpg").empty());
  CHECK(load_error(images, "dog/good.jpg").empty());
}

TEST_CASE("A folder of which no image can be read is refused with the first reason") {
  // Bug: a training run starts, and fails at its first batch.
  const TemporaryFolder folder;
  for (int i = 0; i < 40; ++i) write_bytes(folder / ("a/" + std::to_string(i) + ".jpg"), {});
  const std::string refusal = error_of([&] { ImageFolder(folder.path(), small()); });
  CHECK(contains(refusal, "None of the 16 images tried"));
  CHECK(contains(refusal, "0.jpg' is empty"));
}

TEST_CASE("The bytes of a sample are the same on any thread and after any other sample") {
  // Bug: what a thread keeps from one picture leaks into the next.
  const TemporaryFolder folder;
  fill(folder);
  write_bytes(folder / "cat/grey.jpg", read_bytes(fixture("images/grey.jpg")));
  write_bytes(folder / "cat/large.jpg", read_bytes(fixture("images/large.jpg")));
  write_bytes(folder / "dog/turned.jpg", read_bytes(fixture("images/orientation_6.jpg")));
  const ImageFolder images(folder.path(), small());
  const auto load_all = [&](bool backwards) {
    std::vector<std::vector<float>> all(images.size());
    OneSample one(images.layout());
    for (std::size_t k = 0; k < images.size(); ++k) {
      const std::size_t i = backwards ? images.size() - 1 - k : k;
      Random random(9, 3, i);
      images.load(i, one.sample(), random);
      const auto image = one.sample().get<float>(0);
      all[i].assign(image.begin(), image.end());
    }
    return all;
  };
  const auto forwards = load_all(false);
  std::vector<std::vector<float>> backwards;
  std::thread([&] { backwards = load_all(true); }).join();
  CHECK(forwards == backwards);
}

TEST_CASE("Once a thread has seen its largest picture, loading allocates nothing of ours") {
  // Bug: a string or a vector per sample; under many threads they queue for the allocator.
  const TemporaryFolder folder;
  fill(folder);
  write_bytes(folder / "dog/large.jpg", read_bytes(fixture("images/large.jpg")));
  const ImageFolder images(folder.path(), small());
  OneSample one(images.layout());
  const Sample sample = one.sample();
  const auto epoch = [&](std::uint64_t number) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      Random random(1, number, i);
      images.load(i, sample, random);
    }
  };
  for (std::uint64_t number = 0; number < 200; ++number) epoch(number);
  const long before = allocations();
  for (std::uint64_t number = 0; number < 50; ++number) epoch(number);
  CHECK(allocations() == before);
  CHECK(before > 0);
}

TEST_CASE("Files that are listed already are a dataset too") {
  // Bug: a list without labels reads behind the end of them.
  const TemporaryFolder folder;
  fill(folder);
  const ImageFolder images({{"a", "b"}, {folder / "dog/good.jpg", folder / "cat/good.jpg"}, {1, 0}},
                           small());
  REQUIRE(images.size() == 2);
  CHECK(images.label(0) == 1);
  CHECK(images.class_count() == 2);
  // Bug: one class, where labels are given without names, and a model whose head is too small.
  CHECK(ImageFolder({{}, {folder / "dog/good.jpg"}, {4}}, small()).class_count() == 5);
  OneSample one(images.layout());
  Random random(1, 0, 0);
  images.load(0, one.sample(), random);
  CHECK(one.sample().scalar<std::int32_t>("label") == 1);
  const auto refusal = [](FolderListing listing) {
    return error_of([&] { ImageFolder(std::move(listing), small()); }, Fault::usage);
  };
  CHECK(contains(refusal({}), "0 paths"));
  CHECK(contains(refusal({{}, {"x.jpg"}, {}}), "0 labels"));
}

}  // namespace feedrate::image_folder_tests
