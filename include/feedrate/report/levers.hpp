// SPDX-License-Identifier: Apache-2.0
// Changes of a training script's step that its author makes in a line or two.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace feedrate::inline v0 {

/// One change, and what it is called.
struct StepLever {
  std::string_view name;   ///< stable, of reports
  std::string_view title;  ///< of screens
  std::string_view line;   ///< what to write
};

/// All of them change rounding at most, but for bf16 and fp16, which compute in fewer bits. The
/// hook switches pinned memory on together with copies that do not wait.
inline constexpr std::array<StepLever, 9> step_levers = {{
    {"tf32", "TF32", "torch.set_float32_matmul_precision('high')"},
    {"bf16", "bf16 autocast", "torch.autocast(DEVICE, dtype=torch.bfloat16) around model and loss"},
    {"fp16", "fp16 autocast",
     "torch.autocast('cuda', dtype=torch.float16) around model and loss, and torch.amp.GradScaler"},
    {"channels_last", "channels_last",
     "model.to(memory_format=torch.channels_last), before the optimizer is made"},
    {"fused", "fused optimizer", "fused=True of the optimizer"},
    {"foreach", "foreach optimizer", "foreach=True of the optimizer"},
    {"non_blocking", "non_blocking copy",
     "pin_memory=True of the DataLoader, and batch.to(device, non_blocking=True)"},
    {"cudnn_benchmark", "cudnn.benchmark", "torch.backends.cudnn.benchmark = True"},
    {"compile", "torch.compile", "model.compile()"},
}};

/// Another loader in the place of PyTorch's, where it knows the script's dataset.
inline constexpr StepLever cpp_loader = {"cpp_loader", "feedrate's C++ loader",
                                         "from feedrate.torch import DataLoader"};

/// Null where no lever has that name.
constexpr const StepLever* step_lever_named(std::string_view name) noexcept {
  const auto found = std::find_if(step_levers.begin(), step_levers.end(),
                                  [&](const StepLever& lever) { return lever.name == name; });
  return found == step_levers.end() ? nullptr : &*found;
}

}  // namespace feedrate::inline v0
