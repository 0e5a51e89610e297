// SPDX-License-Identifier: Apache-2.0
#include "command/command_trials.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "../planted_tree.hpp"
#include "feedrate/measure/trial_error.hpp"

namespace feedrate::command_trials_tests {
namespace {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

/// A shell's command that prints `line` some times a second, for as long as it is let.
std::string forever(const std::string& line) {
  return "while :; do " + line + "; sleep 0.01; done";
}

/// A Python program whose helper tells of batches that take 10 ms each by its own clock.
const std::string helper = R"(
import json, os, socket, sys, time
channel = socket.socket(socket.AF_UNIX)
channel.connect(os.environ["FEEDRATE_ATTACH"])
def send(message):
    channel.sendall(json.dumps(message).encode() + b"\n")
def report(batches):
    send({"batches": batches, "samples": batches * int(sys.argv[1]), "t": 5 + batches * 0.01,
          "wait_s": batches * 0.004})
send({"hello": "watch", "language": "python"})
)";

const std::string reports_forever = R"(
for batches in range(1, 100000):
    report(batches)
    time.sleep(0.002)
)";

struct Setting {
  std::string rate = {};
  std::function<void(const std::string&)> say_again = {};
  std::vector<std::string> sets = {};
  double timeout_s = 30;
  double start_s = 0;
  double patience_s = 2;
};

/// A command, and what its trials say.
class Commands {
 public:
  /// Runs sh -c SCRIPT; the batch is its first argument.
  static std::unique_ptr<CommandTrials> shell(const std::string& script, Setting setting) {
    return trials({"sh", "-c", script, "planted", "{batch}"}, std::move(setting));
  }
  std::unique_ptr<CommandTrials> python(const std::string& program, Setting setting = {}) {
    tree_.plant("/train.py", program);
    return trials({"python3", "-u", tree_.root() + "/train.py", "{batch}"}, std::move(setting));
  }

  static std::unique_ptr<CommandTrials> trials(std::vector<std::string> words, Setting setting) {
    CommandPlan plan;
    plan.spec.command = std::move(words);
    plan.templates = parse_templates(setting.sets);
    if (!setting.rate.empty()) plan.rate.emplace(setting.rate);
    plan.timeout_s = setting.timeout_s;
    plan.start_s = setting.start_s;
    plan.patience_s = setting.patience_s;
    plan.say_again = setting.say_again;
    return std::make_unique<CommandTrials>(std::move(plan), std::make_unique<ControlSocket>(),
                                           std::nullopt);
  }

 private:
  test::PlantedTree tree_;
};

Request round_of(int batch, double seconds = 0.1) {
  Request request;
  request.config.batch = batch;
  request.options.seconds = seconds;
  return request;
}

