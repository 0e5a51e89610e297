// SPDX-License-Identifier: Apache-2.0
// What tests ask of processes that they have started.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "feedrate/core/clock.hpp"

namespace feedrate::test {

/// Whether something comes to hold within a bound that only a fault reaches.
template <class Holds>
bool becomes(Holds holds) {
  constexpr double bound_s = 60;
  const double end_s = SteadyClock{}.now_s() + bound_s;
  while (!holds()) {
    if (SteadyClock{}.now_s() > end_s) return false;
    ::poll(nullptr, 0, 2);
  }
  return true;
}

/// False for one that has ended, also where nobody has waited for it yet.
inline bool runs(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end != text.npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
}

inline int count_running(const std::vector<pid_t>& pids) {
  int count = 0;
  for (const pid_t pid : pids) count += runs(pid);
  return count;
}

/// The numbers of the lines "pid NUMBER".
inline std::vector<pid_t> pids_in(const std::string& text) {
  std::vector<pid_t> pids;
  std::istringstream lines(text);
  for (std::string word; lines >> word;) {
    pid_t pid = 0;
    if (word == "pid" && lines >> pid) pids.push_back(pid);
  }
  return pids;
}

/// A shell, its child, and a child in a session of its own that ignores SIGTERM, with a child:
/// four that say who they are.
inline const std::string stubborn_tree =
    "setsid sh -c 'trap \"\" TERM; echo pid $$; sleep 1000 & echo pid $!; wait' & "
    "sleep 1000 & echo pid $!; echo pid $$; wait";

}  // namespace feedrate::test
