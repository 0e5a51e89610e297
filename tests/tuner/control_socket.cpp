// SPDX-License-Identifier: Apache-2.0
#include "process/control_socket.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "../planted_tree.hpp"

namespace feedrate::control_socket_tests {
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

TEST_CASE("Connections are accepted one by one, and all are served", "[socket]") {
  // Bug: waiting for a caller who never comes; or the lines of two ranks in one channel.
  ControlSocket socket;
  CHECK(socket.accept() == nullptr);
  Caller first(socket.socket_path()), second(socket.socket_path());
  first.say("{\"rank\": 0}\n");
  second.say("{\"rank\": 1}\n");
  for (const int rank : {0, 1}) {
    const auto channel = socket.accept();
    REQUIRE(channel);
    CHECK((::fcntl(channel->fd(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(channel->receive() == Json{{"rank", rank}});
  }
  CHECK(socket.accept() == nullptr);
  CHECK((::fcntl(socket.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("The folder is private, and goes with all that is in it", "[socket]") {
  // Bug: another user puts a module into a folder that a training run imports from; or /tmp fills.
  std::string folder;
  {
    ControlSocket socket;
    folder = socket.folder();
    struct stat status {};
    REQUIRE(::stat(folder.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
    CHECK(socket.socket_path().starts_with(folder + "/"));
    std::filesystem::create_directories(folder + "/package");
    std::ofstream(folder + "/package/module.py") << "pass\n";
  }
  CHECK_FALSE(std::filesystem::exists(folder));
}

TEST_CASE("The folder is where the environment says, if the socket's path fits", "[socket]") {
  // Bug: a path of more than 107 bytes is cut, and the socket lies elsewhere than was said.
  PlantedTree runtime, temporary;
  const Variable second("TMPDIR", temporary.root());
  const auto placed_in = [](const std::string& folder) {
    return ControlSocket().folder().starts_with(folder + "/feedrate-");
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
    const ControlSocket socket;
    Caller caller(socket.socket_path());
  }
}

/// What a run leaves in a folder when it is killed.
std::string left_in(const std::string& place) {
  const Variable runtime("XDG_RUNTIME_DIR", place);
  const pid_t run = ::fork();
  if (run == 0) {
    const ControlSocket killed;
    std::filesystem::create_directories(killed.folder() + "/feedrate/__pycache__");
    std::ofstream(killed.folder() + "/feedrate/watch.py") << "pass\n";
    std::ofstream(killed.folder() + "/feedrate/__pycache__/watch.cpython-311.pyc") << "x";
    ::_exit(0);
  }
  REQUIRE(::waitpid(run, nullptr, 0) == run);
  return std::filesystem::directory_iterator(place)->path().string();
}

void make_older(const std::string& folder) {
  using std::filesystem::last_write_time;
  last_write_time(folder, last_write_time(folder) - std::chrono::minutes(2));
}

bool is_swept_from(const std::string& place, const std::string& folder) {
  const Variable runtime("XDG_RUNTIME_DIR", place);
  const ControlSocket next;
  REQUIRE(next.folder().starts_with(place + "/"));
  return !std::filesystem::exists(folder);
}

TEST_CASE("Old leftovers of a killed run are removed by the next", "[socket]") {
  // Bug: /tmp fills, run by run; or a run that has just made its folder loses it.
  const PlantedTree place;
  const std::string left = left_in(place.root());
  CHECK_FALSE(is_swept_from(place.root(), left));
  make_older(left);
  CHECK(is_swept_from(place.root(), left));
}

TEST_CASE("Folders stay whose run goes on, or that hold what no run puts there", "[socket]") {
  // Bug: the modules of a run of hours vanish below it; or somebody's files with a name like ours.
  const PlantedTree place;
  const Variable runtime("XDG_RUNTIME_DIR", place.root());
  SECTION("one that runs") {
    const ControlSocket running;
    make_older(running.folder());
    CHECK_FALSE(is_swept_from(place.root(), running.folder()));
  }
  SECTION("one of another machine, or with a file of the user's") {
    const std::string left = left_in(place.root());
    const auto [change, text] =
        GENERATE(std::pair("/machine", "another\n"), std::pair("/feedrate/results.txt", "0.9\n"));
    std::ofstream(left + change) << text;
    make_older(left);
    CHECK_FALSE(is_swept_from(place.root(), left));
  }
  SECTION("one that others may enter") {
    const std::string left = left_in(place.root());
    std::filesystem::permissions(left, std::filesystem::perms(0755));
    make_older(left);
    CHECK_FALSE(is_swept_from(place.root(), left));
  }
  SECTION("one that never had a socket") {
    const std::string other = place.root() + "/feedrate-dataset";
    std::filesystem::create_directory(other);
    std::filesystem::permissions(other, std::filesystem::perms(0700));
    make_older(other);
    CHECK_FALSE(is_swept_from(place.root(), other));
  }
}

}  // namespace
}  // namespace feedrate::control_socket_tests
