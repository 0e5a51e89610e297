// SPDX-License-Identifier: Apache-2.0
#include "process/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "feedrate/core/error.hpp"
#include "feedrate/data/file.hpp"

namespace feedrate {
namespace {

/// The fields behind the name, which may hold blanks and brackets: state, parent, group; 9 fields
/// on, CPU time in user and kernel mode, its own and that of children it waited for; 5 fields on,
/// when it started. Source: proc(5).
std::optional<ProcessMark> parse_stat(pid_t pid, const char* text) {
  const char* const name_end = std::strrchr(text, ')');
  ProcessMark mark{.pid = pid};
  unsigned long long user = 0, system = 0, children_user = 0, children_system = 0;
  constexpr const char* layout =
      ") %*c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d %*d %llu";
  const bool whole =
      name_end && std::sscanf(name_end, layout, &mark.parent, &mark.group, &user, &system,
                              &children_user, &children_system, &mark.started_ticks) == 7;
  mark.cpu_ticks = user + system + children_user + children_system;
  return whole ? std::optional(mark) : std::nullopt;
}

/// Empty where there is no such process, or none that we may see.
std::optional<ProcessMark> look_at(pid_t pid) noexcept {
  char path[32], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  const detail::Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t got = file.fd() < 0 ? -1 : ::read(file.fd(), text, sizeof text - 1);
  if (got <= 0) return std::nullopt;
  text[got] = '\0';
  return parse_stat(pid, text);
}

/// A listing of /proc.
class ProcessListing {
 public:
  ProcessListing() : folder_(::opendir("/proc")) {
    if (folder_) return;
    throw Error(Fault::internal,
                std::string("Can't list /proc: ") + std::strerror(errno) + "; mount it.");
  }
  ProcessListing(const ProcessListing&) = delete;
  ProcessListing& operator=(const ProcessListing&) = delete;
  ~ProcessListing() { ::closedir(folder_); }

  /// The next process; 0 behind the last.
  pid_t next() {
    while (const dirent* const entry = ::readdir(folder_)) {
      const int pid = std::atoi(entry->d_name);
      if (pid > 0) return pid;
    }
    return 0;
  }

 private:
  DIR* folder_;
};

std::vector<ProcessMark> all_processes() {
  std::vector<ProcessMark> all;
  ProcessListing listing;
  while (const pid_t pid = listing.next()) {
    if (const auto mark = look_at(pid)) all.push_back(*mark);
  }
  return all;
}

void append_children(pid_t parent, const std::vector<ProcessMark>& all,
                     std::vector<ProcessMark>& to) {
  for (const ProcessMark& process : all) {
    if (process.parent == parent) to.push_back(process);
  }
}

/// Holds on to a process, so that its number can't come to mean another; -1 where the kernel can't.
int hold(pid_t pid) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

int signal_held(int held, int number) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, held, number, nullptr, 0));
}

}  // namespace

std::vector<ProcessMark> descendants_of(pid_t root) {
  const std::vector<ProcessMark> all = all_processes();
  std::vector<ProcessMark> found;
  append_children(root, all, found);
  for (std::size_t parent = 0; parent < found.size(); ++parent) {
    append_children(found[parent].pid, all, found);
  }
  return found;
}

double tree_cpu_s(pid_t root) {
  unsigned long long ticks = look_at(root).value_or(ProcessMark{}).cpu_ticks;
  for (const ProcessMark& process : descendants_of(root)) ticks += process.cpu_ticks;
  return static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// It is held before it is looked at: the number that is signalled is then still its own.
bool signal_process(const ProcessMark& process, int number) noexcept {
  const detail::Descriptor held(hold(process.pid));
  const auto now = look_at(process.pid);
  if (!now || now->started_ticks != process.started_ticks) return false;
  if (held.fd() < 0) return ::kill(process.pid, number) == 0;
  return signal_held(held.fd(), number) == 0;
}

void remove_batches_of(const std::set<pid_t>& ended, time_t since) noexcept try {
  std::error_code error;
  if (ended.empty()) return;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    const char* const path = entry.path().c_str();
    pid_t owner = 0;
    int length = 0;
    struct stat status {};
    const bool is_batch = std::sscanf(path, "/dev/shm/torch_%d_%n", &owner, &length) == 1 &&
                          length > 0 && ended.contains(owner);
    if (!is_batch || ::lstat(path, &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (status.st_uid == ::geteuid() && status.st_ctime >= since) ::unlink(path);
  }
} catch (const std::exception&) {  // they stay
}

void offer_to_oom_killer() noexcept {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const auto put = ::write(file, "1000", 4);
  ::close(file);
}

}  // namespace feedrate
