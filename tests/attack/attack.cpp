// SPDX-License-Identifier: Apache-2.0
// Reads damaged files: each is read, or refused by an Error. A crash, a hang, any other exception
// or a report of a sanitizer ends the program; its trace names the input.
//
//     attack FIXTURES REPORTS KIND FIRST COUNT [TRACE]
//
// KIND is jpeg, exif, npy, report or journal; FIRST is the first seed, COUNT the number of inputs;
// the seed that is tried is written to TRACE.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../planted_tree.hpp"
#include "feedrate/data/image/exif.hpp"
#include "feedrate/data/image/image_decoder.hpp"
#include "feedrate/data/npy.hpp"
#include "feedrate/report/json/read_report.hpp"
#include "feedrate/report/screen/screen.hpp"
#include "feedrate/report/text/clean_text.hpp"
#include "journal/recorded.hpp"
#include "mutations.hpp"

namespace feedrate::attack {
namespace {

namespace fs = std::filesystem;

constexpr unsigned longest_s = 60;  ///< of one input, with sanitizers and a busy machine

struct Task {
  fs::path fixtures, reports;
  std::string kind;
  std::uint64_t first, count;
  std::string trace;
};

Bytes read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const void* data, std::size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

std::vector<Bytes> files_of(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == suffix) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  for (const fs::path& path : paths) files.push_back(read_bytes(path));
  if (files.empty()) throw Error(Fault::data, "There is no " + std::string(suffix) + " to damage.");
  return files;
}

/// Tries one input; true where it was read.
using Attempt = bool (*)(Mutations&, const std::vector<Bytes>&, const std::string& scratch);

bool read_jpeg(const Bytes& file, Mutations& mutations) {
  ImageOptions options;
  options.size = static_cast<int>(1 + mutations.below(48));
  options.transform = static_cast<Transform>(mutations.below(4));
  options.dct_scaling = mutations.below(2) == 0;
  options.format.dtype = mutations.below(2) ? DType::f32 : DType::u8;
  std::vector<float> image(static_cast<std::size_t>(options.size) * options.size * 3);
  thread_local ImageDecoder decoder;
  Random random(mutations.below(1000), 0, 0);
  try {
    decoder.decode(file, "damaged.jpg", options, random, image.data());
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool attempt_jpeg(Mutations& mutations, const std::vector<Bytes>& files, const std::string&) {
  const Bytes& file = files[mutations.below(files.size())];
  return read_jpeg(mutations.damaged(file, files[mutations.below(files.size())]), mutations);
}

/// The notes of a camera, alone and within a picture.
bool attempt_exif(Mutations& mutations, const std::vector<Bytes>& files, const std::string&) {
  static const Bytes notes = {'E', 'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                              1,   0x12, 0,   3,   0, 0, 0,   1,   0, 6,  0, 0, 0, 0, 0, 0};
  const Bytes damaged = mutations.damaged(notes, files[mutations.below(files.size())]);
  const int orientation = exif_orientation(damaged);
  if (orientation < 1 || orientation > 8) std::abort();
  Bytes picture = files[mutations.below(files.size())];
  const std::size_t length = std::min<std::size_t>(damaged.size(), 65'000) + 2;
  Bytes segment = {0xff, 0xe1, static_cast<std::uint8_t>(length >> 8),
                   static_cast<std::uint8_t>(length)};
  segment.insert(segment.end(), damaged.begin(),
                 damaged.begin() + static_cast<std::ptrdiff_t>(length - 2));
  picture.insert(picture.begin() + 2, segment.begin(), segment.end());
  return read_jpeg(picture, mutations);
}

bool attempt_npy(Mutations& mutations, const std::vector<Bytes>& files,
                 const std::string& scratch) {
  const std::string path = scratch + "/damaged.npy";
  const Bytes file =
      mutations.damaged(files[mutations.below(files.size())], files[mutations.below(files.size())]);
  write_bytes(path, file.data(), file.size());
  try {
    const NpyFile npy = mutations.below(2) ? NpyFile(path) : NpyFile(path, path);
    std::vector<std::byte> input(npy.layout()[0].bytes());
    std::int32_t label = 0;
    const Layout layout = npy.layout();
    std::byte* const places[] = {input.data(), reinterpret_cast<std::byte*>(&label)};
    std::int32_t* const lengths[] = {nullptr, nullptr};
    Random random(0, 0, 0);
    for (const std::size_t i : {std::size_t{0}, npy.size() / 2, npy.size() - 1}) {
      npy.load(i, Sample(layout, places, lengths), random);
      npy.touch(i);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The text of a JSON file, its values damaged, or its bytes.
std::string damaged_text(Mutations& mutations, const Bytes& file) {
  if (mutations.below(4) == 0) {
    const Bytes bytes = mutations.damaged(file, file);
    return {bytes.begin(), bytes.end()};
  }
  return mutations.damaged(Json::parse(file)).dump();
}

bool attempt_report(Mutations& mutations, const std::vector<Bytes>& files,
                    const std::string& scratch) {
  const std::string path = scratch + "/damaged.json";
  const std::string text = damaged_text(mutations, files[mutations.below(files.size())]);
  write_bytes(path, text.data(), text.size());
  try {
    const ReadReport read = read_report(path);
    const std::string screen =
        terminal_text(screen_text(read.report, {.verbose = mutations.below(2) == 0}));
    if (screen.find("\x1b[2J") != std::string::npos) std::abort();  // it clears the terminal
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool attempt_journal(Mutations& mutations, const std::vector<Bytes>& files,
                     const std::string& scratch) {
  const std::string path = scratch + "/damaged.jsonl";
  const Bytes& file = files[mutations.below(files.size())];
  std::string text(file.begin(), file.end());
  if (mutations.below(2) == 0) {
    const Bytes bytes = mutations.damaged(file, file);
    text.assign(bytes.begin(), bytes.end());
  } else {
    std::vector<std::string> lines;
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.erase(0, end + 1)) {
      lines.push_back(text.substr(0, end));
    }
    std::string& line = lines[mutations.below(2) ? 0 : mutations.below(lines.size())];
    line = mutations.damaged(Json::parse(line)).dump();
    text.clear();
    for (const std::string& one : lines) text += one + "\n";
  }
  write_bytes(path, text.data(), text.size());
  try {
    read_recorded(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

int run(const Task& task) {
  struct Kind {
    Attempt attempt;
    fs::path folder;
    const char* suffix;
  };
  const std::map<std::string, Kind> kinds = {
      {"jpeg", {attempt_jpeg, task.fixtures / "images", ".jpg"}},
      {"exif", {attempt_exif, task.fixtures / "images", ".jpg"}},
      {"npy", {attempt_npy, task.fixtures / "npy", ".npy"}},
      {"report", {attempt_report, task.reports, ".json"}},
      {"journal", {attempt_journal, task.reports, ".jsonl"}}};
  const Kind& kind = kinds.at(task.kind);
  const std::vector<Bytes> files = files_of(kind.folder, kind.suffix);
  const test::PlantedTree scratch;
  const int trace = task.trace.empty() ? -1 : ::open(task.trace.c_str(), O_CREAT | O_WRONLY, 0600);
  std::uint64_t was_read = 0;
  for (std::uint64_t seed = task.first; seed < task.first + task.count; ++seed) {
    if (trace >= 0 && ::pwrite(trace, &seed, sizeof seed, 0) != sizeof seed) return 1;
    ::alarm(longest_s);
    Mutations mutations(seed);
    was_read += kind.attempt(mutations, files, scratch.root());
  }
  std::printf("%s: %llu inputs, %llu read, the others refused\n", task.kind.c_str(),
              static_cast<unsigned long long>(task.count),
              static_cast<unsigned long long>(was_read));
  return was_read > 0 ? 0 : 1;  // a reader that refuses all would pass for a robust one
}

}  // namespace
}  // namespace feedrate::attack

int main(int argc, char** argv) {
  if (argc < 6)
    return std::fprintf(stderr, "usage: attack FIXTURES REPORTS KIND FIRST COUNT [TRACE]\n"), 2;
  return feedrate::attack::run({argv[1], argv[2], argv[3], std::strtoull(argv[4], nullptr, 10),
                                std::strtoull(argv[5], nullptr, 10), argc > 6 ? argv[6] : ""});
}
