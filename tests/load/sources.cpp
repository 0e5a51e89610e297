// SPDX-License-Identifier: Apache-2.0
// Tests of what is made of datasets: select, split, concat, repeat, map and cache.
#include "feedrate/sources.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "datasets.hpp"

namespace feedrate::sources_tests {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::Numbers;

/// The labels of an epoch, in order.
std::vector<std::int32_t> labels_of(std::shared_ptr<const Source> source, int workers = 2) {
  Loader loader(std::move(source),
                {.batch = 7, .workers = workers, .prefetch = 2, .order = {.shuffle = false}});
  std::vector<std::int32_t> labels;
  for (const auto& batch : loader.epoch()) {
    for (const std::int32_t label : batch.get<std::int32_t>("label")) labels.push_back(label);
  }
  return labels;
}

TEST_CASE("A dataset is split into parts that share nothing and are all of it", "[sources]") {
  // Bug: samples of the training in the validation, or some in neither.
  const auto [train, rest] = split(Numbers{100}, 0.9, 3);
  CHECK(train->size() == 90);
  CHECK(rest->size() == 10);
  std::vector<std::int32_t> all = labels_of(train);
  const std::vector<std::int32_t> held = labels_of(rest);
  all.insert(all.end(), held.begin(), held.end());
  std::sort(all.begin(), all.end());
  std::vector<std::int32_t> wanted(100);
  std::iota(wanted.begin(), wanted.end(), 0);
  CHECK(all == wanted);
  CHECK(labels_of(split(Numbers{100}, 0.9, 3).rest) == held);
  CHECK(labels_of(split(Numbers{100}, 0.9, 4).rest) != held);
  CHECK(rest->name(0) == "number-" + std::to_string(held[0]));
  for (const double share : {0.0, 1.0, -1.0, 0.001, std::nan("")}) {
    CHECK_THROWS_WITH(split(Numbers{100}, share), ContainsSubstring("leaves a part empty"));
  }
}

/// Sample i is i times `factor`, and a random number, in fields with `suffix` to their names.
struct Scaled {
  std::string suffix;
  std::size_t samples = 50;
  std::int32_t factor = 1;

