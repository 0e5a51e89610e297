// SPDX-License-Identifier: Apache-2.0
// The claims: on the GPU a small MLP (512 wide, batch 128) steps at least 10 times as fast as
// PyTorch does eagerly and 1.5 times as fast as torch.compile(mode="reduce-overhead"), and the CNN
// of `images` as fast as PyTorch with channels-last and mixed precision.
//
// Run alone, this prints what a recorded graph gains. The ratios come from
// peers/torch_step.py --device cuda --against THIS, which times its own steps and ours in turn:
// `--serve MODEL BATCH PRECISION` answers each line of stdin, a number of steps, with the seconds
// per step.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "feedrate/core/config.hpp"
#include "gpu_bench.hpp"
#include "gpu_training.hpp"

using namespace feedrate;

namespace {

struct Case {
  const char* model;
  std::size_t batch;
  Precision precision;
  int steps;  ///< per round
};

constexpr std::array<Case, 8> cases = {{{"mlp", 128, Precision::fp32, 500},
                                        {"mlp", 128, Precision::bf16, 500},
                                        {"small-images", 128, Precision::fp32, 200},
                                        {"small-images", 128, Precision::bf16, 200},
                                        {"tabular", 64, Precision::fp32, 500},
                                        {"images", 256, Precision::tf32, 20},
                                        {"images", 256, Precision::bf16, 20},
                                        {"images", 256, Precision::fp16, 20}}};

bench::Work work_of(const Case& of, bool graph) {
  return {.model = bench::model_of(of.model),
          .precision = of.precision,
          .batch = of.batch,
          .graph = graph};
}

void measure(const Case& of, const bench::Setting& setting, bench::Table& table) {
  bench::GpuTraining recorded(work_of(of, true), setting.stream);
  bench::GpuTraining launched(work_of(of, false), setting.stream);
  const auto values =
      bench::in_turn(setting.rounds, {[&] { return recorded.seconds_per_step(of.steps); },
                                      [&] { return launched.seconds_per_step(of.steps); }});
  const std::string name = std::string(of.model) + " " + std::string(name_of(of.precision)) +
                           ", batch " + std::to_string(of.batch);
  table.add(name + ": graph", "s", values[0]);
  table.add(name + ": launches", "s", values[1]);
  table.add(name + ": launches / graph", "x", bench::ratios(values[1], values[0]));
}

Precision precision_of(std::string_view name) {
  for (std::size_t i = 0; i < precision_names.size(); ++i) {
    if (precision_names[i] == name) return static_cast<Precision>(i);
  }
  throw Error(Fault::usage, "There is no precision '" + std::string(name) + "'.");
}

int serve(char** words) try {
  bench::detail::the_gpu();
  const cuda::Stream stream;
  bench::GpuTraining training({.model = bench::model_of(words[2]),
                               .precision = precision_of(words[4]),
                               .batch = static_cast<std::size_t>(std::atoi(words[3]))},
                              stream.handle());
  std::puts("ready");
  for (int steps = 0; std::fflush(stdout) == 0 && std::scanf("%d", &steps) == 1;) {
    std::printf("%.9f\n", training.seconds_per_step(steps));
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count == 5 && std::string_view(words[1]) == "--serve") return serve(words);
  return bench::run(count, words, "cuda_step",
                    [](const bench::Setting& setting, bench::Table& table) {
                      for (const Case& of : cases) measure(of, setting, table);
                    });
}
