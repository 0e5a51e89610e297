// refused: feedrate: a dataset needs size(), layout() and load(i, sample, random), all const
// SPDX-License-Identifier: Apache-2.0
#include "feedrate/load/loader.hpp"

// `load` writes, so people forget that it is called from many threads at once: it must be const.
struct Numbers {
  std::size_t size() const { return 1; }
  feedrate::Layout layout() const { return {{"number", feedrate::DType::f32, {}}}; }
#ifdef FEEDRATE_ACCEPTED
  void load(std::size_t, const feedrate::Sample&, feedrate::Random&) const {}
#else
  void load(std::size_t, const feedrate::Sample&, feedrate::Random&) {}
#endif
};

int main() {
  feedrate::Loader loader{Numbers{}};
}
