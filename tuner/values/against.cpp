// SPDX-License-Identifier: Apache-2.0
#include "values/against.hpp"

#include <algorithm>

#include "feedrate/core/error.hpp"
#include "values/axes.hpp"

namespace feedrate {
namespace {

constexpr int torch_prefetch = 2;

[[noreturn]] void refuse_axis(const std::string& flag, const std::string& name) {
  std::string all;
  for_each_axis([&](const auto& axis) { (all += all.empty() ? "" : ", ") += axis.name; });
  throw Error(Fault::usage,
              flag + " names '" + name + "', which is no axis: the axes are " + all + ".");
}

void add(Against& against, std::string name, const std::string& value) {
  std::replace(name.begin(), name.end(), '-', '_');
  if (against.names(name)) {
    throw Error(Fault::usage, against.flag + " names " + name + " twice: give it one value.");
  }
  bool known = false;
  for_each_axis([&](const auto& axis) {
    if (axis.name != name) return;
    against.values.*axis.field = parse_value(axis, against.flag + " " + name, value);
    against.axes.push_back(axis.name);
    known = true;
  });
  if (!known) refuse_axis(against.flag, name);
}

void add_pair(Against& against, const std::string& pair) {
  const std::size_t sign = pair.find('=');
  if (sign == pair.npos) {
    throw Error(Fault::usage, against.flag + " '" + pair +
                                  "' has no '=': write pairs of an axis and its value, such as "
                                  "workers=8,batch=64.");
  }
  add(against, pair.substr(0, sign), pair.substr(sign + 1));
}

/// Prefetch needs workers, as in PyTorch.
void complete_prefetch(Against& against) {
  const bool has_workers = against.names("workers") && against.values.workers > 0;
  if (!has_workers && against.names("prefetch")) {
    throw Error(Fault::usage, against.flag + " prefetch=" + value_text(against.values.prefetch) +
                                  " needs workers: name them too, as in workers=2,prefetch=" +
                                  value_text(against.values.prefetch) + ", or leave it out.");
  }
  if (!has_workers || against.names("prefetch")) return;
  against.values.prefetch = torch_prefetch;
  against.axes.push_back("prefetch");
}

/// One update has batch x accumulate samples.
void complete_batch(Against& against, std::optional<int> effective_batch) {
  Config& values = against.values;
  if (!against.names("accumulate")) return;
  if (!effective_batch) {
    throw Error(Fault::usage,
                against.flag + " accumulate=" + value_text(values.accumulate) +
                    " needs --effective-batch, which is batch x accumulate: give it, too.");
  }
  if (!against.names("batch") && *effective_batch % values.accumulate == 0) {
    values.batch = *effective_batch / values.accumulate;
    against.axes.push_back("batch");
  }
  if (against.names("batch") && values.batch * values.accumulate == *effective_batch) return;
  throw Error(Fault::usage, against.flag + " accumulate=" + value_text(values.accumulate) +
                                " does not fit --effective-batch " +
                                std::to_string(*effective_batch) +
                                ", which is batch x accumulate: change one of them.");
}

void refuse_indivisible(const Against& against, std::optional<int> effective_batch) {
  if (!effective_batch || !against.names("batch")) return;
  if (*effective_batch % against.values.batch == 0) return;
  throw Error(Fault::usage, against.flag + " batch=" + value_text(against.values.batch) +
                                " does not divide --effective-batch " +
                                std::to_string(*effective_batch) + ": change one of them.");
}

}  // namespace

Against parse_against(const std::string& text, std::optional<int> effective_batch,
                      const std::string& flag) {
  Against against{.flag = flag};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    add_pair(against, text.substr(at, end - at));
    at = end + 1;
  }
  complete_prefetch(against);
  complete_batch(against, effective_batch);
  refuse_indivisible(against, effective_batch);
  return against;
}

}  // namespace feedrate
