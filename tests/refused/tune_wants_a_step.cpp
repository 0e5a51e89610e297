// refused: feedrate: a step takes a batch, const feedrate::Batch&
// SPDX-License-Identifier: Apache-2.0
#include "feedrate/data/in_memory.hpp"
#include "feedrate/tune/program/in_program.hpp"

int main() {
  feedrate::InMemory table(100, {{"x", feedrate::DType::f32, {4}}});
#ifdef FEEDRATE_ACCEPTED
  const auto step = [](const feedrate::Batch&) {};
#else
  const auto step = [](const feedrate::Loader&) {};
#endif
  feedrate::tune(table, step, {.may_train = true});
}
