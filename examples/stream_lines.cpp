// SPDX-License-Identifier: Apache-2.0
// A stream: the lines of files, whose number nobody knows, in batches of at most so many bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "feedrate/stream.hpp"

/// Each file is a shard; a line that is longer than 1000 bytes is cut.
struct Lines {
  std::vector<std::string> files;

  std::size_t shards() const { return files.size(); }
  feedrate::Layout layout() const { return {{"text", feedrate::DType::u8, {1000}, true}}; }
  std::string name(std::size_t shard) const { return files[shard]; }

  struct Reader {
    std::ifstream file;

    bool next(const feedrate::Sample& sample, feedrate::Random&) {
      std::string line;
      if (!std::getline(file, line)) return false;
      line.resize(std::min<std::size_t>(line.size(), 1000));
      std::copy(line.begin(), line.end(), sample.get<std::uint8_t>("text").begin());
      sample.set_length("text", line.size());
      return true;
    }
  };

  Reader open(std::size_t shard, std::uint64_t) const {
    std::ifstream file(files[shard]);
    if (!file) throw feedrate::Error(feedrate::Fault::data, "Could not open " + files[shard] + ".");
    return {std::move(file)};
  }
};

int main(int argc, char** argv) try {
  if (argc < 2) return std::fprintf(stderr, "usage: %s FILE...\n", argv[0]), 2;
  feedrate::StreamLoader loader(
      Lines{std::vector<std::string>(argv + 1, argv + argc)},
      {.batch = 256, .workers = 2, .max_total = 10'000, .trim = true, .epochs = 1});
  std::size_t lines = 0, bytes = 0, padded = 0;
  while (const auto batch = loader.next()) {
    lines += batch->count();
    padded += batch->tensor("text").shape.elements();
    for (std::size_t i = 0; i < batch->count(); ++i) bytes += batch->text("text", i).size();
  }
  std::printf("%zu lines, %zu bytes, %zu with padding\n", lines, bytes, padded);
} catch (const feedrate::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
