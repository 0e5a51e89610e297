// SPDX-License-Identifier: Apache-2.0
// A channel between autotune and its trial child: JSON documents, one per line, over a socket.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "feedrate/data/file.hpp"
#include "feedrate/report/json/machine_json.hpp"

namespace feedrate {

/// One end of a channel.
class Channel {
 public:
  /// Takes over a connected stream socket.
  explicit Channel(int fd) : socket_(fd) {}

  /// Sends one document; false where the other end is gone. Threads may send at the same time.
  bool send(const Json& message);

  /// Waits for the next document; empty where the other end is gone. Throws Error(data) on
  /// something that is no document.
  std::optional<Json> receive();

  /// Takes in what has arrived, without waiting; false where the other end is gone.
  bool pull();
  /// The next document that has been pulled whole; empty where there is none.
  std::optional<Json> next();

  int fd() const noexcept { return socket_.fd(); }

 private:
  bool pull(int flags);

  detail::Descriptor socket_;
  std::mutex sending_;
  std::string pulled_;
};

}  // namespace feedrate
