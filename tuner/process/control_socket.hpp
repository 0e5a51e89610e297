// SPDX-License-Identifier: Apache-2.0
// A control socket: a socket in a private folder, to which processes of a command report.
#pragma once

#include <memory>
#include <string>

#include "feedrate/data/file.hpp"
#include "process/channel.hpp"

namespace feedrate::inline v0 {

namespace detail {

/// A folder that only this user can enter; it goes with this object, and all in it.
class PrivateFolder {
 public:
  /// In $XDG_RUNTIME_DIR, $TMPDIR or /tmp: the first that can be written and whose path leaves
  /// `room` bytes for the name of a socket. Those that killed runs of this user have left there are
  /// removed. Throws Error(internal) where none can be made.
  explicit PrivateFolder(std::size_t room);
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace detail

/// Where processes of the user's command report to this one.
class ControlSocket {
 public:
  /// Throws Error(internal) where no folder or no socket can be made.
  ControlSocket();

  /// Files beside the socket go with it.
  const std::string& folder() const noexcept { return folder_.path(); }
  const std::string& socket_path() const noexcept { return socket_path_; }

  /// To be polled: readable where somebody calls.
  int fd() const noexcept { return socket_.fd(); }

  /// The next who has called, without waiting; null where nobody does. Throws Error(internal) where
  /// this process may open no more files.
  std::unique_ptr<Channel> accept();

 private:
  detail::PrivateFolder folder_;
  std::string socket_path_;
  detail::Descriptor socket_;
};

}  // namespace feedrate::inline v0
