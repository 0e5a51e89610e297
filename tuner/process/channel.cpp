// SPDX-License-Identifier: Apache-2.0
#include "process/channel.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>

#include "feedrate/report/json/from_json.hpp"

namespace feedrate {

bool Channel::send(const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::lock_guard lock(sending_);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t sent = ::send(fd(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<Json> Channel::receive() {
  for (;;) {
    if (auto message = next()) return message;
    if (!pull(0)) return std::nullopt;
  }
}

bool Channel::pull() {
  return pull(MSG_DONTWAIT);
}

/// Nobody sends a line of 64 MiB: a program whose memory is damaged might.
bool Channel::pull(int flags) {
  constexpr std::size_t most = std::size_t{64} << 20;
  for (;;) {
    char block[1 << 14];
    const ssize_t got = ::recv(fd(), block, sizeof block, flags);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0 || pulled_.size() > most) return false;
    pulled_.append(block, static_cast<std::size_t>(got));
    if (flags == 0) return true;
  }
}

std::optional<Json> Channel::next() {
  const std::size_t end = pulled_.find('\n');
  if (end == pulled_.npos) return std::nullopt;
  const std::string line = pulled_.substr(0, end);
  pulled_.erase(0, end + 1);
  return parse_json(line);
}

}  // namespace feedrate
