// SPDX-License-Identifier: Apache-2.0
// Tests of data/texture/texture.hpp, data/texture/texture_set.hpp and data/texture/textures.hpp:
// sets of made pictures.
#include "feedrate/data/texture/textures.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <string>
#include <thread>

#include "feedrate/data/image/image_folder.hpp"
#include "support.hpp"

namespace feedrate::textures_tests {
using namespace feedrate::test;

namespace {

constexpr TextureSpec small_set = {12, 3, 64, 48, 90, 5};

/// Name and bytes of every file below a folder.
std::map<std::string, Bytes> contents(const TemporaryFolder& folder) {
  std::map<std::string, Bytes> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    files[path.substr(folder.path().size() + 1)] = read_bytes(path);
  }
  return files;
}

/// Mean colour of an image of planes.
std::array<double, 3> mean_colour(std::span<const float> image) {
  std::array<double, 3> mean{};
  const std::size_t plane = image.size() / 3;
  for (std::size_t i = 0; i < image.size(); ++i) mean[i / plane] += image[i] / double(plane);
  return mean;
}

}  // namespace

TEST_CASE("A set has the same bytes whatever the number of threads") {
  // Bug: a painter's state is carried from one picture to the next.
  const TemporaryFolder one, three;
  CHECK(make_textures(one.path(), small_set, 1).made == 12);
  CHECK(make_textures(three.path(), small_set, 3).made == 12);
  CHECK(contents(one) == contents(three));
  CHECK(contents(one).size() == 13);
}

TEST_CASE("An interrupted set is completed and what was there is kept") {
  // Bug: a set that was stopped counts as whole, or is made again each time.
  const TemporaryFolder folder, whole;
  std::stop_source stop;
  const auto stop_at_five = [&](int done, int) {
    if (done == 5) stop.request_stop();
  };
  const TexturesMade first =
      make_textures(folder.path(), small_set, 1, stop.get_token(), stop_at_five);
  CHECK((first.made == 5 && !first.complete));
  std::filesystem::resize_file(folder / "class_0000/000000.jpg", 0);
  const TexturesMade second = make_textures(folder.path(), small_set);
  CHECK((second.made == 8 && second.kept == 4 && second.complete));
  make_textures(whole.path(), small_set);
  CHECK(contents(folder) == contents(whole));
}

TEST_CASE("Two programs that make one set at once both get it") {
  // Bug: one finds a folder without a stamp that holds something, and refuses it.
  for (int round = 0; round < 20; ++round) {
    const TemporaryFolder folder, whole;
    const auto make = [&] { return error_of([&] { make_textures(folder.path(), small_set, 1); }); };
    std::string refusal;
    std::thread other([&] { refusal = make(); });
    CHECK(make() == "");
    other.join();
    CHECK(refusal == "");
    make_textures(whole.path(), small_set);
    CHECK(contents(folder) == contents(whole));
  }
}

TEST_CASE("A set of another spec takes the place of the old one, and nothing else is touched") {
  // Bug: pictures of two specs are mixed, or a user's own folder is emptied.
  const TemporaryFolder folder, whole, foreign;
  make_textures(folder.path(), small_set);
  TextureSpec other = small_set;
  other.images = 4;
  other.classes = 2;
  make_textures(folder.path(), other);
  make_textures(whole.path(), other);
  CHECK(contents(folder) == contents(whole));
  write_bytes(foreign / "class_0000/mine.jpg", Bytes{1});
  CHECK(contains(error_of([&] { make_textures(foreign.path(), small_set); }), "something else"));
  CHECK(contents(foreign).size() == 1);
}

TEST_CASE("A full disk and a place that can't be written to are errors, not half files") {
  // Bug: a cut picture stays behind and counts as made. A limit on the size of files stands in for
  // the full disk.
  const TemporaryFolder folder;
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight = before;
  tight.rlim_cur = 500;
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const std::string refusal = error_of([&] { make_textures(folder.path(), small_set, 2); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(contains(refusal, "Can't write"));
  CHECK(contents(folder).size() == 1);  // the stamp
  CHECK(contains(error_of([] { make_textures("/proc/textures", small_set); }), "/proc/textures"));
}

TEST_CASE("Invalid specs, and specs beyond 300 MB, are an error") {
  // Bug: a typing error fills the disk.
  const TemporaryFolder folder;
  const auto refusal = [&](TextureSpec spec) {
    return error_of([&] { make_textures(folder.path(), spec); }, Fault::usage);
  };
  CHECK(contains(refusal({100000}), "300 MB"));
  CHECK(contains(refusal({0}), "at least"));
  CHECK(contains(refusal({4, 8}), "as many images as classes"));
  CHECK(contains(refusal({4, 2, 500, 375, 100}), "quality"));
}

TEST_CASE("Pictures of the default spec take about 110 KB, whatever their class") {
  // Bug: the set costs another time to decode than the pictures that it stands for.
  const TemporaryFolder folder;
  TextureSpec spec;
  spec.images = 10;
  make_textures(folder.path(), spec);
  for (const auto& [name, bytes] : contents(folder)) {
    if (name == "textures.stamp") continue;
    INFO(name);
    CHECK((bytes.size() > 95000 && bytes.size() < 130000));
  }
}

TEST_CASE("Classes can be told apart by colour, but not without error") {
  // Bug: labels do not belong to the pictures, and no model can learn from them.
  const TemporaryFolder folder;
  make_textures(folder.path(), {120, 6, 64, 48, 90, 1});
  ImageOptions options;
  options.size = 32;
  const ImageFolder images(folder.path(), options);
  OneSample one(images.layout());
  std::vector<std::array<double, 3>> colours;
  std::array<std::array<double, 3>, 6> centres{};
  for (std::size_t i = 0; i < images.size(); ++i) {
    Random random(1, 0, i);
    images.load(i, one.sample(), random);
    colours.push_back(mean_colour(one.sample().get<float>(0)));
    auto& centre = centres[static_cast<std::size_t>(images.label(i))];
    for (std::size_t c = 0; c < 3; ++c) centre[c] += colours.back()[c] / 20;
  }
  int right = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto distance = [&](const std::array<double, 3>& centre) {
      return std::hypot(centre[0] - colours[i][0], centre[1] - colours[i][1],
                        centre[2] - colours[i][2]);
    };
    const auto nearest =
        std::min_element(centres.begin(), centres.end(),
                         [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    right += nearest - centres.begin() == images.label(i);
  }
  CHECK(right > 72);  // by chance: 20 of 120
}

}  // namespace feedrate::textures_tests
