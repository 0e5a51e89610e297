// SPDX-License-Identifier: Apache-2.0
// Measures the answers of several runs of autotune on one workload against their reference, in
// turn. bench/answers.py makes them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "feedrate/report/json/from_json.hpp"
#include "feedrate/report/json/trial_json.hpp"
#include "feedrate/report/text/shell.hpp"
#include "interleaved.hpp"
#include "origin.hpp"
#include "request/parse_request.hpp"
#include "trials/prepare.hpp"

namespace feedrate {
namespace {

struct Options {
  std::vector<std::string> reports;
  int passes = 30;
  double round_s = 0.4;
  std::string output;
};

void add_flags(CLI::App& app, Options& options) {
  app.add_option("reports", options.reports, "Reports of autotune on one workload")->required();
  app.add_option("--passes", options.passes, "Rounds of each config")->check(CLI::Range(2, 1000));
  app.add_option("--round", options.round_s, "Seconds of a round")->check(CLI::PositiveNumber);
  app.add_option("--output", options.output, "Where the JSON goes");
}

/// What one run said.
struct Answer {
  std::string report;  ///< its file's name
  Config reference, config;
  std::optional<Config> safe;  ///< the best safe choice, where that is another config
  std::string standing;
  std::optional<Interval> claimed;  ///< the proof's speed-up
  double wall_s = 0;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) throw Error(Fault::data, "Can't read the report " + path + ".");
  return text;
}

Json report_of(const std::string& path) {
  Json report = parse_json(text_of(path));
  if (report.value("interrupted", true) || report.at("recommendation").is_null()) {
    throw Error(Fault::data, "The report " + path + " has no answer: leave it out.");
  }
  return report;
}

/// Empty where a bound is unknown.
std::optional<Interval> interval_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  Interval interval;
  detail::read_all(json, "estimate", interval.estimate, "low", interval.low, "high", interval.high);
  const bool known = std::isfinite(interval.low) && std::isfinite(interval.high);
  return known ? std::optional(interval) : std::nullopt;
}

Answer answer_of(const std::string& path, const Json& report) {
  const Json& recommended = report.at("recommendation");
  Answer answer;
  answer.report = std::filesystem::path(path).filename();
  answer.reference = report.at("reference").at("config").get<Config>();
  answer.config = recommended.at("config").get<Config>();
  answer.standing = recommended.at("status").get<std::string>();
  answer.claimed = interval_of(recommended.at("verified"));
  answer.wall_s = report.at("tool").at("wall_s").get<double>();
  const Json& tiers = recommended.at("tiers");
  if (!tiers.contains("safe")) return answer;
  const auto safe = tiers.at("safe").at("config").get<Config>();
  if (safe != answer.config) answer.safe = safe;
  return answer;
}

/// Answers can be compared where workload, device and reference are the same.
void require_same(const std::vector<Json>& reports) {
  for (const Json& report : reports) {
    const Json &workload = report.at("workload"), &first = reports.front().at("workload");
    const bool same = workload.at("name") == first.at("name") &&
                      workload.at("dataset") == first.at("dataset") &&
                      report.at("device") == reports.front().at("device") &&
                      report.at("reference") == reports.front().at("reference");
    if (same && workload.at("kind") != "command") continue;
    throw Error(Fault::usage,
                "Give reports of one workload on one device, against one reference, and none of a "
                "command.");
  }
}

/// The reference, and each config that an answer names.
std::vector<Config> configs_of(const std::vector<Answer>& answers) {
  std::vector<Config> configs = {answers.front().reference};
  for (const Answer& answer : answers) {
    bench::add_config(configs, answer.config);
    if (answer.safe) bench::add_config(configs, *answer.safe);
  }
  return configs;
}

/// The pipeline that the command line of a report makes.
Pipeline pipeline_of(const Json& report, const std::vector<Config>& configs) {
  std::vector<std::string> words =
      shell_words(report.at("tool").at("command_line").get<std::string>());
  words.erase(words.begin());
  Preparation preparation;
  preparation.say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const TuneRequest request = parse_request(words).value();
  PreparedWorkload prepared =
      prepare({request.data, choose_device(request.device), request.search.seed}, preparation);
  int largest = 1;
  for (const Config& config : configs) largest = std::max(largest, config.batch);
  return {std::move(prepared.workload), largest, prepared.info.cache};
}

