// SPDX-License-Identifier: Apache-2.0
// A shared library that is opened on demand, from the loader's path or from given folders.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "feedrate/core/error.hpp"

namespace feedrate::inline v0::cuda {

/// The folders of a list with colons, such as LD_LIBRARY_PATH.
inline std::vector<std::string> folders_of(const std::string& list) {
  std::vector<std::string> folders;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) folders.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

/// A library by its file name, and the folders in which it is looked for before and after those of
/// the loader.
struct LibrarySearch {
  std::string name;
  std::vector<std::string> first = {}, last = {};
  std::string mend;  ///< what to do where it is found nowhere, one phrase
};

/// Opens the library, for good. Throws Error(device), which says where it was looked for, and what
/// is wrong with a file that is there.
inline void* open_library(const LibrarySearch& search) {
  std::vector<std::string> paths;
  for (const std::string& folder : search.first) paths.push_back(folder + "/" + search.name);
  paths.push_back(search.name);
  for (const std::string& folder : search.last) paths.push_back(folder + "/" + search.name);
  std::string tried;
  for (const std::string& path : paths) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const std::string error = dlerror();
    const bool is_missing =
        error == path + ": cannot open shared object file: No such file or directory";
    tried += (tried.empty() ? "" : "; ") + (is_missing ? path + " not found" : error);
  }
  throw Error(Fault::device,
              search.name + " can't be opened (" + tried + "): " + search.mend + ".");
}

/// Looks a function up. Throws Error(device) where the library lacks it.
template <class Function>
void find_function(void* library, const LibrarySearch& search, const char* symbol,
                   Function*& function) {
  static_assert(std::is_function_v<Function>, "feedrate: a pointer to a function is loaded");
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function) return;
  throw Error(Fault::device, search.name + " lacks " + symbol + ": " + search.mend + ".");
}

}  // namespace feedrate::inline v0::cuda
