// SPDX-License-Identifier: Apache-2.0
#include "../../tuner/rendezvous.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "../planted_tree.hpp"

namespace feedrate {
namespace {

using test::PlantedTree;

/// A variable of the environment; as it was when the test ends.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = ::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

/// A process that reports.
struct Caller {
  detail::Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};

  explicit Caller(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::strcpy(address.sun_path, path.c_str());
    REQUIRE(::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
  }
  void say(const std::string& text) {
    REQUIRE(::send(socket.fd(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
};

TEST_CASE("Callers are taken in one by one, and each is heard", "[rendezvous]") {
  // Bug: waiting for a caller who never comes; or the lines of two ranks in one channel.
  Rendezvous rendezvous;
  CHECK(rendezvous.accept() == nullptr);
  Caller first(rendezvous.socket_path()), second(rendezvous.socket_path());
  first.say("{\"rank\": 0}\n");
  second.say("{\"rank\": 1}\n");
  for (const int rank : {0, 1}) {
    const auto channel = rendezvous.accept();
    REQUIRE(channel);
    CHECK((::fcntl(channel->fd(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(channel->receive() == Json{{"rank", rank}});
  }
  CHECK(rendezvous.accept() == nullptr);
  CHECK((::fcntl(rendezvous.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("The folder is private, and goes with all that is in it", "[rendezvous]") {
  // Bug: another user puts a module into a folder that a training run imports from; or /tmp fills.
  std::string folder;
  {
    Rendezvous rendezvous;
    folder = rendezvous.folder();
    struct stat status {};
    REQUIRE(::stat(folder.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
    CHECK(rendezvous.socket_path().starts_with(folder + "/"));
    std::filesystem::create_directories(folder + "/package");
    std::ofstream(folder + "/package/module.py") << "pass\n";
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("The folder is where the environment says, if a socket's path fits", "[rendezvous]") {
  // Bug: a path of more than 107 bytes is cut, and the socket lies elsewhere than was said.
  PlantedTree runtime, temporary;
  const Variable second("TMPDIR", temporary.root());
  const auto placed_in = [](const std::string& folder) {
    return Rendezvous().folder().starts_with(folder + "/feedrate-");
  };
  {
    const Variable first("XDG_RUNTIME_DIR", runtime.root());
    CHECK(placed_in(runtime.root()));
  }
  for (const std::string& unfit :
       {runtime.root() + "/none", std::string("relative"), std::string()}) {
    const Variable first("XDG_RUNTIME_DIR", unfit);
    CHECK(placed_in(temporary.root()));
  }
  const std::string longest = runtime.root() + "/" + std::string(83 - runtime.root().size(), 'x');
  for (const auto& [folder, fits] : {std::pair(longest, true), std::pair(longest + "x", false)}) {
    std::filesystem::create_directory(folder);
    const Variable first("XDG_RUNTIME_DIR", folder);
    CHECK(placed_in(folder) == fits);
    const Rendezvous rendezvous;
    Caller caller(rendezvous.socket_path());
  }
}

}  // namespace
}  // namespace feedrate
