// SPDX-License-Identifier: Apache-2.0
#include "trials/serve.hpp"

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "journal/request_json.hpp"

namespace feedrate::serve_tests {
namespace {

/// A measurer whose rounds end when they are told to.
class Held final : public Measurer {
 public:
  std::atomic<bool> release{false};
  std::vector<Skip> skipped;

  Round run(const Request& request) override {
    if (request.config.batch == 13) throw Error(Fault::device, "No device for 13.");
    if (request.config.batch == 14) throw OutOfMemory("No memory for 14.");
    if (request.config.batch == 15) throw std::bad_alloc();
    request.options.progress->fetch_add(5);
    release.wait(false);
    skipped.push_back({7, "seventh", "broken"});
    return {.samples = 64, .batches = 2};
  }
  double epoch_boundary_s(const Config&) override { return 0.25; }
  std::size_t memory_bytes(const Config&) override { return 4096; }
  double now_s() override { return 0; }
  std::vector<Skip> skips() override { return skipped; }
};

/// A served measurer, and the other end of its channel.
struct Served {
  std::array<int, 2> ends = pair();
  Held measurer;
  Channel theirs{ends[0]};
  std::unique_ptr<Channel> ours = std::make_unique<Channel>(ends[1]);
  std::thread thread{[this] { serve(measurer, theirs); }};

  ~Served() {
    measurer.release = true;
    measurer.release.notify_all();
    ours.reset();
    thread.join();
  }

  static std::array<int, 2> pair() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    return ends;
  }

  /// The next message that is no beat.
  Json answer() {
    for (;;) {
      const auto message = ours->receive();
      if (!message) return nullptr;
      if (!message->contains("beat")) return *message;
    }
  }
};

TEST_CASE("Questions are answered one by one, also with exceptions", "[serve]") {
  // Bug: a failure that ends the child, or an answer to another question.
  Served served;
  REQUIRE(served.ours->send(question_of("epoch_boundary_s", Config{})));
  REQUIRE(served.ours->send(question_of(Request{Part::coupled, {.batch = 13}, {}})));
  REQUIRE(served.ours->send(question_of("weather", Config{})));
  REQUIRE(served.ours->send(question_of("memory_bytes", Config{})));
  CHECK(served.answer()["seconds"] == 0.25);
  const Json failed = served.answer();
  CHECK(failed["failed"]["fault"] == "device");
  CHECK(failed["failed"]["sentence"] == "No device for 13.");
  CHECK(served.answer()["failed"]["fault"] == "data");
  CHECK(served.answer()["bytes"] == 4096);
}

TEST_CASE("Out of memory is reported as such through every process", "[serve]") {
  // Bug: a batch that is too large passed on as a defect, so that its config has failed.
  Served served;
  const auto is_lack = [&](int batch) {
    REQUIRE(served.ours->send(question_of(Request{Part::coupled, {.batch = batch}, {}})));
    try {
      throw_failure(served.answer()["failed"]);
    } catch (const TrialError& error) {
      const Json again = failure_of(error)["failed"];
      CHECK(again.value("out_of_memory", false) == is_out_of_memory(error));
      return is_out_of_memory(error);
    }
  };
  CHECK_FALSE(is_lack(13));
  CHECK(is_lack(14));
  CHECK(is_lack(15));
}

TEST_CASE("Beats report the progress of a running round", "[serve]") {
  // Bug: beats that say the same however far the round is, so that a long one is taken for a hang;
  // or samples that were skipped and are never told of.
  Served served;
  REQUIRE(served.ours->send(question_of(Request{})));
  for (;;) {
    const auto message = served.ours->receive();
    REQUIRE(message);
    REQUIRE(message->contains("beat"));
    if ((*message)["beat"] == 5) break;
  }
  served.measurer.release = true;
  served.measurer.release.notify_all();
  const Json answer = served.answer();
  CHECK(answer["round"]["samples"] == 64);
  REQUIRE(answer["skips"].size() == 1);
  CHECK(answer["skips"][0]["name"] == "seventh");
  REQUIRE(served.ours->send({{"ask", "copies"}}));
  CHECK_FALSE(served.answer().contains("skips"));
}

TEST_CASE("Messages of threads that send at the same time stay whole", "[serve]") {
  // Bug: a beat in the middle of an answer. Documents of 100 kB fill the socket's buffer.
  const std::array<int, 2> ends = Served::pair();
  Channel from(ends[0]), to(ends[1]);
  constexpr int each = 20;
  const auto sender = [&](char letter) {
    for (int i = 0; i < each; ++i) from.send({{"text", std::string(100'000, letter)}});
  };
  std::jthread first(sender, 'a'), second(sender, 'b');
  int whole = 0;
  for (int i = 0; i < 2 * each; ++i) {
    const auto message = to.receive();
    REQUIRE(message);
    const auto text = (*message)["text"].get<std::string>();
    whole += text == std::string(100'000, text.at(0));
  }
  CHECK(whole == 2 * each);
}

}  // namespace
}  // namespace feedrate::serve_tests
