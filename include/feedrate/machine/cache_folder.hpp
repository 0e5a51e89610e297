// SPDX-License-Identifier: Apache-2.0
// The folder of generated files that are kept between runs, and whether it is usable.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "feedrate/machine/storage.hpp"

namespace feedrate::inline v0 {

/// The cache folder and what can be done with it.
struct CacheFolder {
  std::string path;
  bool exists = false;
  bool writable = false;         ///< or can be made, where it doesn't exist
  std::uint64_t free_bytes = 0;  ///< where it is, or would be
  std::string why_not;           ///< one phrase where it is not writable
};

/// $XDG_CACHE_HOME/feedrate, else $HOME/.cache/feedrate; empty where neither variable is set.
/// A relative XDG_CACHE_HOME is ignored. Source: the XDG Base Directory specification 0.8.
inline std::string cache_folder_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return std::string(cache) + "/feedrate";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/feedrate" : "";
}

namespace detail {

inline std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The folder itself, or the nearest one above it that is there.
inline std::string nearest_existing(std::string path) {
  while (path != "/" && path != "." && ::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    path = parent_of(path);
  }
  return path;
}

}  // namespace detail

/// Looks at `path` and makes nothing.
inline CacheFolder look_at_cache_folder(const std::string& path = cache_folder_path()) {
  CacheFolder cache{path, false, false, 0, ""};
  if (path.empty()) {
    cache.why_not = "neither XDG_CACHE_HOME nor HOME is set";
    return cache;
  }
  const std::string there = detail::nearest_existing(path);
  struct stat status {};
  cache.exists = there == path;
  cache.free_bytes = detail::free_bytes_at(there);
  if (::stat(there.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    cache.why_not = "'" + there + "' is no folder";
  } else if (::access(there.c_str(), W_OK | X_OK) != 0) {
    cache.why_not = "'" + there + "': " + std::strerror(errno);
  }
  cache.writable = cache.why_not.empty();
  return cache;
}

}  // namespace feedrate::inline v0
