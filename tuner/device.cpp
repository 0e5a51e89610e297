// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include "axes.hpp"

namespace feedrate {
namespace {

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
  const auto batch =
      parse_integers("The batch of --device emulated", text.substr(at + 1), 1, 1 << 20);
  if (batch.size() != 1) {
    throw Error(Fault::usage,
                "--device 'emulated:" + text + "' makes no sense: give one batch behind the @.");
  }
  own.batch = batch.front();
  own.source = "from the command line";
  return own;
}

}  // namespace

std::optional<Accelerator> emulated_accelerator(const std::string& device) {
  constexpr std::string_view emulated = "emulated:";
  if (device == "cpu") return std::nullopt;
  if (device.starts_with(emulated)) {
    const std::string name = device.substr(emulated.size());
    return name.find('@') == std::string::npos ? accelerator_named(name) : own_accelerator(name);
  }
  if (device.starts_with("cuda")) {
    throw Error(Fault::device, "Device '" + device +
                                   "' is not to be had: this build trains on the cpu only; leave "
                                   "--device out.");
  }
  throw Error(Fault::usage, "There is no device '" + device +
                                "': there are cpu, emulated:SECONDS@BATCH, and as emulated:NAME " +
                                accelerator_names() + ".");
}

}  // namespace feedrate
