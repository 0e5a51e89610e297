// SPDX-License-Identifier: Apache-2.0
// What the screen says of a user's own script, beside what it says of every workload.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "feedrate/report/report.hpp"
#include "feedrate/report/text/choice_text.hpp"
#include "feedrate/report/text/format.hpp"
#include "feedrate/report/text/words.hpp"

namespace feedrate::inline v0 {
namespace detail {

/// "train.py:23" of "/home/me/train.py".
inline std::string place_of(const ScriptLoader& loader) {
  if (loader.file.empty()) return "unknown line";
  return loader.file.substr(loader.file.rfind('/') + 1) + ":" + std::to_string(loader.line);
}

inline std::string name_of(const ScriptLoader& loader) {
  return loader.name.empty() ? loader.class_name + " " + std::to_string(loader.index) : loader.name;
}

/// CPU seconds per second that workers took which should have slept.
inline double parked_share(const Outcome& outcome) {
  double parked_s = 0, rounds_s = 0;
  for (const Trial& trial : outcome.trials) {
    for (const Round& round : trial.rounds) {
      parked_s += round.parked_cpu_s;
      rounds_s += round.duration_s;
    }
  }
  return rounds_s > 0 ? parked_s / rounds_s : 0;
}

/// "4 pairs of launches".
inline std::string launches_text(int pairs) {
  return std::to_string(pairs) + (pairs == 1 ? " pair" : " pairs") + " of launches";
}

/// Of the launches of the unchanged script.
inline std::string outside_text(const Confirmation& confirmation) {
  if (confirmation.outside_share < 0) return {};
  return " The script spends " + format_percent(confirmation.outside_share) +
         " of its time outside the training loop, which a faster loader does not change.";
}

/// One launch of the unchanged script.
inline std::string as_it_is_text(const Confirmation& confirmation) {
  std::string text =
      "In a fresh process, unchanged: " + format_number(confirmation.as_is_samples_per_s) +
      " samples/s.";
  const LaunchedGpu& gpu = confirmation.as_is_gpu;
  if (gpu.nvml_busy >= 0) {
    text += " The GPU is busy " + format_percent(gpu.nvml_busy) + " of the time (NVML).";
  }
  if (gpu.gpm.known()) text += " GPU counters: " + activity_text(gpu.gpm) + ".";
  if (gpu.memory_bytes > 0) {
    text += " Tensors take " + format_bytes(gpu.memory_bytes) + " of GPU memory.";
  }
  return text + outside_text(confirmation);
}

/// The GPU's part of a comparison; `change` is what was launched in turn with the unchanged script.
inline std::string gpus_text(const Confirmation& confirmation, const std::string& change) {
  const LaunchedGpu& before = confirmation.as_is_gpu;
  const LaunchedGpu& after = confirmation.recommended_gpu;
  std::string text;
  if (before.nvml_busy >= 0 && after.nvml_busy >= 0) {
    text += " The GPU is busy " + format_percent(before.nvml_busy) + " of the time now, " +
            format_percent(after.nvml_busy) + " " + change + " (NVML).";
  }
  if (before.gpm.known() && after.gpm.known()) {
    text += " GPU counters: " + activity_text(before.gpm) + " now; " + activity_text(after.gpm) +
            " " + change + ".";
  }
  if (before.memory_bytes > 0 && after.memory_bytes > 0) {
    text += " Tensors take " + format_bytes(before.memory_bytes) + " of GPU memory now, " +
            format_bytes(after.memory_bytes) + " " + change + ".";
  }
  return text;
}

inline std::string failed_text(const Outcome& outcome, const Confirmation& confirmation) {
  const bool stays =
      !outcome.trials.empty() && confirmation.config == outcome.trials[outcome.reference].config;
  const std::string what =
      stays ? "Not measured in a fresh process"
            : "NOT confirmed in fresh processes with " + config_text(outcome, confirmation.config);
  return what + ": " + confirmation.failure;
}

/// What to do where a change is not confirmed, unless a narrower change is tried next.
inline std::string rejected_text(const Outcome& outcome, ConfirmationVerdict verdict) {
  const bool slower = verdict == ConfirmationVerdict::slower;
  const std::string text = slower ? " Slower" : " Inconclusive";
  const bool keeps = outcome.tiers.empty() || outcome.choice().trial == outcome.reference;
  if (!keeps) return text + ".";
  return text + ": do not change the script" +
         (slower ? "." : ", or repeat the run on an idle machine.");
}

inline std::string confirmation_text(const Outcome& outcome, const Confirmation& confirmation) {
  if (!confirmation.failure.empty()) return failed_text(outcome, confirmation);
  if (confirmation.pairs == 0) return as_it_is_text(confirmation);
  const ConfirmationVerdict verdict = confirmation.verdict();
  const bool confirmed = verdict == ConfirmationVerdict::confirmed;
  const std::string change =
      confirmed ? "recommended" : "with " + config_text(outcome, confirmation.config);
  return std::string(confirmed ? "Confirmed" : "NOT confirmed") + " in fresh processes (" +
         launches_text(confirmation.pairs) + "): " + speedup_text(confirmation.speedup) +
         (confirmed ? "" : " " + change) + ", " + format_number(confirmation.as_is_samples_per_s) +
         " to " + format_number(confirmation.recommended_samples_per_s) + " samples/s." +
         (confirmed ? "" : rejected_text(outcome, verdict)) + gpus_text(confirmation, change) +
         outside_text(confirmation);
}

/// What an epoch costs at its end, now and with the choice, where that was measured.
inline std::string boundary_text(const Outcome& outcome) {
  const Trial& reference = outcome.trials[outcome.reference];
  const Trial& best = outcome.recommended();
  if (best.epoch_boundary_s < 0 || reference.epoch_boundary_s < 0) return {};
  std::string text =
      "The first batch of an epoch takes " + format_duration(reference.epoch_boundary_s) + " now";
  if (&best != &reference) {
    text += ", " + format_duration(best.epoch_boundary_s) + " with the recommended settings";
  }
  return text + ".";
}

inline std::string copies_text(const Script& script) {
  if (script.copies == 0) return {};
  const int waiting = script.copies - script.non_blocking;
  if (waiting == 0) return "The script copies batches to the GPU with non_blocking=True.";
  return "The script copies batches to the GPU without non_blocking=True, so its loop waits for "
         "each "
         "copy. With pinned memory and non_blocking=True it would not wait.";
}

/// What the end of the script costs with the recommended workers, and did not before.
inline std::string exit_text(const Script& script, const Outcome& outcome) {
  const auto waits = [&](const Config& config) {
    return config.workers > 0 && config.pinned && config.persistent;
  };
  const Config& recommended = outcome.recommended().config;
  if (!script.waits_at_exit || !waits(recommended) || waits(script.config)) return {};
  return "At the end of the script PyTorch " + script.torch + " waits 5 s for " +
         (recommended.workers == 1
              ? "the worker"
              : "each of the " + std::to_string(recommended.workers) + " workers") +
         ", if the DataLoader still exists: delete it before (del loader), or use PyTorch "
         "2.15.";
}

/// How workers start, where each of them imports the script again, and how long the most of them
/// took.
inline std::string start_text(const Script& script, const Outcome& outcome) {
  if (script.start_method.empty() || script.start_method == "fork") return {};
  int workers = 0;
  double seconds = 0;
  for (const Probe& probe : outcome.probes) {
    if (probe.part != Part::loader || probe.config.workers <= workers) continue;
    workers = probe.config.workers;
    seconds = probe.round.first_batch_s;
  }
  const std::string text =
      "Workers start by " + script.start_method + ": each imports the script again";
  if (workers == 0) return text + ".";
  return text + ". The first batch of " + std::to_string(workers) +
         (workers == 1 ? " worker" : " workers") + " came after " + format_duration(seconds) + ".";
}

}  // namespace detail

/// "train_loader of train.py (made in train.py:23, its loop trains)".
inline std::string loader_text(const WorkloadInfo& workload) {
  const ScriptLoader& loader = workload.script->loader;
  return detail::name_of(loader) + " of " + workload.name + " (" + detail::place_of(loader) + ", " +
         loader.why + ")";
}

/// Sentences on the script, beside the confirmation.
inline std::vector<std::string> script_lines(const Report& report) {
  const Script& script = *report.workload.script;
  std::vector<std::string> lines;
  lines.push_back(detail::boundary_text(report.outcome));
  lines.push_back(detail::copies_text(script));
  lines.push_back(detail::start_text(script, report.outcome));
  lines.push_back(detail::exit_text(script, report.outcome));
  if (const double parked = detail::parked_share(report.outcome); parked > 0.01) {
    lines.push_back("Idle workers used " + format_percent(parked) +
                    " of a core during the measurements.");
  }
  if (script.world > 1) {
    lines.push_back("The number of workers is per process. " + std::to_string(script.world) +
                    " processes train together; rates are their sum.");
  }
  std::erase(lines, std::string());
  return lines;
}

/// What more workers ask of a stream. A script that has several today knows.
inline std::string stream_text(const Script& script, const Config& recommended) {
  if (!script.iterable || recommended.workers < 2 || script.config.workers > 1) return {};
  const std::string workers = std::to_string(recommended.workers);
  return "The dataset is an IterableDataset, and each of " + workers +
         " workers has a copy. Its __iter__ must give each worker its own part "
         "(torch.utils.data.get_worker_info); otherwise every sample comes " +
         workers + " times, and the rate counts all of them.";
}

/// "The command created or changed: runs/last.pt, log.txt and 3 more files."
inline std::string touched_text(const std::vector<std::string>& files) {
  constexpr std::size_t most = 5;
  if (files.empty()) return {};
  std::string text = "The command created or changed: ";
  for (std::size_t f = 0; f < std::min(files.size(), most); ++f) {
    text += (f > 0 ? ", " : "") + files[f];
  }
  if (files.size() > most) {
    text += " and " + std::to_string(files.size() - most) +
            (files.size() == most + 1 ? " more file" : " more files");
  }
  return text + ".";
}

}  // namespace feedrate::inline v0
