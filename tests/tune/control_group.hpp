// SPDX-License-Identifier: Apache-2.0
// A control group that a test makes for itself, where the kernel and its rights let it.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "feedrate/machine/cgroup.hpp"

namespace feedrate::testing {

/// This process in a control group of its own, which grants it so many CPUs, while this lives.
class ControlGroup {
 public:
  explicit ControlGroup(double cpus) {
    find("cpu");
    const bool is_v1 = !home_.empty();
    if (!is_v1) find("");
    if (home_.empty()) return;
    own_ = home_ + "/feedrate-test-" + std::to_string(::getpid());
    if (::mkdir(own_.c_str(), 0755) != 0) return;
    const std::string quota = std::to_string(static_cast<int>(cpus * period_us));
    holds_ = (is_v1 ? write(own_ + "/cpu.cfs_quota_us", quota)
                    : write(own_ + "/cpu.max", quota + " " + std::to_string(period_us))) &&
             write(own_ + "/cgroup.procs", std::to_string(::getpid()));
  }
  ~ControlGroup() {
    if (holds_) write(home_ + "/cgroup.procs", std::to_string(::getpid()));
    if (!own_.empty()) ::rmdir(own_.c_str());
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  /// Whether it could be made.
  bool holds() const noexcept { return holds_; }

 private:
  static constexpr int period_us = 100'000;  // the kernel's own

  static bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    return static_cast<bool>(file << text << std::flush);
  }

  void find(const char* controller) {
    const std::string groups = read_text("/proc/self/cgroup").value_or("");
    detail::for_each_group(read_mounts(), groups, controller, [&](const std::string& folder) {
      if (home_.empty()) home_ = folder;
    });
  }

  std::string home_;  ///< folder of the group that this process is in
  std::string own_;
  bool holds_ = false;
};

}  // namespace feedrate::testing