  std::size_t size() const { return samples; }
  Layout layout() const {
    return {{"value" + suffix, DType::i32, {}},
            {"drawn" + suffix, DType::f32, {}},
            {"row" + suffix, DType::u8, {4}, true}};
  }
  void load(std::size_t i, const Sample& sample, Random& random) const {
    sample.scalar<std::int32_t>("value" + suffix) = static_cast<std::int32_t>(i) * factor;
    sample.scalar<float>("drawn" + suffix) = random.uniform();
    sample.set_length("row" + suffix, i % 4);
  }
  std::string name(std::size_t i) const { return suffix + std::to_string(i); }
};

TEST_CASE("Zipped datasets give their fields beside each other, drawn alike", "[sources]") {
  // Bug: a mask that is cropped elsewhere than its picture, or belongs to another one.
  Loader loader(zip(Scaled{"_a"}, Scaled{"_b", 50, -3}), {.batch = 8, .workers = 2});
  for (const auto& batch : loader.epoch()) {
    for (std::size_t p = 0; p < batch.count(); ++p) {
      const std::int32_t value = batch.get<std::int32_t>("value_a")[p];
      CHECK(batch.get<std::int32_t>("value_b")[p] == -3 * value);
      CHECK(batch.get<float>("drawn_a")[p] == batch.get<float>("drawn_b")[p]);
      CHECK(batch.lengths("row_b")[p] == value % 4);
    }
  }
  CHECK(zip(Scaled{"_a"}, Scaled{"_b"})->name(3) == "_a3");
  CHECK_THROWS_WITH(zip(Scaled{"_a"}, Scaled{"_b", 49}), ContainsSubstring("Part 2 has 49"));
  CHECK_THROWS_WITH(zip(Scaled{"_a"}, Scaled{"_a"}), ContainsSubstring("two fields named"));
}

TEST_CASE("Chosen samples come in their order, also twice", "[sources]") {
  // Bug: a choice that is sorted, or one that reads beyond the data.
  CHECK(labels_of(select(Numbers{100}, {5, 99, 5, 0})) == std::vector<std::int32_t>{5, 99, 5, 0});
  CHECK_THROWS_WITH(select(Numbers{100}, {5, 100}), ContainsSubstring("Sample 100"));
}

TEST_CASE("Datasets follow each other, and one follows itself", "[sources]") {
  // Bug: the last sample of a part that is taken for the first of the next.
  CHECK(labels_of(concat(Numbers{3}, Numbers{2})) == std::vector<std::int32_t>{0, 1, 2, 0, 1});
  CHECK(labels_of(repeat(Numbers{2}, 3)) == std::vector<std::int32_t>{0, 1, 0, 1, 0, 1});
  CHECK(concat(Numbers{3}, Numbers{2})->name(3) == "number-0");
  const auto bytes =
      map(Numbers{3}, {{"label", DType::i64, {}}}, [](const Sample&, const Sample&, Random&) {});
  CHECK_THROWS_WITH(concat(Numbers{3}, bytes), ContainsSubstring("Part 2 has other fields"));
  CHECK_THROWS_WITH(repeat(Numbers{3}, 0), ContainsSubstring("0 times"));
}

TEST_CASE("A repeated sample has random numbers of its own", "[sources]") {
  // Bug: the same crop of a picture in each of its repetitions.
  Loader loader(repeat(Numbers{1}, 4), {.batch = 4});
  const auto batch = loader.next();
  const auto x = batch->get<float>("x");
  CHECK(std::set<float>{x[1], x[3], x[5], x[7]}.size() == 4);
}

/// Doubles the label; other fields are left out.
std::shared_ptr<const Source> doubled(std::shared_ptr<const Source> source) {
  return map(std::move(source), {{"label", DType::i32, {}}},
             [](const Sample& from, const Sample& to, Random&) {
               to.scalar<std::int32_t>("label") = 2 * from.scalar<std::int32_t>("label");
             });
}

TEST_CASE("A function of each sample is computed by the workers, also of another's", "[sources]") {
  // Bug: memory of a thread's that two functions write at the same time.
  const auto source = doubled(doubled(make_source(Numbers{50})));
  for (const int workers : {0, 4}) {
    const auto labels = labels_of(source, workers);
    REQUIRE(labels.size() == 50);
    for (std::int32_t i = 0; i < 50; ++i) CHECK(labels[static_cast<std::size_t>(i)] == 4 * i);
  }
  CHECK(source->layout().size() == 1);
}

TEST_CASE("What a function throws is the error of its sample", "[sources]") {
  // Bug: a worker that ends with the program.
  const auto source =
      map(Numbers{10}, {{"label", DType::i32, {}}}, [](const Sample& from, const Sample&, Random&) {
        if (from.scalar<std::int32_t>("label") == 3) throw Error(Fault::data, "no 3");
      });
  Loader loader(source, {.batch = 10, .workers = 1, .order = {.shuffle = false}});
  CHECK_THROWS_WITH(loader.next(), ContainsSubstring("sample 3 (number-3): no 3"));
}

/// Sample i has i % 3 rows of i.
struct Rows {
  std::atomic<int>* loads;

  std::size_t size() const { return 20; }
  Layout layout() const { return {{"rows", DType::i32, {2, 2}, true}, {"label", DType::i32, {}}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    ++*loads;
    std::fill_n(sample.get<std::int32_t>(0).begin(), 4, static_cast<std::int32_t>(i));
    sample.set_length("rows", i % 3);
    sample.scalar<std::int32_t>("label") = static_cast<std::int32_t>(i);
  }
};

TEST_CASE("Cached samples are loaded once, as far as they fit, and are the same", "[sources]") {
  // Bug: a sample that another one has overwritten, a length that is lost, or more memory than
  // asked.
  std::atomic<int> loads{0};
  for (const std::size_t kept : {std::size_t{20}, std::size_t{5}}) {
    loads = 0;
    const auto cached = std::make_shared<const Cached>(make_source(Rows{&loads}), kept * 128);
    for (int epoch = 0; epoch < 3; ++epoch) {
      Loader loader(cached, {.batch = 4, .workers = 4, .order = {.seed = 9}, .epochs = 1});
      for (const auto& batch : loader.epoch()) {
        for (std::size_t s = 0; s < batch.count(); ++s) {
          const std::int32_t i = batch.get<std::int32_t>("label")[s];
          CHECK(batch.lengths("rows")[s] == i % 3);
          CHECK(batch.get<std::int32_t>("rows")[4 * s] == (i % 3 > 0 ? i : 0));
        }
      }
    }
    CHECK(cached->kept() == kept);
    CHECK(loads == 20 + 2 * (20 - static_cast<int>(kept)));
  }
  CHECK_THROWS_WITH(cache(Rows{&loads}, 100), ContainsSubstring("one takes 128"));
}

/// Whose first loads fail.
struct Flaky : Rows {
  int failures;

