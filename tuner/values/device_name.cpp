// SPDX-License-Identifier: Apache-2.0
#include "values/device_name.hpp"

#include <string_view>

#include "feedrate/core/config.hpp"
#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

constexpr std::string_view emulated = "emulated:", cuda = "cuda:";

/// The user's own figures: "0.224@400", "3.5ms@1".
Accelerator own_accelerator(const std::string& text) {
  const std::size_t at = text.find('@');
  Accelerator own;
  own.name = text;
  own.step_s = parse_seconds("--device emulated:", text.substr(0, at));
  if (own.step_s < 1e-5 || own.step_s > 3600) {
    throw Error(Fault::usage, "--device 'emulated:" + text +
                                  "' makes no sense: an emulated step takes from 10us to 1h.");
  }
  own.batch = parse_integer("The batch of --device emulated", text.substr(at + 1), 1, most_batch);
  own.source = "from the command line";
  return own;
}

Accelerator accelerator_of(const std::string& name) {
  return name.find('@') == std::string::npos ? accelerator_named(name) : own_accelerator(name);
}

void read_gpu(DeviceName& name, const std::string& which) {
  name.number = parse_count(which);
  if (name.number) return;
  if (!which.starts_with("GPU-") && !which.starts_with("MIG-")) {
    throw Error(Fault::usage, "--device '" + name.text +
                                  "' makes no sense: write cuda, cuda:1, cuda:GPU-UUID or "
                                  "cuda:MIG-UUID, as nvidia-smi -L lists them.");
  }
  name.uuid = which;
}

}  // namespace

DeviceName parse_device(const std::string& text) {
  DeviceName name{.kind = DeviceName::Kind::cuda, .text = text};
  if (text == "cuda") return name;
  if (text.starts_with(cuda)) {
    read_gpu(name, text.substr(cuda.size()));
  } else if (text.starts_with(emulated)) {
    name.kind = DeviceName::Kind::emulated;
    name.accelerator = accelerator_of(text.substr(emulated.size()));
  } else if (text == "cpu") {
    name.kind = DeviceName::Kind::cpu;
  } else {
    throw Error(Fault::usage, "There is no device '" + text +
                                  "': there are cpu, cuda, cuda:1, emulated:SECONDS@BATCH, and as "
                                  "emulated:NAME " +
                                  accelerator_names() + ".");
  }
  return name;
}

}  // namespace feedrate
