// SPDX-License-Identifier: Apache-2.0
#include "command/touched_files.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace feedrate {
namespace {

namespace fs = std::filesystem;

constexpr int most_entries = 200'000;

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// What changes files without being theirs: the interpreter's own cache.
bool is_cache(const fs::path& path) {
  return path.filename() == "__pycache__";
}

bool was_touched(const fs::path& path, double since_s) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  return seconds_of(status.st_mtim) >= since_s;
}

/// By its name: what a training run leaves to be gone on from.
bool is_checkpoint(const std::string& path) {
  constexpr std::array<const char*, 10> endings = {".pt", ".pth",   ".ckpt", ".bin", ".safetensors",
                                                   ".h5", ".keras", ".npz",  ".pkl", ".msgpack"};
  return std::any_of(endings.begin(), endings.end(),
                     [&](const char* ending) { return path.ends_with(ending); });
}

bool is_among(const std::vector<std::string>& paths, const fs::path& path) {
  std::error_code error;
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& other) { return fs::equivalent(path, other, error); });
}

}  // namespace

double file_clock_s() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return seconds_of(now);
}

std::vector<std::string> touched_files(const std::string& folder, double since_s,
                                       const std::vector<std::string>& ours) {
  const fs::path top = folder.empty() ? fs::path(".") : fs::path(folder);
  std::vector<std::string> touched;
  std::error_code error;
  fs::recursive_directory_iterator entry(top, fs::directory_options::skip_permission_denied, error);
  for (int seen = 0; !error && entry != fs::end(entry) && seen < most_entries; ++seen) {
    const fs::path& path = entry->path();
    if (is_cache(path)) entry.disable_recursion_pending();
    if (was_touched(path, since_s) && !is_among(ours, path)) {
      touched.push_back(path.lexically_relative(top).string());
    }
    entry.increment(error);
  }
  std::sort(touched.begin(), touched.end());
  std::stable_partition(touched.begin(), touched.end(), is_checkpoint);
  return touched;
}

}  // namespace feedrate
