// SPDX-License-Identifier: Apache-2.0
// The machine card: the best rates of this machine, measured within some seconds.
#pragma once

#include <string>
#include <vector>

#include "feedrate/card/blas_identity.hpp"
#include "feedrate/card/copy_rate.hpp"
#include "feedrate/card/decode_rate.hpp"
#include "feedrate/card/probe.hpp"
#include "feedrate/card/probe_picture.hpp"
#include "feedrate/card/product_rates.hpp"
#include "feedrate/card/read_rate.hpp"
#include "feedrate/core/clock.hpp"
#include "feedrate/machine/machine.hpp"
#include "feedrate/train/cpu/blas_library.hpp"

namespace feedrate::inline v0 {

/// A machine and its measured ceilings.
struct MachineCard {
  Machine machine;
  ReadRate read;                      ///< bytes/s from the storage of machine.storage
  DecodeRate decode;                  ///< pictures/s
  CoreRates copy;                     ///< bytes/s by memcpy
  std::vector<ProductRate> products;  ///< FLOP/s by precision
  BlasIdentity blas_identity;         ///< what multiplied
  BlasLibrary blas;                   ///< how it was set up
  double wall_s = 0;                  ///< what the card cost
};

/// How long the card may take: at most about 8 times rounds x round_s for the cores, and
/// read.write_s + 7 x read.time.round_s for the storage. 4 s by default.
struct CardProbe {
  ReadProbe read;
  ProbeTime time;
};

/// Measures each ceiling alone. Storage is that under `path`, which must exist: Error(data) if not.
inline MachineCard measure_card(const std::string& path, const CardProbe& probe = {}) {
  const SteadyClock clock;
  const double start_s = clock.now_s();
  MachineCard card;
  card.machine = read_machine(path);
  const int cores = card.machine.limits.cpus.usable;
  card.read = probe_read(card.machine.storage.path, probe.read);
  if (in_memory(card.machine.storage)) card.read.cold.why_not = "it lives in memory";
  card.decode = probe_decode(make_probe_jpeg(), cores, probe.time);
  card.copy = probe_copy(card.machine.limits, probe.time);
  card.products = probe_products(cores, probe.time);
  card.blas_identity = identify_blas();
  card.blas = blas_library();
  card.wall_s = clock.now_s() - start_s;
  return card;
}

}  // namespace feedrate::inline v0
