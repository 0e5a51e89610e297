// SPDX-License-Identifier: Apache-2.0
// Prints what each step on a GPU takes at least, as Markdown: kernels as the stand-in records them,
// FLOP and bytes per layer, and the time that a card's limits leave.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../bench/models.hpp"
#include "feedrate/cuda/device.hpp"
#include "feedrate/cuda/graph.hpp"
#include "feedrate/cuda/stream.hpp"
#include "feedrate/cuda/train/training.cuh"
#include "feedrate/report/text/format.hpp"
#include "feedrate/train/cost.hpp"
#include "standin.hpp"

namespace feedrate {
namespace {

using Storage = BFloat16;
constexpr double storage_bytes = sizeof(Storage), float_bytes = sizeof(float);

/// Dense products of bf16, and bytes to and from its memory.
struct Card {
  const char* name;
  double flops_per_s, bytes_per_s;
};
constexpr std::array<Card, 2> cards = {{{"H200", 989e12, 4.8e12}, {"H100 SXM", 989e12, 3.35e12}}};

struct Case {
  const char* model;
  std::size_t batch;
  OptimizerSpec optimizer = sgd(0.01f, 0.9f);
};

/// The first three are those of the benches.
std::vector<Case> cases() {
  return {{"mlp", 128},        {"wide-mlp", 4096, sgd(0.01f)},
          {"images", 256},     {"small-images", 256},
          {"in-memory", 512},  {"tabular", 512},
          {"wide-linear", 512}};
}

/// What a layer needs, or several.
struct Need {
  double flops = 0;
  double least_bytes = 0;   ///< each tensor crosses the memory once in each direction
  double moved_bytes = 0;   ///< by our kernels, columns of convolutions left out
  double column_bytes = 0;  ///< of these, written and read, by a cache where they fit

