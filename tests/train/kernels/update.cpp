// SPDX-License-Identifier: Apache-2.0
// Tests of the update in one pass: it is what the optimizers of the CPU do.
#include "feedrate/train/kernels/update.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "feedrate/core/half.hpp"
#include "feedrate/core/random.hpp"
#include "feedrate/train/cpu/cpu.hpp"

namespace feedrate::update_tests {

namespace {

constexpr std::size_t count = 24;

/// Arrays of an update, aligned as packs want it, with random content.
template <class Storage>
struct Arrays {
  alignas(16) float values[count], gradient[count], first[count], second[count];
  alignas(16) Storage copy[count];
  StepState state;

  Arrays() {
    Random random(2, 0, 0);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = random.uniform(-1, 1);
      gradient[i] = random.uniform(-1, 1);
      first[i] = random.uniform(-1, 1);
      second[i] = random.uniform(0, 1);
    }
    state.factor = 0.5f;
  }

  template <int states>
  Update<Storage, states> update(const OptimizerSpec& spec) {
    state.now = scalars_of(spec, 3);
    return {spec, &state, values, copy, gradient, first, second};
  }
};

OptimizerSpec decayed(OptimizerSpec spec) {
  spec.weight_decay = 0.1f;
  return spec;
}

/// Element by element and in packs, against `expected`, which was computed by the CPU's body.
template <int states, class Storage>
void check(const OptimizerSpec& spec, const Arrays<Storage>& expected) {
  Arrays<Storage> each, packed;
  const auto one = each.template update<states>(spec);
  const auto wide = packed.template update<states>(spec);
  REQUIRE(wide.packs());
  for (std::size_t i = 0; i < count; ++i) one(i);
  for (std::size_t i = 0; i < count / 8; ++i) wide.pack(i);
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(std::abs(each.values[i] - expected.values[i]) < 1e-6f);
    REQUIRE(std::abs(each.first[i] - expected.first[i]) < 1e-6f);
    REQUIRE(std::abs(each.second[i] - expected.second[i]) < 1e-6f);
    REQUIRE(std::abs(packed.values[i] - each.values[i]) < 1e-6f);
    REQUIRE(std::abs(packed.first[i] - each.first[i]) < 1e-6f);
    REQUIRE(std::abs(packed.second[i] - each.second[i]) < 1e-6f);
    REQUIRE(each.copy[i] == Storage(each.values[i]));
    REQUIRE(packed.copy[i] == Storage(packed.values[i]));
  }
}

/// What the CPU's body makes of the same arrays, with the gradient scaled beforehand.
template <class Body>
Arrays<BFloat16> by_cpu(const Body& body) {
  Arrays<BFloat16> arrays;
  for (float& g : arrays.gradient) g *= 0.5f;
  body(arrays);
  return arrays;
}

}  // namespace

TEST_CASE("The update in one pass is that of the CPU's optimizers, with its copy rounded") {
  // Bug: decay of the scaled gradient, an array of state that is left as it was, or a copy of the
  // values before the update.
  const OptimizerSpec plain = decayed(sgd(0.1f)), momentum = decayed(sgd(0.1f, 0.9f));
  const OptimizerSpec adaptive = decayed(adam(0.01f));
  const auto descended = [](const OptimizerSpec& spec, bool moves) {
    return by_cpu([&](Arrays<BFloat16>& a) {
      const UpdateScalars now = scalars_of(spec, 3);
      Cpu{}.for_each(count, Sgd{spec, &now, a.values, a.gradient, moves ? a.first : nullptr});
    });
  };
  check<0>(plain, descended(plain, false));
  check<1>(momentum, descended(momentum, true));
  check<2>(adaptive, by_cpu([&](Arrays<BFloat16>& a) {
             const UpdateScalars now = scalars_of(adaptive, 3);
             Cpu{}.for_each(count, Adam{adaptive, &now, a.values, a.gradient, a.first, a.second});
           }));
}

TEST_CASE("A cancelled update changes nothing") {
  // Bug: an infinite gradient reaches the optimizer's state, which never recovers.
  for (bool refused : {false, true}) {
    Arrays<Float16> arrays;
    const Arrays<Float16> before;
    const auto update = arrays.update<2>(adam());
    (refused ? arrays.state.refused : arrays.state.apply) = refused ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) update(i);
    for (std::size_t i = 0; i < count / 8; ++i) update.pack(i);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(arrays.values[i] == before.values[i]);
      REQUIRE(arrays.first[i] == before.first[i]);
      REQUIRE(arrays.second[i] == before.second[i]);
    }
  }
}

}  // namespace feedrate::update_tests
