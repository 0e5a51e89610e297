// SPDX-License-Identifier: Apache-2.0
#include "command/rate_ways.hpp"
#include "feedrate/core/error.hpp"
#include "script/script_session.hpp"

namespace feedrate {

void throw_nothing_to_tune(const NothingToTune& nothing) {
  const std::string told = nothing.reports
                               ? "It reports its speed; what is missing is how it takes settings, "
                                 "such as --set workers=env:NUM_WORKERS --workers 2,4."
                               : three_ways();
  const std::string last =
      nothing.failed ? last_error(nothing.last_lines) : last_line(nothing.last_lines);
  const std::string said = last.empty() ? "" : " It said last: \"" + last + "\".";
  throw Error(Fault::usage, "The command " + nothing.why + "." + said + " " + told);
}

}  // namespace feedrate