  void add(const Need& other) {
    flops += other.flops;
    least_bytes += other.least_bytes;
    moved_bytes += other.moved_bytes;
    column_bytes += other.column_bytes;
  }
};

struct Layer {
  std::string name;
  Need need;
};

std::string name_of(const Block& block) {
  const auto number = [](std::size_t n) { return std::to_string(n); };
  std::string name = block.plain()
                         ? "linear "
                         : "conv " + number(block.kernel) + "x" + number(block.kernel) + ", ";
  name += number(block.in.channels) + " to " + number(block.raw.channels);
  return block.pools() ? name + ", pooled" : name;
}

/// Of a product with bias, pooling and activation, forward and backward. Nothing is computed of the
/// gradient of what enters the first.
Layer layer_of(const Block& block, const cuda::Place& place, std::size_t batch, bool first) {
  const double samples = static_cast<double>(batch);
  const auto tensor = [&](const Image& image) {
    return samples * static_cast<double>(image.elements()) * storage_bytes;
  };
  const double in = tensor(block.in), raw = tensor(block.raw), out = tensor(block.out);
  const auto weights = static_cast<double>(block.weights());
  const double back = first ? 0 : in + weights * storage_bytes;
  const double weight_bytes = weights * (storage_bytes + float_bytes);  // read, and their gradient
  Need need;
  need.flops = samples * product_flops(block) * (first ? 2 : 3);
  need.least_bytes = in + out + in + out + weight_bytes + back;
  // The product, its two gradients, and ReLU's, which reads and writes the gradient.
  need.moved_bytes =
      in + raw + in + raw + weight_bytes + back + (first ? 0 : raw) + (block.relu() ? 3 * out : 0);
  // Pooling forward and backward, and the gradient of the bias before it.
  if (block.pools()) need.moved_bytes += raw + out + 2 * raw + 2 * out + out;
  if (!block.plain()) {
    const double columns =
        samples * static_cast<double>(block.raw.pixels() * place.depth) * storage_bytes;
    need.column_bytes = 2 * columns * (first ? 2 : 3);
  }
  return {name_of(block), need};
}

/// Reads gradient, value and state, and writes value, state and the rounded copy.
Layer update_of(std::size_t parameters, const OptimizerSpec& optimizer) {
  const double floats = 3 + 2 * state_arrays(optimizer);
  const double bytes = static_cast<double>(parameters) * (floats * float_bytes + storage_bytes);
  return {"update", {0, bytes, bytes, 0}};
}

std::vector<Layer> layers_of(const Case& of) {
  const std::vector<Block> blocks = plan_of(bench::model_of(of.model));
  const cuda::ParameterPlaces places(blocks, cuda::per_access<Storage>);
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    layers.push_back(layer_of(blocks[i], places[i], of.batch, layers.empty()));
  }
  layers.push_back(update_of(places.size(), of.optimizer));
  return layers;
}

/// Records the step as a graph, and runs nothing of it.
std::uint64_t kernels_of(const Case& of) {
  const std::vector<Block> blocks = plan_of(bench::model_of(of.model));
  const cuda::ParameterPlaces places(blocks, cuda::per_access<Storage>);
  cuda::DeviceArena arena;
  cuda::StepMemory<Storage> memory(cuda::l2_bytes());
  const cuda::Stream stream;
  memory.carve(arena, blocks, of.batch, of.optimizer);
  arena.allocate(stream.handle());
  memory.carve(arena, blocks, of.batch, of.optimizer);
  cuda::Training<Storage> training({blocks, places, memory, of.optimizer, {}, cuda::Operands::bf16},
                                   stream.handle());
  const auto queued = [] {
    return standin::calls_of("launch") + standin::calls_of("cudaMemsetAsync");
  };
  const std::uint64_t before = queued();
  cuda::Graph::record(stream.handle(), [&] { training.queue({of.batch, true, true}); });
  return queued() - before;
}

double compute_s(const Card& card, const Need& need) {
  return need.flops / card.flops_per_s;
}

/// What the slower of products and memory takes, where the kernels of a layer run beside each
/// other.
double bound_s(const Card& card, const Need& need, double bytes) {
  return std::max(compute_s(card, need), bytes / card.bytes_per_s);
}

std::string cell(double value) {
  return " " + format_number(value) + " |";
}

std::string need_cells(const Need& need) {
  return cell(1e-9 * need.flops) + cell(1e-6 * need.least_bytes) + cell(1e-6 * need.moved_bytes) +
         cell(1e-6 * need.column_bytes);
}

/// A line of a table's head, and the one below it.
std::string head(std::string cells, const char* of_a_card, const char* rule) {
  for (const Card& card : cards)
    cells += " " + std::string(card.name) + ", least us | " + of_a_card;
  return cells + "\n" + rule + "\n";
}

std::string step_row(const Case& of) {
  const std::vector<Layer> layers = layers_of(of);
  Need step;
  for (const Layer& layer : layers) step.add(layer.need);
  std::string row = "| `" + std::string(of.model) + "` | " + std::to_string(of.batch) + " | " +
                    std::to_string(kernels_of(of)) + " |" + need_cells(step);
  for (const Card& card : cards) {
    double least_s = 0, moved_s = 0;
    for (const auto& [name, need] : layers) {
      least_s += bound_s(card, need, need.least_bytes);
      moved_s += bound_s(card, need, need.moved_bytes);
    }
    row += cell(1e6 * least_s) + cell(1e6 * moved_s);
  }
  return row + "\n";
}

std::string layer_row(const Case& of, const Layer& layer) {
  const Need& need = layer.need;
  std::string row = "| `" + std::string(of.model) + "` | " + layer.name + " |" + need_cells(need);
  for (const Card& card : cards) {
    const double least_s = bound_s(card, need, need.least_bytes);
    row += cell(1e6 * least_s);
    row += compute_s(card, need) == least_s ? " products |" : " memory |";
  }
  return row + "\n";
}

std::string tables() {
  constexpr const char* needs = "GFLOP | least MB | moved MB | columns MB |";
  std::string text = head("| model | batch | kernels | " + std::string(needs), "as moved us |",
                          "|---|---|---|---|---|---|---|---|---|---|---|");
  for (const Case& of : cases()) text += step_row(of);
  text += "\n" + head("| model | layer | " + std::string(needs), "limit |",
                      "|---|---|---|---|---|---|---|---|---|---|");
  for (const Case& of : cases()) {
    for (const Layer& layer : layers_of(of)) text += layer_row(of, layer);
  }
  return text;
}

}  // namespace
}  // namespace feedrate

int main() {
  standin::set_memory_limit(std::size_t{80} << 30);
  std::fputs(feedrate::tables().c_str(), stdout);
}