/// The configs, and what was measured of them.
class Measured {
 public:
  Measured(std::vector<Config> configs, std::vector<bench::LogRates> rates)
      : configs_(std::move(configs)), rates_(std::move(rates)) {}

  double samples_per_s(const Config& config) const { return std::exp(mean(rates_of(config))); }

  Interval ratio(const Config& a, const Config& b) const {
    const Interval log = bench::log_ratio(rates_of(a), rates_of(b));
    return {std::exp(log.estimate), std::exp(log.low), std::exp(log.high)};
  }

  Json described(const Config& config) const {
    return {{"config", to_json(config)},
            {"samples_per_s", samples_per_s(config)},
            {"ratio", to_json(ratio(config, configs_.front()))}};
  }

 private:
  const bench::LogRates& rates_of(const Config& config) const {
    return rates_[bench::index_of(configs_, config)];
  }

  std::vector<Config> configs_;  ///< the reference first
  std::vector<bench::LogRates> rates_;
};

bool is_slower(const Measured& measured, const Answer& answer) {
  return measured.ratio(answer.config, answer.reference).high < 1;
}

bool holds(const Measured& measured, const Answer& answer) {
  const double ratio = measured.ratio(answer.config, answer.reference).estimate;
  return answer.claimed && answer.claimed->low <= ratio && ratio <= answer.claimed->high;
}

Json judged(const Measured& measured, const Answer& answer) {
  Json json = {{"report", answer.report},
               {"standing", answer.standing},
               {"wall_s", answer.wall_s},
               {"claimed", answer.claimed ? to_json(*answer.claimed) : Json(nullptr)}};
  json["claim_holds"] = answer.claimed ? Json(holds(measured, answer)) : Json(nullptr);
  json["slower_than_reference"] = is_slower(measured, answer);
  json["safe"] = answer.safe ? measured.described(*answer.safe) : Json(nullptr);
  json.update(measured.described(answer.config));
  return json;
}

/// The rate of the fastest answer over that of the slowest.
Interval spread(const Measured& measured, const std::vector<Answer>& answers) {
  const auto [slowest, fastest] =
      std::minmax_element(answers.begin(), answers.end(), [&](const Answer& a, const Answer& b) {
        return measured.samples_per_s(a.config) < measured.samples_per_s(b.config);
      });
  return measured.ratio(fastest->config, slowest->config);
}

Json summary(const Measured& measured, const std::vector<Answer>& answers) {
  std::vector<Config> distinct;
  std::vector<double> wall_s;
  for (const Answer& answer : answers) {
    bench::add_config(distinct, answer.config);
    wall_s.push_back(answer.wall_s);
  }
  const auto count = [&](auto&& is) { return std::count_if(answers.begin(), answers.end(), is); };
  return {{"answers", answers.size()},
          {"distinct_configs", distinct.size()},
          {"fastest_over_slowest", to_json(spread(measured, answers))},
          {"slower_than_reference", count([&](const Answer& a) { return is_slower(measured, a); })},
          {"claims", count([](const Answer& a) { return a.claimed.has_value(); })},
          {"claims_that_hold", count([&](const Answer& a) { return holds(measured, a); })},
          {"median_wall_s", median(wall_s)}};
}

Json compare(const Options& options) {
  std::vector<Json> reports;
  std::vector<Answer> answers;
  for (const std::string& path : options.reports) {
    reports.push_back(report_of(path));
    answers.push_back(answer_of(path, reports.back()));
  }
  require_same(reports);
  const std::vector<Config> configs = configs_of(answers);
  Pipeline pipeline = pipeline_of(reports.front(), configs);
  const Measured measured(configs,
                          bench::interleaved(pipeline, configs, options.passes, options.round_s));
  Json json = {{"workload", reports.front().at("workload").at("name")},
               {"dataset", reports.front().at("workload").at("dataset")},
               {"device", reports.front().at("device")},
               {"passes", options.passes},
               {"round_s", options.round_s},
               {"reference", measured.described(configs.front())},
               {"summary", summary(measured, answers)}};
  json.update(bench::origin());
  for (const Answer& answer : answers) json["answers"].push_back(judged(measured, answer));
  return json;
}

}  // namespace
}  // namespace feedrate

int main(int argc, char** argv) {
  feedrate::Options options;
  CLI::App app("Answers of autotune against their reference, in turn.");
  feedrate::add_flags(app, options);
  CLI11_PARSE(app, argc, argv);
  return feedrate::bench::publish([&] { return feedrate::compare(options); }, options.output);
}