/// What is thrown by a call.
template <class Call>
TrialError thrown_by(Call&& call) {
  try {
    call();
  } catch (const TrialError& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return {Fault::internal, "", ""};
}

const std::string images = "regex:([^ ]+) img/s";

TEST_CASE("A command is called by its script", "[command]") {
  // Bug: reports that are all called python.
  CHECK(name_of_command({"python3.11", "-u", "src/train.py", "--x"}) == "train.py");
  CHECK(name_of_command({"/usr/bin/python", "-m", "package.train", "x"}) == "package.train");
  CHECK(name_of_command({"python", "-c", "print(1)"}) == "python");
  CHECK(name_of_command({"./build/my_training", "x.py"}) == "my_training");
  CHECK(name_of_command({"bash", "run.sh"}) == "run.sh");
  CHECK(name_of_command({"bash"}) == "bash");
  CHECK(name_of_command({"torchrun", "--nproc-per-node", "2", "a/train.py"}) == "train.py");
  CHECK(name_of_command({"python", "-m", "torch.distributed.run", "a/train.py"}) == "train.py");
}

TEST_CASE("A printed rate is measured in separate launches", "[command]") {
  // Bug: values of one config in the launch of another, or a start-up within the round.
  const auto trials = Commands::shell(forever("echo step: $1$NUM img/s"),
                                      {.rate = images, .sets = {"workers=env:NUM"}});
  const Prepared& prepared = trials->prepared();
  CHECK(prepared.info.kind == "command");
  CHECK(prepared.info.name == "sh");
  CHECK(prepared.info.rate_source == "regex");
  const double checked_s = trials->started_s();
  CHECK(checked_s > 0);
  CHECK(trials->now_s() < SteadyClock{}.now_s() - 0.99 * checked_s);
  Request request = round_of(64);
  request.config.workers = 5;
  std::atomic<std::uint64_t> progress{0};
  request.options.progress = &progress;
  const Round round = trials->run(request);
  CHECK(round.samples_per_s() == Approx(645));
  CHECK(round.duration_s >= 0.09);
  CHECK(round.batches >= 2);
  CHECK(round.block == 0);
  CHECK(round.first_batch_s > 0);
  CHECK(trials->started_s() == Approx(checked_s + round.first_batch_s));
  CHECK(progress > 1);
  CHECK(trials->run(round_of(128)).samples_per_s() == Approx(1280));
  CHECK(trials->notes().empty());
}

TEST_CASE("A helper reports rate and waiting, whatever is printed", "[command]") {
  // Bug: a rate by the time at which messages arrive, or one that is taken from the output though
  // a helper knows better.
  Commands commands;
  const auto trials =
      commands.python(helper + "print('7 img/s')\n" + reports_forever, {.rate = images});
  CHECK(trials->prepared().info.rate_source == "helper");
  CHECK(trials->prepared().info.name == "train.py");
  const Round round = trials->run(round_of(64, 0.2));
  CHECK(round.samples_per_s() == Approx(6400));
  CHECK(round.wait_s == Approx(0.4 * round.duration_s));
  CHECK(round.batches >= 20);
  CHECK(round.samples == 64 * static_cast<std::uint64_t>(round.batches));
}

TEST_CASE("A hook that watches a loader gets more time", "[command]") {
  // Bug: the printed rate taken for good, since the hook tells its own after some batches only:
  // later than a helper would.
  const std::string hook = R"(
import json, os, socket, time
def call(hello):
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(os.environ["FEEDRATE_ATTACH"])
    channel.sendall(json.dumps(hello).encode() + b"\n")
    return channel
print("7 img/s")
if LOOKS: call({"hello": "looking"}).close()
time.sleep(4)
channel = call({"hello": "watch", "source": "hook"})
for batches in range(1, 100000):
    told = {"batches": batches, "samples": batches * 5, "t": batches * 0.01}
    channel.sendall(json.dumps(told).encode() + b"\n")
    time.sleep(0.002)
)";
  Commands commands;
  const auto looking = commands.python("LOOKS = True\n" + hook, {.rate = images});
  CHECK(looking->prepared().info.rate_source == "hook");
  CHECK(looking->run(round_of(64)).samples_per_s() == Approx(500));
  const auto silent = commands.python("LOOKS = False\n" + hook, {.rate = images});
  CHECK(silent->prepared().info.rate_source == "regex");
}

TEST_CASE("A helper that knows only batches says so", "[command]") {
  // Bug: batches per second under the name of samples per second.
  Commands commands;
  const auto trials = commands.python(helper + R"(
for batches in range(1, 100000):
    send({"batches": batches, "samples": batches, "unit": "batches", "t": batches * 0.01})
    time.sleep(0.002)
)");
  CHECK(trials->run(round_of(64)).samples_per_s() == Approx(6400));
  REQUIRE(trials->notes().size() == 1);
  CHECK_THAT(trials->notes()[0], ContainsSubstring("as many as the batch"));
}

