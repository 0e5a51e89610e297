# SPDX-License-Identifier: Apache-2.0
"""docs/loaders.md: what its table says of feedrate compiles and runs. Prints TAP."""

import pathlib
import re
import subprocess
import tempfile

from harness import INCLUDE, ROOT, Tap, compile_source

PROGRAM = """
#include <algorithm>
#include <cstdio>
#include <feedrate/dlpack.hpp>
#include <feedrate/loader.hpp>
#include <feedrate/sources.hpp>
#include <feedrate/stream.hpp>

using namespace feedrate;

struct Texts {
  std::string suffix = "";

  std::size_t size() const { return 200; }
  Layout layout() const { return {{"tokens" + suffix, DType::i32, {50}, true}, {"label" + suffix, DType::i32, {}}}; }
  void load(std::size_t i, const Sample& sample, Random&) const {
    sample.set_length("tokens" + suffix, 1 + i %% 50);
    std::ranges::fill(sample.get<std::int32_t>("tokens" + suffix), static_cast<std::int32_t>(i));
    sample.scalar<std::int32_t>("label" + suffix) = static_cast<std::int32_t>(i);
  }
};

template <class L>
std::size_t drained(L& loader) {
  std::size_t samples = 0;
  for (const auto& batch : loader.epoch()) samples += batch.count();
  return samples;
}
void use(Loader loader) { if (drained(loader) == 0) throw "no sample"; }
void use(StreamLoader loader) { if (drained(loader) == 0) throw "no sample"; }
void use(std::shared_ptr<const Source> source) { use(Loader(source)); }
void use(Loader::Epoch epoch) { for (const auto& batch : epoch) if (batch.epoch() != 2) throw "another epoch"; }
void use(std::span<std::int32_t> row) { if (row.size() != 1u + static_cast<std::size_t>(row[0]) %% 50) throw "length"; }
void use(const BatchCopy& batch) { if (batch.count() == 0) throw "no sample"; }
void use(dlpack::ManagedTensor* tensor) { tensor->deleter(tensor); }
void use(const std::string& text) { std::puts(text.c_str()); }

int main() {
  const Texts data, other{"_2"};
  const std::vector<std::size_t> chosen = {5, 7, 9}, lengths(200, 3);
  const std::vector<double> weights(200, 1);
  const Layout layout = {{"label", DType::i32, {}}};
  const auto function = [](const Sample& from, const Sample& to, Random&) {
    to.scalar<std::int32_t>("label") = from.scalar<std::int32_t>("label");
  };
  const SourceStream stream = stream_of(data, 2);
  Loader loader(data, {.batch = 32, .workers = 2});
%s
}
"""


def rows():
    """The code in the first column of each line."""
    for line in (ROOT / "docs/loaders.md").read_text().splitlines():
        if found := re.match(r"\| `((?:[^`])+)`.*\|$", line):
            yield found.group(1)


def statement(code):
    return f"  {code};" if "resize" in code else f"  use({code});"


def main():
    tap = Tap()
    lines = list(rows())
    assert len(lines) > 20, "docs/loaders.md has another form"
    source = PROGRAM % "\n".join(map(statement, lines))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "table"
        fine, messages = compile_source(source, f"-I{INCLUDE}", "-O1", "-o", str(program))
        # Bug: a table of what there once was.
        tap.check(f"the {len(lines)} lines of docs/loaders.md compile", "" if fine else messages)
        ran = fine and subprocess.run([program], capture_output=True, timeout=120, check=False).returncode == 0
        tap.check("and run", "" if ran else "the program failed")
    tap.finish()


if __name__ == "__main__":
    main()
