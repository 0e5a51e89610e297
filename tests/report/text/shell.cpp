// SPDX-License-Identifier: Apache-2.0
#include "feedrate/report/text/shell.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <memory>

namespace feedrate::shell_tests {
namespace {

/// What the shell makes of a word.
std::string read_by_shell(const std::string& word) {
  const std::string command = "printf %s " + word;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             [](auto* p) { return ::pclose(p); });
  std::array<char, 256> text{};
  return {text.data(), std::fread(text.data(), 1, text.size(), pipe.get())};
}

TEST_CASE("A shell reads a quoted word as it was", "[shell]") {
  // Bug: a command to paste that splits a path at its space, or runs what stands in its name.
  for (const std::string word : {"plain", "a b/r.json", "", "it's", "$(id)", "a;b", "~/x", "*",
                                 "two\nlines", "\\", "\"", "#x", "-n", "1,2:x2", "grün"}) {
    CAPTURE(word);
    CHECK(read_by_shell(shell_quoted(word)) == word);
  }
}

TEST_CASE("Words that need no quotes get none", "[shell]") {
  // Bug: a screen full of quotes.
  CHECK(shell_quoted("emulated:h100/resnet50") == "emulated:h100/resnet50");
  CHECK(shell_quoted("--batch=16:1024:x2") == "--batch=16:1024:x2");
  CHECK(shell_quoted("a b") == "'a b'");
}

TEST_CASE("The words of a quoted line are read back", "[shell]") {
  // Bug: a report whose run can't be made again, since a path of it has a space.
  const std::vector<std::string> words = {"autotune", "--data", "a b/it's", "",
                                          "$(id)",    "\\",     "'",        "x"};
  std::string line;
  for (const std::string& word : words) (line += line.empty() ? "" : " ") += shell_quoted(word);
  CHECK(shell_words(line) == words);
}

TEST_CASE("What is named as a secret is left out of a line", "[shell]") {
  // Bug: a password of the command line in a report that is sent around.
  CHECK(shell_line(
            {"--hf-token-value", "abc", "--key-prod=x", "--password", "-abc", "--token", "--lr"}) ==
        "--hf-token-value '***' '--key-prod=***' --password '***' --token --lr");
  CHECK(shell_line({"--keyboard", "us", "--tokenizer=gpt2", "--pass-through", "x"}) ==
        "--keyboard us --tokenizer=gpt2 --pass-through x");
  CHECK(shell_line({"python", "train.py", "--hf-token", "abc", "--lr", "1"}) ==
        "python train.py --hf-token '***' --lr 1");
  CHECK(shell_line({"env", "WANDB_API_KEY=abc", "x"}) == "env 'WANDB_API_KEY=***' x");
  CHECK(shell_line({"x", "--password=a b", "logger.api_key=c"}) ==
        "x '--password=***' 'logger.api_key=***'");
  CHECK(shell_line({"x", "--tokenizer", "gpt2", "--max-tokens", "9", "--token", "--verbose"}) ==
        "x --tokenizer gpt2 --max-tokens 9 --token --verbose");
  CHECK(shell_line({"PGPASSWORD=a", "--hftoken", "b", "--api-key-value", "c"}) ==
        "'PGPASSWORD=***' --hftoken '***' --api-key-value '***'");
  CHECK(shell_line({"x", "s3://me:pw@host/a@b", "http://host:80/a@b", "git@host:a"}) ==
        "x 's3://me:***@host/a@b' http://host:80/a@b git@host:a");
  CHECK(shell_line({"https://ghp_x@host/o", "ssh://git@host/o", "db://me:p@ss@host a://b:c@d"}) ==
        "'https://***@host/o' ssh://git@host/o 'db://me:***@host a://b:***@d'");
  CHECK(shell_line({"db://u:p#a?s@host/x"}) == "'db://u:***@host/x'");
  CHECK(shell_line({"SMTP_PASS=a", "HF_TOKEN_2=b", "--pass", "c", "--bypass", "d"}) ==
        "'SMTP_PASS=***' 'HF_TOKEN_2=***' --pass '***' --bypass d");
  CHECK(shell_line({"sh", "-c", "A_KEY='1 2'; cd 'a b' && x --token t --lr 1 db://u:p@h"}) ==
        "sh -c " + shell_quoted("A_KEY=***; cd 'a b' && x --token *** --lr 1 db://u:***@h"));
  CHECK(shell_line({"autotune"}, {"--budget", "5s"}) == "autotune --budget 5s");
}

}  // namespace
}  // namespace feedrate::shell_tests
