// SPDX-License-Identifier: Apache-2.0
// The claim: a step that is mostly matrix products (an MLP, 4096 wide, 4 layers, batch 4096) runs
// in bf16 at 85 % of the rate of the library's own large product, over the whole step.
#include <string>

#include "feedrate/core/config.hpp"
#include "gpu_bench.hpp"
#include "gpu_training.hpp"

using namespace feedrate;

namespace {

void measure(Precision precision, const bench::Setting& setting, bench::Table& table) {
  bench::GpuTraining training({.model = bench::model_of("wide-mlp"),
                               .optimizer = sgd(0.01f),
                               .precision = precision,
                               .batch = 4096},
                              setting.stream);
  const auto step = [&] { return training.flops_per_step() / training.seconds_per_step(10); };
  const auto ceiling = [&] { return cuda::product_flops_per_s(precision, setting.stream, 0.05); };
  ceiling();  // chooses its algorithm
  const auto values = bench::in_turn(setting.rounds, {step, ceiling});
  const std::string name(name_of(precision));
  table.add(name + ": step", "FLOP/s", values[0]);
  table.add(name + ": product of 8192", "FLOP/s", values[1]);
  const bool promised = precision == Precision::bf16;
  table.add(name + ": step / product", "x", bench::ratios(values[0], values[1]),
            promised ? bench::Promise{.least = 0.85} : bench::Promise{});
}

}  // namespace

int main(int count, char** words) {
  return bench::run(count, words, "cuda_gemm",
                    [](const bench::Setting& setting, bench::Table& table) {
                      for (Precision precision :
                           {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16}) {
                        measure(precision, setting, table);
                      }
                    });
}