TEST_CASE("Progress bars and odd bytes are read, too", "[command]") {
  // Bug: tqdm's lines, which end in a carriage return, and are one line without end; lines of
  // megabytes; bytes that are no UTF-8.
  const std::string bar = "printf '\\r 5%%|\\342\\226\\210\\377  | 5/99 [00:01, 81.5 img/s]'";
  const auto bars = Commands::shell(forever(bar), {.rate = "regex:, ([0-9.]+) img/s"});
  CHECK(bars->run(round_of(32)).samples_per_s() == Approx(81.5));
  const std::string huge = "head -c 3000000 /dev/zero | tr '\\0' '5'; printf '\\377 90 img/s\\n'";
  const auto lines = Commands::shell(forever(huge), {.rate = images});
  CHECK(lines->run(round_of(32)).samples_per_s() == Approx(90));
}

TEST_CASE("A command that reports no rate is an error that lists the ways to report it",
          "[command]") {
  // Bug: a run that tries one config after the other, each without a word.
  const auto quiet = Commands::shell("echo loading; sleep 1000", {.timeout_s = 1});
  const TrialError error = thrown_by([&] { quiet->start(); });
  CHECK(error.fault() == Fault::usage);
  CHECK_THAT(error.what(), ContainsSubstring("told nothing of its speed within 1.00 s") &&
                               ContainsSubstring("it printed last: \"loading\"") &&
                               ContainsSubstring("DataLoader") &&
                               ContainsSubstring("feedrate.watch(loader)") &&
                               ContainsSubstring("feedrate::report_batch") &&
                               ContainsSubstring("--rate 'regex:"));
  CHECK(quiet->started_s() == 0);
  const auto brief = Commands::shell("exit 0", {});
  CHECK_THAT(thrown_by([&] { brief->start(); }).what(),
             ContainsSubstring("before it ended by itself; it printed nothing"));
}

TEST_CASE("An expression that never matches is shown beside the output", "[command]") {
  // Bug: a mistake in an expression that can't be told from a program that is stuck.
  const auto other = Commands::shell("echo one; echo '5 images/sec'", {.rate = images});
  const TrialError error = thrown_by([&] { other->start(); });
  CHECK(error.fault() == Fault::usage);
  CHECK_THAT(error.what(), ContainsSubstring("matches --rate '" + images + "'") &&
                               ContainsSubstring("\"one / 5 images/sec\""));
  for (const std::string text : {"nan", "inf", "0"}) {
    const auto none = Commands::shell("echo " + text + " img/s", {.rate = images});
    CHECK_THAT(thrown_by([&] { none->start(); }).what(),
               ContainsSubstring("caught '" + text + "'"));
  }
}

TEST_CASE("A config that the command refuses fails alone, with its message", "[command]") {
  // Bug: a run that ends with the first batch that is too large, or a failure without a reason.
  const auto trials = Commands::shell(
      "if [ $1 = 64 ]; then echo first >&2; echo no 64 >&2; exit 2; "
      "elif [ $1 = 65 ]; then kill -SEGV $$; fi; " +
          forever("echo $1 img/s"),
      {.rate = images});
  const TrialError error = thrown_by([&] { trials->run(round_of(64)); });
  CHECK(error.fault() == Fault::trials);
  CHECK_THAT(error.what(), ContainsSubstring("exit code 2") && ContainsSubstring("no 64"));
  CHECK(error.stderr_tail() == "first\nno 64");
  CHECK_THAT(thrown_by([&] { trials->run(round_of(65)); }).what(), ContainsSubstring("SIGSEGV"));
  CHECK(trials->run(round_of(66)).samples_per_s() == Approx(66));
}

TEST_CASE("A command that ends early is measured as far as it went", "[command]") {
  // Bug: a wait for words of a program that is gone, or a rate from one word.
  const auto trials = Commands::shell("i=0; while [ $i -lt $1 ]; do i=$((i+1)); echo 8 img/s; done",
                                      {.rate = images});
  CHECK(trials->run(round_of(3, 60)).samples_per_s() == Approx(8));
  const TrialError error = thrown_by([&] { trials->run(round_of(1, 60)); });
  CHECK_THAT(error.what(), ContainsSubstring("ended by itself after 1 word of its speed"));
  Commands commands;
  const auto helped = commands.python(helper + "report(1)\nreport(5)\nreport(9)\n");
  CHECK(helped->run(round_of(10, 60)).samples_per_s() == Approx(1000));
}

