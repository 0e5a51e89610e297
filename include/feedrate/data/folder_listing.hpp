// SPDX-License-Identifier: Apache-2.0
// The images of a folder, and the class of each.
#pragma once

#include <dirent.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"

namespace feedrate::inline v0 {

/// The images of a folder, in a fixed order: by class name; in each folder the images come
/// before the subfolders. Names are compared as bytes.
struct FolderListing {
  std::vector<std::string> classes;  ///< names of the class folders; empty if there are none
  std::vector<std::string> paths;    ///< of the images
  std::vector<std::int32_t> labels;  ///< index into `classes`; 0 if there are none
  std::size_t ignored = 0;           ///< images beside the class folders, which are no samples
};

namespace detail {

inline bool has_jpeg_name(std::string_view name) noexcept {
  const auto ends_with = [name](std::string_view end) {
    return name.size() > end.size() &&
           ::strncasecmp(name.data() + name.size() - end.size(), end.data(), end.size()) == 0;
  };
  return ends_with(".jpg") || ends_with(".jpeg");
}

/// What one folder holds, sorted.
struct FolderEntries {
  std::vector<std::string> images;   ///< by name alone: what they are shows when they are read
  std::vector<std::string> folders;  ///< but hidden ones; links to folders count as folders
};

/// A folder's identity, however many links lead to it.
using FolderId = std::pair<dev_t, ino_t>;

inline bool is_folder(const std::string& path, unsigned char type) noexcept {
  if (type != DT_UNKNOWN && type != DT_LNK) return type == DT_DIR;
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

inline FolderEntries read_folder(const std::string& path) {
  const auto close = [](DIR* folder) { ::closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> folder(::opendir(path.c_str()), close);
  if (!folder) throw_io("open the folder", path, errno);
  FolderEntries entries;
  for (errno = 0; const dirent* entry = ::readdir(folder.get()); errno = 0) {
    const std::string name = entry->d_name;
    if (has_jpeg_name(name)) {
      entries.images.push_back(name);
    } else if (name[0] != '.' && is_folder(path + '/' + name, entry->d_type)) {
      entries.folders.push_back(name);
    }
  }
  if (errno != 0) throw_io("list the folder", path, errno);
  std::sort(entries.images.begin(), entries.images.end());
  std::sort(entries.folders.begin(), entries.folders.end());
  return entries;
}

inline FolderId folder_id(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_io("open the folder", path, errno);
  return {status.st_dev, status.st_ino};
}

/// Appends the images of a folder and of all below it. A link to a folder that was `seen` before is
/// not followed: it may lead in a circle, or to a tree that many links make endless.
inline void list_images(const std::string& path, std::set<FolderId>& seen,
                        std::vector<std::string>& paths) {
  if (!seen.insert(folder_id(path)).second) return;
  const FolderEntries entries = read_folder(path);
  for (const std::string& name : entries.images) paths.push_back(path + '/' + name);
  for (const std::string& name : entries.folders) list_images(path + '/' + name, seen, paths);
}

inline void check_is_folder(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_io("open the folder", path, errno);
  if (!S_ISDIR(status.st_mode)) {
    throw Error(Fault::data, "'" + path + "' is not a folder; name a folder of JPEG files.");
  }
}

/// Adds the images of each class folder; true if there are any.
inline bool list_classes(const std::string& root, const std::vector<std::string>& folders,
                         FolderListing& listing) {
  const FolderId top = folder_id(root);
  for (std::size_t label = 0; label < folders.size(); ++label) {
    std::set<FolderId> seen = {top};
    list_images(root + '/' + folders[label], seen, listing.paths);
    listing.labels.resize(listing.paths.size(), static_cast<std::int32_t>(label));
  }
  return !listing.paths.empty();
}

}  // namespace detail

/// Lists `root`/class/**.jpg (or .jpeg, in any case); links are followed, to each folder once in a
/// class, hidden folders are not.
/// If no class folder holds an image, the images of `root` itself are listed with label 0.
/// Throws Error(data) if there is no image or a folder can't be read.
inline FolderListing list_image_folder(const std::string& root) {
  detail::check_is_folder(root);
  const detail::FolderEntries top = detail::read_folder(root);
  FolderListing listing;
  if (detail::list_classes(root, top.folders, listing)) {
    listing.classes = top.folders;
    listing.ignored = top.images.size();
    return listing;
  }
  for (const std::string& name : top.images) listing.paths.push_back(root + '/' + name);
  listing.labels.assign(listing.paths.size(), 0);
  if (!listing.paths.empty()) return listing;
  throw Error(Fault::data, "The folder '" + root +
                               "' holds no .jpg or .jpeg file, neither in class folders nor "
                               "directly; name a folder of JPEG files.");
}

}  // namespace feedrate::inline v0
