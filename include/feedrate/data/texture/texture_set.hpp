// SPDX-License-Identifier: Apache-2.0
// The files of a set of textures, and the stamp that identifies their folder.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"
#include "feedrate/data/file_writer.hpp"

namespace feedrate::inline v0 {

/// A set of textures. The defaults make about 220 MB; no set may be larger than 300 MB.
struct TextureSpec {
  int images = 2000;
  int classes = 10;
  int width = 500, height = 375;
  int quality = 90;  ///< of the JPEG files: about 110 KB each at 500 x 375
  std::uint64_t seed = 1;

  bool operator==(const TextureSpec&) const = default;
};

/// Throws Error(usage) if a spec is invalid or would take more than 300 MB.
inline void check(const TextureSpec& spec) {
  constexpr double max_bytes = 300e6;  // bytes per pixel below: measured, with some reserve
  const bool sane = spec.images >= 1 && spec.classes >= 1 && spec.width >= 8 && spec.height >= 8 &&
                    spec.width <= 8192 && spec.height <= 8192 && spec.quality >= 1 &&
                    spec.quality <= 95 && spec.classes <= spec.images;
  if (!sane) {
    throw Error(Fault::usage,
                "A set of textures needs at least as many images as classes, sides of 8 to 8192 "
                "pixels and a quality of 1 to 95.");
  }
  const double pixels = static_cast<double>(spec.images) * spec.width * spec.height;
  if (pixels * (spec.quality <= 90 ? 0.65 : 1.1) > max_bytes) {
    throw Error(Fault::usage,
                "This set of textures could take more than 300 MB; ask for fewer or smaller ones.");
  }
}

namespace detail {

/// The number after the name is the painter's version: raise it when the same spec gives other
/// pictures, so that old sets are made again.
inline std::string texture_stamp(const TextureSpec& spec) {
  std::string stamp = "feedrate textures 1";
  for (const std::uint64_t value :
       {static_cast<std::uint64_t>(spec.images), static_cast<std::uint64_t>(spec.classes),
        static_cast<std::uint64_t>(spec.width), static_cast<std::uint64_t>(spec.height),
        static_cast<std::uint64_t>(spec.quality), spec.seed}) {
    stamp += ' ';
    stamp += std::to_string(value);
  }
  return stamp + "\n";
}

inline int texture_label(const TextureSpec& spec, int i) noexcept {
  return i % spec.classes;
}

inline std::string padded(int number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(text.size() < digits ? digits - text.size() : 0, '0') + text;
}

inline std::string texture_folder(const std::string& folder, int label) {
  return folder + "/class_" + padded(label, 4);
}

inline std::string texture_path(const std::string& folder, const TextureSpec& spec, int i) {
  return texture_folder(folder, texture_label(spec, i)) + "/" + padded(i, 6) + ".jpg";
}

inline bool is_filled_file(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

/// The stamp that lies in a folder; empty if none does.
inline std::string read_stamp(const std::string& path) {
  std::vector<std::uint8_t> buffer;
  if (!std::filesystem::exists(path)) return {};
  const auto bytes = read_file(path, buffer, 4096);
  return {bytes.begin(), bytes.end()};
}

/// Removes the class folders of an older set, and nothing else.
inline void remove_old_classes(const std::string& folder) {
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind("class_", 0) == 0) old.push_back(entry.path());
  }
  for (const auto& path : old) std::filesystem::remove_all(path);
}

inline void write_stamp(const std::string& path, const std::string& stamp) {
  write_file(path, {reinterpret_cast<const std::uint8_t*>(stamp.data()), stamp.size()});
}

/// Brings a folder to the state in which files of this spec may be added.
inline void stamp_folder(const std::string& folder, const TextureSpec& spec) {
  const std::string stamp_path = folder + "/textures.stamp", wanted = texture_stamp(spec);
  const std::string found = read_stamp(stamp_path);
  if (found == wanted) return;
  if (found.rfind("feedrate textures ", 0) == 0) {
    remove_old_classes(folder);
  } else if (!std::filesystem::is_empty(folder)) {
    throw Error(Fault::data, "The folder '" + folder +
                                 "' holds something else than textures; name an empty one.");
  }
  write_stamp(stamp_path, wanted);
}

/// Of two programs that prepare one folder, the second waits for the first, and finds its stamp.
/// The files themselves may be made by both: whoever is first, their bytes are the same.
inline void prepare_texture_folder(const std::string& folder, const TextureSpec& spec) {
  try {
    std::filesystem::create_directories(folder);
    const Descriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ::flock(lock.fd(), LOCK_EX);  // file systems without locks do without
    stamp_folder(folder, spec);
    for (int label = 0; label < spec.classes; ++label) {
      std::filesystem::create_directory(texture_folder(folder, label));
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw_unwritable(folder, error.code().value());
  }
}

}  // namespace detail

}  // namespace feedrate::inline v0
