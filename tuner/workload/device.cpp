// SPDX-License-Identifier: Apache-2.0
#include "workload/device.hpp"

#include <algorithm>
#include <vector>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

[[noreturn]] void not_available(const std::string& wish, const std::string& why) {
  throw Error(Fault::device, "Device '" + wish + "' is not available: " + why + ".");
}

/// That GPU; of one that MIG divides, its first instance, as CUDA takes it.
ChosenGpu whole_gpu(const Gpus& gpus, std::size_t index) {
  ChosenGpu chosen{static_cast<unsigned>(index), gpus.list[index]};
  if (!chosen.facts.instances.empty()) chosen.facts.uuid = chosen.facts.instances.front();
  return chosen;
}

/// The GPUs, or their instances, whose UUID begins so.
std::vector<ChosenGpu> with_uuid(const Gpus& gpus, std::string_view begin) {
  std::vector<ChosenGpu> found;
  for (unsigned g = 0; g < gpus.list.size(); ++g) {
    if (gpus.list[g].uuid.starts_with(begin)) found.push_back(whole_gpu(gpus, g));
    for (const std::string& instance : gpus.list[g].instances) {
      if (!instance.starts_with(begin)) continue;
      found.push_back({g, gpus.list[g]});
      found.back().facts.uuid = instance;
    }
  }
  return found;
}

bool is_uuid(std::string_view word) {
  return word.starts_with("GPU-") || word.starts_with("MIG-");
}

bool is_instance(const ChosenGpu& gpu) {
  return !gpu.facts.instances.empty();
}

/// Unless it is told to count as the driver does, the CUDA runtime counts the fastest GPU first:
/// the same number may be another GPU where they differ.
void require_plain_order(const DevicesHere& here) {
  const std::vector<Gpu>& gpus = here.gpus.list;
  const bool alike = std::all_of(gpus.begin(), gpus.end(),
                                 [&](const Gpu& gpu) { return gpu.name == gpus.front().name; });
  if (alike || here.order == "PCI_BUS_ID") return;
  throw Error(Fault::device, "CUDA_VISIBLE_DEVICES is '" + here.visible.value_or("") +
                                 "', and CUDA numbers these GPUs in another order than nvidia-smi: "
                                 "set CUDA_DEVICE_ORDER=PCI_BUS_ID, or use UUIDs.");
}

/// What CUDA_VISIBLE_DEVICES names, in its order; all without it. What is no GPU ends the list.
std::vector<ChosenGpu> named_gpus(const DevicesHere& here) {
  std::vector<ChosenGpu> all;
  if (!here.visible) {
    for (std::size_t g = 0; g < here.gpus.list.size(); ++g) all.push_back(whole_gpu(here.gpus, g));
    return all;
  }
  std::string_view left = *here.visible;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(std::min(word.size() + 1, left.size()));
    const auto number = parse_count(word);
    const auto named = is_uuid(word) ? with_uuid(here.gpus, word) : std::vector<ChosenGpu>{};
    if (number ? *number >= here.gpus.list.size() : named.size() != 1) break;
    if (number) require_plain_order(here);
    all.push_back(number ? whole_gpu(here.gpus, *number) : named.front());
  }
  return all;
}

/// The GPUs that CUDA shows to this process: of instances the first one, and then no other GPU.
/// Sources: CUDA C++ Programming Guide, "CUDA Environment Variables"; NVIDIA MIG User Guide, "CUDA
/// Device Enumeration".
std::vector<ChosenGpu> visible_gpus(const DevicesHere& here) {
  const std::vector<ChosenGpu> all = named_gpus(here);
  const auto instance = std::find_if(all.begin(), all.end(), is_instance);
  return instance == all.end() ? all : std::vector<ChosenGpu>{*instance};
}

void require_cuda(const std::string& wish, const DevicesHere& here) {
  if (here.has_cuda) return;
  not_available(wish, std::string(no_cuda_here) + ", or leave --device out");
}

void require_gpus(const std::string& wish, const DevicesHere& here) {
  if (here.gpus.list.empty()) {
    not_available(wish, here.gpus.why_none + "; leave --device out to train on the cpu");
  }
  if (visible_gpus(here).empty()) {
    not_available(wish, "CUDA_VISIBLE_DEVICES is '" + here.visible.value_or("") +
                            "', which hides every GPU: change it, or leave --device out");
  }
}

