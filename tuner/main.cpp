// SPDX-License-Identifier: Apache-2.0
// The command autotune.
#include <iostream>

#include "feedrate/core/error.hpp"
#include "process/guard.hpp"
#include "request/options.hpp"
#include "request/terminal.hpp"
#include "trials/trial_child.hpp"
#include "verbs/doctor.hpp"
#include "verbs/sweep_verb.hpp"

namespace feedrate {
namespace {

int exit_code(Fault fault) noexcept {
  switch (fault) {
    case Fault::usage:
      return 2;
    case Fault::data:
      return 4;
    case Fault::device:
      return 5;
    case Fault::trials:
      return 6;
    case Fault::interrupted:
      return 130;
    case Fault::internal:
      break;
  }
  return 1;
}

int run(CommandLine line) {
  switch (line.verb) {
    case Verb::workloads:
      return run_workloads();
    case Verb::doctor:
      line.doctor.color = use_color(line.doctor_color, STDOUT_FILENO);
      line.doctor.width = columns(STDOUT_FILENO);
      return run_doctor(line.doctor, std::cout);
    case Verb::nothing:
      return 0;
    case Verb::sweep:
      break;
  }
  return line.sweep.trial_child != 0 ? run_trial_child(line.sweep) : run_sweep(line.sweep);
}

}  // namespace
}  // namespace feedrate

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (feedrate::is_guard(words)) return feedrate::run_guard(words);
  return feedrate::run(feedrate::parse_command_line(words));
} catch (const feedrate::Error& error) {
  std::cerr << "autotune: " << error.what() << '\n';
  return feedrate::exit_code(error.fault());
} catch (const std::exception& error) {
  std::cerr << "autotune: " << error.what() << '\n';
  return 1;
}