TEST_CASE("A silent command is ended, even if it ignores signals", "[command]") {
  // Bug: a run that hangs with its command, or one that leaves it behind.
  const auto trials = Commands::shell("trap '' TERM; echo 5 img/s; while :; do sleep 1; done",
                                      {.rate = images, .timeout_s = 1, .patience_s = 0.2});
  CHECK_THAT(thrown_by([&] { trials->run(round_of(32)); }).what(),
             ContainsSubstring("told nothing more of its speed within 1.00 s, and was killed"));
  REQUIRE(trials->notes().size() == 1);
  CHECK_THAT(trials->notes()[0], ContainsSubstring("SIGTERM"));
}

TEST_CASE("A launch that hangs once is made again, and costs no time of the search", "[command]") {
  // Bug: a hang of the storage that takes the budget, and fails a config that works.
  test::PlantedTree tree;
  std::vector<std::string> said;
  const auto trials =
      Commands::shell("echo 5 img/s; if [ -e " + tree.root() + "/hang ]; then rm " + tree.root() +
                          "/hang; sleep 1000; fi; " + forever("echo $1 img/s"),
                      {.rate = images,
                       .say_again = [&](const std::string& sentence) { said.push_back(sentence); },
                       .timeout_s = 1});
  trials->start();
  tree.plant("/hang", "");
  const auto excused_s = [&] { return SteadyClock{}.now_s() - trials->now_s(); };
  const double before_s = excused_s();
  CHECK(trials->run(round_of(64)).samples_per_s() == Approx(64));
  CHECK(excused_s() - before_s >= 1);
  REQUIRE(said.size() == 1);
  CHECK_THAT(said[0], ContainsSubstring("told nothing more of its speed within 1.00 s") &&
                          ContainsSubstring("It is run once more."));
}

TEST_CASE("A launch that hangs twice has failed", "[command]") {
  // Bug: a config that always hangs, launched without end.
  int said = 0;
  const auto trials = Commands::shell(
      "if [ $1 = 64 ]; then sleep 1000; fi; " + forever("echo $1 img/s"),
      {.rate = images, .say_again = [&](const std::string&) { ++said; }, .timeout_s = 1});
  const TrialError error = thrown_by([&] { trials->run(round_of(64)); });
  CHECK(error.fault() == Fault::trials);
  CHECK_THAT(error.what(), ContainsSubstring("printed nothing that matches"));
  CHECK(said == 1);
  CHECK_THROWS_AS(trials->run(round_of(64)), CommandHung);
  CHECK(said == 1);
  CHECK(trials->run(round_of(66)).samples_per_s() == Approx(66));
}

TEST_CASE("A bound that contains the start of a launch is told as such", "[command]") {
  // Bug: "within 65.0 s (--trial-timeout sets that time)", where --trial-timeout is 60 s.
  const auto quiet = Commands::shell("sleep 1000", {.timeout_s = 1, .start_s = 0.25});
  CHECK_THAT(thrown_by([&] { quiet->start(); }).what(),
             ContainsSubstring("(--trial-timeout sets that time, less 250 ms for the start)"));
}

TEST_CASE("A command that reports its rate too rarely is ended", "[command]") {
  // Bug: a clock of the helper's that stands still, and a round without end.
  Commands commands;
  const auto trials = commands.python(helper + R"(
for batches in range(1, 1000000):
    send({"batches": batches, "samples": batches, "t": batches * 1e-9})
    time.sleep(0.01)
)",
                                      {.timeout_s = 1});
  CHECK_THAT(thrown_by([&] { trials->run(round_of(32)); }).what(),
             ContainsSubstring("told too little of its speed"));
}