ChosenGpu gpu_of_number(const std::string& wish, std::uint64_t number, const Gpus& gpus) {
  if (number < gpus.list.size()) return whole_gpu(gpus, number);
  const std::string count = std::to_string(gpus.list.size());
  not_available(wish, gpus.list.size() == 1 ? "there is 1 GPU, cuda:0"
                                            : "there are " + count + " GPUs, cuda:0 to cuda:" +
                                                  std::to_string(gpus.list.size() - 1));
}

std::string uuids_of(const Gpus& gpus) {
  std::string text;
  const auto add = [&](const std::string& uuid) { text += (text.empty() ? "" : ", ") + uuid; };
  for (const Gpu& gpu : gpus.list) {
    add(gpu.uuid);
    std::for_each(gpu.instances.begin(), gpu.instances.end(), add);
  }
  return text;
}

ChosenGpu gpu_of_uuid(const std::string& wish, std::string_view uuid, const Gpus& gpus) {
  const auto found = with_uuid(gpus, uuid);
  if (found.size() == 1) return found.front();
  not_available(wish,
                (found.empty() ? "no UUID begins so; there are " : "several UUIDs begin so: ") +
                    uuids_of(gpus));
}

/// Why CUDA does not show that GPU to this process.
std::string why_hidden(const ChosenGpu& gpu, const ChosenGpu& first, const DevicesHere& here) {
  if (is_instance(first)) {
    return "CUDA shows one instance of a GPU to a process and nothing else, here " +
           first.facts.uuid + ": set CUDA_VISIBLE_DEVICES=" + gpu.facts.uuid;
  }
  return "CUDA_VISIBLE_DEVICES is '" + here.visible.value_or("") +
         "', which hides it: change that, or choose another";
}

ChosenGpu choose_gpu(const DeviceName& name, const DevicesHere& here) {
  require_cuda(name.text, here);
  require_gpus(name.text, here);
  const std::vector<ChosenGpu> visible = visible_gpus(here);
  if (!name.number && name.uuid.empty()) return visible.front();
  const ChosenGpu wished = name.number ? gpu_of_number(name.text, *name.number, here.gpus)
                                       : gpu_of_uuid(name.text, name.uuid, here.gpus);
  // A number is that of the GPU, whichever of its instances is visible.
  const auto is_wished = [&](const ChosenGpu& gpu) {
    return name.number ? gpu.index == *name.number : gpu.facts.uuid == wished.facts.uuid;
  };
  const auto found = std::find_if(visible.begin(), visible.end(), is_wished);
  if (found == visible.end()) not_available(name.text, why_hidden(wished, visible.front(), here));
  return *found;
}

/// The first GPU where there is one, and this build can use it.
TrainingDevice without_a_wish(const DevicesHere& here) {
  if (!here.has_cuda) return {.why_cpu = here.nvidia_on_bus ? std::string(no_cuda_here) : ""};
  if (here.gpus.list.empty()) {
    return {.why_cpu = here.nvidia_on_bus ? here.gpus.why_none : ""};
  }
  const std::vector<ChosenGpu> visible = visible_gpus(here);
  if (visible.empty()) {
    return {.why_cpu = "CUDA_VISIBLE_DEVICES is '" + here.visible.value_or("") +
                       "', which hides every GPU"};
  }
  return {.gpu = visible.front()};
}

}  // namespace

std::string TrainingDevice::name() const {
  if (accelerator) return "emulated:" + accelerator->name;
  return gpu ? "cuda:" + std::to_string(gpu->index) : "cpu";
}

TrainingDevice choose_device(const DeviceName& name,
                             const std::function<DevicesHere()>& devices_here) {
  switch (name.kind) {
    case DeviceName::Kind::automatic:
      return without_a_wish(devices_here());
    case DeviceName::Kind::cpu:
      return {};
    case DeviceName::Kind::emulated:
      return {.accelerator = name.accelerator};
    case DeviceName::Kind::cuda:
      break;
  }
  return {.gpu = choose_gpu(name, devices_here())};
}

}  // namespace feedrate
