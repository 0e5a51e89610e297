// SPDX-License-Identifier: Apache-2.0
// The CUDA toolkit, found without running it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/core/system_files.hpp"

namespace feedrate::inline v0 {

/// Where nvcc is, and of which version; or why not.
struct CudaToolkit {
  std::string nvcc;     ///< path; empty where there is none
  std::string version;  ///< "13.0"; empty where no cuda.h tells it
  std::string why_not;  ///< one phrase where nvcc is empty
};

namespace detail {

inline std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The places in which toolkits are looked for, best first.
inline std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) {
    if (const std::string home = from_environment(name); !home.empty()) {
      folders.push_back(home + "/bin");
    }
  }
  const std::string path = from_environment("PATH");
  for (const std::string_view folder : split(path, ':')) folders.emplace_back(folder);
  folders.emplace_back("/usr/local/cuda/bin");
  return folders;
}

/// CUDA_VERSION is 1000 x major + 10 x minor. Source: the CUDA driver API reference.
inline std::string cuda_version_in(const std::string& header) {
  const std::string text = read_text(header).value_or("");
  const auto number = parse_count(value_after(text, "#define CUDA_VERSION ").value_or(""));
  if (!number) return "";
  return std::to_string(*number / 1000) + "." + std::to_string(*number % 1000 / 10);
}

/// nvcc may be a link into the toolkit: the headers lie beside the real one, or beside the link.
inline std::string toolkit_version(const std::string& nvcc) {
  char* real = ::realpath(nvcc.c_str(), nullptr);
  const std::string resolved = real ? real : nvcc;
  std::free(real);
  for (const std::string& path : {resolved, nvcc}) {
    const std::string prefix = path.substr(0, path.size() - std::string_view("/bin/nvcc").size());
    for (const char* folder :
         {"/include", "/targets/x86_64-linux/include", "/targets/sbsa-linux/include"}) {
      const std::string version = cuda_version_in(prefix + folder + "/cuda.h");
      if (!version.empty()) return version;
    }
  }
  return "";
}

}  // namespace detail

/// Looks for nvcc in `folders`, each a bin folder.
inline CudaToolkit find_cuda_toolkit(
    const std::vector<std::string>& folders = detail::toolkit_folders()) {
  CudaToolkit toolkit;
  for (const std::string& folder : folders) {
    const std::string nvcc = folder + "/nvcc";
    if (::access(nvcc.c_str(), X_OK) != 0) continue;
    toolkit.nvcc = nvcc;
    toolkit.version = detail::toolkit_version(nvcc);
    return toolkit;
  }
  toolkit.why_not = "no nvcc in CUDA_HOME, PATH or /usr/local/cuda";
  return toolkit;
}

}  // namespace feedrate::inline v0
