// SPDX-License-Identifier: Apache-2.0
#include "rendezvous.hpp"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "feedrate/core/error.hpp"

namespace feedrate {
namespace {

constexpr std::string_view socket_name = "/socket";
/// Bytes of a socket's path without the zero at its end.
constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

[[noreturn]] void throw_no_socket(const std::string& what, int error) {
  throw Error(Fault::internal, "No socket for the command to report to can be made: " + what +
                                   ": " + std::strerror(error) + ".");
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

}  // namespace

detail::PrivateFolder::PrivateFolder(std::size_t room) {
  std::string tried;
  for (const std::string& place : places()) {
    std::string path = place + "/feedrate-XXXXXX";
    const bool fits = path.size() + room <= longest_path;
    if (fits && ::mkdtemp(path.data())) {
      path_ = path;
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

Rendezvous::Rendezvous()
    : folder_(socket_name.size()),
      socket_path_(folder_.path() + std::string(socket_name)),
      socket_(listening_socket(socket_path_)) {}

std::unique_ptr<Channel> Rendezvous::accept() {
  for (;;) {
    const int caller = ::accept4(fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (caller >= 0) return std::make_unique<Channel>(caller);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return nullptr;
    if (errno != EINTR && errno != ECONNABORTED) throw_no_socket("accept", errno);
  }
}

}  // namespace feedrate