  void load(std::size_t i, const Sample& sample, Random& random) const {
    Rows::load(i, sample, random);
    if (*loads <= failures) throw Error(Fault::data, "not there for a moment");
  }
};

TEST_CASE("Zipped datasets are drawn alike behind a cache, too", "[sources]") {
  // Bug: masks that are cropped otherwise than their pictures, where the pictures are cached.
  const auto drawn = [](const Sample&, const Sample& to, Random& random) {
    to.get<std::int32_t>(0)[0] = static_cast<std::int32_t>(random.below(1 << 20));
  };
  const auto part = [](const char* name) { return Layout{{name, DType::i32, {}}}; };
  struct Plain {
    std::size_t size() const { return 20; }
    Layout layout() const { return {{"x", DType::i32, {}}}; }
    void load(std::size_t i, const Sample& sample, Random&) const {
      sample.get<std::int32_t>(0)[0] = static_cast<std::int32_t>(i);
    }
  };
  Loader loader(
      zip(map(cache(Plain{}, 1 << 20), part("picture"), drawn), map(Plain{}, part("mask"), drawn)),
      {.batch = 4, .epochs = 2});
  while (const auto batch = loader.next()) {
    const auto pictures = batch->get<std::int32_t>("picture"),
               masks = batch->get<std::int32_t>("mask");
    CHECK(std::equal(pictures.begin(), pictures.end(), masks.begin()));
  }
}

TEST_CASE("What is computed behind a cache is the same, whether a sample was kept or not",
          "[sources]") {
  // Bug: other random numbers where the source was spared its draw, so that a resumed run differs.
  struct Draws {
    std::size_t size() const { return 8; }
    Layout layout() const { return {{"x", DType::i32, {}}}; }
    void load(std::size_t i, const Sample& sample, Random& random) const {
      random.next();  // and makes nothing of it
      sample.get<std::int32_t>(0)[0] = static_cast<std::int32_t>(i);
    }
  };
  const auto noise = [](const Sample&, const Sample& to, Random& random) {
    to.get<std::int32_t>(0)[0] = static_cast<std::int32_t>(random.below(1 << 20));
  };
  const auto second_epoch = [&](Cursor start) {
    Loader loader(map(cache(Draws{}, 1 << 20), Draws{}.layout(), noise),
                  {.batch = 4, .epochs = 2, .start = start});
    std::vector<std::int32_t> values;
    while (const auto batch = loader.next()) {
      const auto row = batch->get<std::int32_t>("x");
      if (batch->epoch() == 1) values.insert(values.end(), row.begin(), row.end());
    }
    return values;
  };
  CHECK(second_epoch({}).size() == 8);
  CHECK(second_epoch({}) == second_epoch({.epoch = 1}));
}

TEST_CASE("A sample that could not be loaded keeps its place in a cache", "[sources]") {
  // Bug: each failure of a storage that is away for a moment made the cache smaller for good.
  std::atomic<int> loads{0};
  const auto cached = std::make_shared<const Cached>(make_source(Flaky{{&loads}, 3}), 5 * 128);
  detail::SampleForm form(cached->layout());
  detail::OwnSample own;
  Random random(0, 0, 0);
  for (const bool fails : {true, false, false}) {
    for (std::size_t i = 0; i < 8; ++i) {
      const Sample sample = own.as(form);
      if (fails && i < 3) {
        CHECK_THROWS_AS(cached->load(i, sample, random), Error);
      } else {
        cached->load(i, sample, random);
        CHECK(sample.scalar<std::int32_t>("label") == static_cast<std::int32_t>(i));
      }
    }
  }
  CHECK(cached->kept() == 5);
  CHECK(loads == 8 + 8 - 2 + 3);
}

TEST_CASE("A slot that one thread could not fill is filled by another", "[sources]") {
  // Bug: what the first has written lands over the sample of the second; meant for ThreadSanitizer.
  std::atomic<int> loads{0}, wrong{0};
  const auto source = cache(Flaky{{&loads}, 200}, 5 * 128);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        detail::SampleForm form(source->layout());
        detail::OwnSample own;
        Random random(0, 0, 0);
        for (std::size_t n = 0; n < 1000; ++n) {
          const Sample sample = own.as(form);
          try {
            source->load(n % 8, sample, random);
            wrong += sample.scalar<std::int32_t>("label") != static_cast<std::int32_t>(n % 8);
          } catch (const Error&) {
          }
        }
      });
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("Threads that want one sample at once all get it", "[sources]") {
  // Bug: a place that is given before the sample is whole; meant for ThreadSanitizer.
  std::atomic<int> loads{0};
  const auto source = cache(Rows{&loads}, 1 << 20);
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      detail::SampleForm form(source->layout());
      detail::OwnSample own;
      Random random(0, 0, 0);
      for (std::size_t n = 0; n < 2000; ++n) {
        const Sample sample = own.as(form);
        source->load(n % 20, sample, random);
        wrong += sample.scalar<std::int32_t>("label") != static_cast<std::int32_t>(n % 20);
      }
    });
  }
  threads.clear();
  CHECK(wrong == 0);
}

