// SPDX-License-Identifier: Apache-2.0
#include "process/control_socket.hpp"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "process/refusals.hpp"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view socket_name = "/socket";
/// Holds the boot_id of the machine: on a shared file system the socket of another one refuses,
/// too.
constexpr std::string_view machine_name = "/machine";
/// Bytes of a socket's path without the zero at its end.
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

[[noreturn]] void throw_no_socket(const std::string& what, int error) {
  throw Error(Fault::internal, "No socket for the command to report to can be made: " + what +
                                   ": " + reason_of_system(error) + ".");
}

/// Paths from where this process stands lead a command in another folder astray.
std::vector<std::string> places() {
  std::vector<std::string> all;
  for (const char* const name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* const value = std::getenv(name);
    if (value && *value == '/') all.emplace_back(value);
  }
  all.emplace_back("/tmp");
  return all;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy_n(path.data(), std::min(path.size(), longest_path), address.sun_path);
  return address;
}

/// Many ranks of a command may call at the same time.
int listening_socket(const std::string& path) {
  constexpr int waiting = 128;
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) throw_no_socket("socket", errno);
  const sockaddr_un address = address_of(path);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(fd, waiting) == 0) {
    return fd;
  }
  const int error = errno;
  ::close(fd);
  throw_no_socket("'" + path + "'", error);
}

std::string this_machine() {
  return read_text("/proc/sys/kernel/random/boot_id").value_or("");
}

/// Whether nobody listens any more where somebody did.
bool refuses(const std::string& path) {
  const detail::Descriptor caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of(path);
  return path.size() <= longest_path && caller.fd() >= 0 &&
         ::connect(caller.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

/// Whether this user made it, for himself alone, and left it be for a while.
bool is_old_and_private(const std::string& folder) {
  constexpr std::time_t old_s = 60;
  struct stat status {};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         (status.st_mode & 07777) == 0700 && status.st_uid == ::geteuid() &&
         std::time(nullptr) - status.st_mtime > old_s;
}

bool is_of_a_run(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  const fs::file_status status = entry.symlink_status();
  if (fs::is_directory(status)) return true;
  if (fs::is_socket(status)) return "/" + name == socket_name;
  return fs::is_regular_file(status) &&
         ("/" + name == machine_name || name.find(".py") != name.npos);
}

/// Whether a run of this machine that was killed has left it, and it holds nothing else.
bool is_stale(const std::string& folder) {
  if (!is_old_and_private(folder) || !refuses(folder + std::string(socket_name))) return false;
  const auto machine = read_text(folder + std::string(machine_name));
  const fs::recursive_directory_iterator all(folder);
  return machine && *machine == this_machine() && std::all_of(begin(all), end(all), is_of_a_run);
}

/// Removes what runs have left that were killed. What can't be looked at stays.
void sweep(const std::string& place) try {
  constexpr std::string_view prefix = "feedrate-";
  for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
    const bool named = entry.path().filename().string().starts_with(prefix);
    if (named && is_stale(entry.path().string())) fs::remove_all(entry.path());
  }
} catch (const fs::filesystem_error&) {
}

}  // namespace

detail::PrivateFolder::PrivateFolder(std::size_t room) {
  std::string tried;
  for (const std::string& place : places()) {
    std::string path = place + "/feedrate-XXXXXX";
    const bool fits = path.size() + room <= longest_path;
    if (fits && ::mkdtemp(path.data())) {
      path_ = path;
      std::ofstream(path_ + std::string(machine_name)) << this_machine();
      sweep(place);
      return;
    }
    tried += (tried.empty() ? "'" : ", '") + place + "' (" +
             std::strerror(fits ? errno : ENAMETOOLONG) + ")";
  }
  throw Error(Fault::internal, "No private folder can be made: " + tried +
                                   "; set TMPDIR to one that you may write.");
}

detail::PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ControlSocket::ControlSocket()
    : folder_(socket_name.size()),
      socket_path_(folder_.path() + std::string(socket_name)),
      socket_(listening_socket(socket_path_)) {}

std::unique_ptr<Channel> ControlSocket::accept() {
  for (;;) {
    const int caller = ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (caller >= 0) return std::make_unique<Channel>(caller);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return nullptr;
    if (errno != EINTR && errno != ECONNABORTED) throw_no_socket("accept", errno);
  }
}

}  // namespace feedrate