TEST_CASE("A helper with invalid messages fails its launch", "[command]") {
  // Bug: a run that dies of a message.
  Commands commands;
  const auto none = commands.python(helper + "channel.sendall(b'}{\\n')\ntime.sleep(1000)\n");
  CHECK_THAT(thrown_by([&] { none->start(); }).what(), ContainsSubstring("no message"));
  const auto odd = commands.python(helper + "channel.sendall(b'[1]\\n')\ntime.sleep(1000)\n");
  CHECK_THAT(thrown_by([&] { odd->start(); }).what(), ContainsSubstring("no message"));
  const auto empty = commands.python(helper + "send({'batches': 1})\ntime.sleep(1000)\n");
  CHECK_THAT(thrown_by([&] { empty->start(); }).what(), ContainsSubstring("no report"));
  const auto mute = commands.python(helper);
  CHECK_THAT(thrown_by([&] { mute->start(); }).what(), ContainsSubstring("reported no batch"));
}

TEST_CASE("Unknown connections to the socket are closed", "[command]") {
  // Bug: a script that waits for questions which nobody will ask, and a second process whose
  // batches are counted to those of the first.
  Commands commands;
  const auto trials = commands.python(R"(
import json, os, socket
def call(hello):
    other = socket.socket(socket.AF_UNIX)
    other.connect(os.environ["FEEDRATE_ATTACH"])
    other.sendall(json.dumps({"hello": hello}).encode() + b"\n")
    return other
assert call("loader").recv(1) == b""
assert call(5).recv(1) == b""
)" + helper + R"(
assert call("watch").recv(1) == b""
)" + reports_forever);
  CHECK(trials->run(round_of(7)).samples_per_s() == Approx(700));
}

TEST_CASE("An abort ends a launch at once", "[command]") {
  // Bug: Ctrl-C that waits for a round to end.
  const auto trials = Commands::shell(forever("echo 5 img/s"), {.rate = images});
  trials->start();
  std::atomic<bool> abort{false};
  Request request = round_of(32, 1000);
  request.options.abort = &abort;
  std::atomic<std::uint64_t> progress{0};
  request.options.progress = &progress;
  std::jthread interrupt([&] {
    while (progress < 3) std::this_thread::yield();
    abort = true;
  });
  try {
    trials->run(request);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.fault() == Fault::interrupted);
  }
}

TEST_CASE("A command has no parts", "[command]") {
  // Bug: the rate of the whole under the name of a ceiling.
  const auto trials = Commands::shell("exit 1", {.rate = images});
  Request request = round_of(32);
  request.part = Part::loader;
  CHECK_FALSE(trials->can_run(Part::device));
  CHECK(trials->can_run(Part::coupled));
  const TrialError error = thrown_by([&] { trials->run(request); });
  CHECK(error.fault() == Fault::trials);
  CHECK_THAT(error.what(), ContainsSubstring("'loader' can't be measured alone"));
  CHECK(trials->epoch_boundary_s({}) == -1);
  CHECK(trials->memory_bytes({}) == 0);
  CHECK_FALSE(trials->copies());
}

TEST_CASE("A resumed run knows its rate source", "[command]") {
  // Bug: rounds of one run that were measured in two ways.
  CommandPlan plan;
  plan.spec.command = {"sh", "-c", forever("echo 5 img/s")};
  plan.rate = RateExpression(images);
  plan.timeout_s = 1;
  Prepared known;
  known.info.rate_source = "helper";
  CommandTrials trials(plan, std::make_unique<ControlSocket>(), known);
  const TrialError error = thrown_by([&] { trials.run(round_of(32)); });
  CHECK(error.fault() == Fault::trials);
  CHECK_THAT(error.what(), ContainsSubstring("told nothing of its speed"));
}

}  // namespace
}  // namespace feedrate::command_trials_tests