/// Writes for which batch it was loaded.
struct Places {
  std::size_t size() const { return 7; }
  Layout layout() const { return {{"at", DType::i64, {3}}}; }
  void load(std::size_t, const Sample& sample, Random&) const {
    const auto at = sample.get<std::int64_t>("at");
    at[0] = static_cast<std::int64_t>(sample.at().epoch);
    at[1] = static_cast<std::int64_t>(sample.at().batch);
    at[2] = static_cast<std::int64_t>(sample.at().position);
  }
};

TEST_CASE("A sample knows for which batch it is loaded, below other sources too", "[sources]") {
  // Bug: the batch at which the loader's consumer is, or a place that map() forgets.
  const auto same = [](const Sample& from, const Sample& to, Random&) {
    const auto at = from.get<std::int64_t>("at");
    std::copy(at.begin(), at.end(), to.get<std::int64_t>("at").begin());
  };
  Loader loader(map(concat(Places{}, repeat(Places{}, 2)), Places{}.layout(), same),
                {.batch = 4, .workers = 3, .prefetch = 3});
  for (int b = 0; b < 18; ++b) {
    const auto batch = loader.next();
    for (std::size_t p = 0; p < batch->count(); ++p) {
      const auto at = batch->row<std::int64_t>("at", p);
      CHECK(at[0] == static_cast<std::int64_t>(batch->epoch()));
      CHECK(at[1] == static_cast<std::int64_t>(batch->index()));
      CHECK(at[2] == static_cast<std::int64_t>(p));
    }
  }
}

TEST_CASE("What is kept in memory was loaded for the first batch that it was in", "[sources]") {
  // Bug: samples that are kept believe that all of them are the first of the first batch.
  Loader loader(cache(Places{}, 1 << 20), {.batch = 4, .order = {.shuffle = false}, .epochs = 2});
  while (const auto batch = loader.next()) {
    for (std::size_t p = 0; p < batch->count(); ++p) {
      const auto at = batch->row<std::int64_t>("at", p);
      CHECK(at[0] == 0);
      CHECK(at[1] == static_cast<std::int64_t>(batch->index()));
      CHECK(at[2] == static_cast<std::int64_t>(p));
    }
  }
}

/// Sample i has i % 4 rows, all of them 7.
struct Sevens {
  std::size_t size() const { return 16; }
  Layout layout() const { return {{"x", DType::f32, {3}, true}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    std::fill_n(sample.get<float>("x").begin(), i % 4, 7.0f);
    sample.set_length("x", i % 4);
  }
};

TEST_CASE("A sample is as long as its maximum until it says otherwise", "[sources]") {
  // Bug: a length that another sample has left, or one of a field that has none.
  const detail::SampleForm form({{"x", DType::f32, {3}, true}, {"label", DType::i32, {}}});
  detail::OwnSample own;
  own.as(form).set_length("x", 1);
  const Sample sample = own.as(form);
  CHECK(sample.length("x") == 3);
  sample.set_length("x", 2);
  CHECK(sample.length("x") == 2);
  CHECK_THROWS_WITH(sample.length("label"), ContainsSubstring("not ragged"));
}

TEST_CASE("A function sees zeros behind a short sample, and its length", "[sources]") {
  // Bug: the tail of the sample that the same thread loaded before, or of nothing at all.
  const auto sum = [](const Sample& from, const Sample& to, Random&) {
    const auto x = from.get<float>("x");
    to.get<float>("sum")[0] = std::accumulate(x.begin(), x.end(), 0.0f);
    to.get<float>("sum")[1] = static_cast<float>(from.length("x"));
  };
  const Layout sums = {{"sum", DType::f32, {2}}};
  for (const auto& source : {map(Sevens{}, sums, sum), map(cache(Sevens{}, 1 << 20), sums, sum)}) {
    Loader loader(source, {.batch = 4, .workers = 1, .order = {.shuffle = false}});
    const auto batch = loader.next();
    for (std::size_t p = 0; p < 4; ++p) {
      CHECK(batch->row<float>("sum", p)[0] == 7.0f * static_cast<float>(p));
      CHECK(batch->row<float>("sum", p)[1] == static_cast<float>(p));
    }
  }
}

}  // namespace
}  // namespace feedrate::sources_tests
