// SPDX-License-Identifier: Apache-2.0
// Gates for the tests of their writers.
#pragma once

#include <limits>
#include <string>

#include "feedrate/report/gate/gate.hpp"

namespace feedrate::testing {

/// What no format may be broken by: markup, quotes, separators, escapes, line breaks, control
/// characters, invalid UTF-8.
inline const std::string hostile_name =
    std::string("a|b<c>&\"'`*_[x](y)\\,;:%=#{}$@\n::error::\r\t\x1b") + std::string(1, '\0') +
    "\xff\xed\xa0\x80 gr\xC3\xBCn";

/// A metric that lost `loss` of its speed; the interval is 3 % to each side.
inline GateMetric example_metric(const std::string& name, double loss, Conclusion conclusion) {
  GateMetric metric;
  metric.name = name;
  metric.unit = "samples/s";
  metric.base = Interval{10000, 9800, 10200};
  metric.value = {10000 * (1 - loss), 9800 * (1 - loss), 10200 * (1 - loss)};
  metric.speed_ratio = Interval{1 - loss, 1 - loss - 0.03, 1 - loss + 0.03};
  metric.conclusion = conclusion;
  if (conclusion != Conclusion::pass) metric.reason = "The loader became slower.";
  return metric;
}

inline Gate empty_gate() {
  Gate gate;
  gate.tool = {
      "0.1.0", "abc1234", "autotune ab --rate 'x (.*)' -- ./base -- ./head", "2026-11-25T04:00:00Z",
      7,       12.5};
  gate.machine.fingerprint = "0123456789abcdef";
  gate.machine.cpu_model = "Example CPU";
  gate.verb = "ab";
  gate.subject = "./base against ./head";
  return gate;
}

/// One of each conclusion and of each fulfilment, metrics that are not judged, and hostile names.
inline Gate example_gate() {
  constexpr double unknown = std::numeric_limits<double>::infinity();
  Gate gate = empty_gate();
  gate.metrics = {example_metric("fast", 0.01, Conclusion::pass),
                  example_metric(hostile_name, 0.2, Conclusion::slower),
                  example_metric("noisy", 0.05, Conclusion::inconclusive),
                  example_metric("disturbed", 0, Conclusion::not_comparable)};
  gate.metrics[3].speed_ratio.reset();
  GateMetric memory;
  memory.name = "memory_bytes";
  memory.unit = "bytes";
  memory.higher_is_better = false;
  memory.value = {3e9, -unknown, unknown};
  gate.metrics.push_back(memory);
  gate.requirements = {
      {"fed >= 0.90", "fed", Interval{0.95, 0.94, 0.96}, Fulfilment::met, ""},
      {"busy >= 0.90", "busy", Interval{0.7, 0.68, 0.72}, Fulfilment::not_met, "Too low."},
      {"speedup >= 1.0 & \"<b>\"", hostile_name, {}, Fulfilment::inconclusive, "Not measured."}};
  gate.notes = {"2 of 8 blocks were discarded: other processes took the CPU."};
  return gate;
}

}  // namespace feedrate::testing
