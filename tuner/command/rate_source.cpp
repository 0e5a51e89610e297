// SPDX-License-Identifier: Apache-2.0
#include "command/rate_source.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "feedrate/core/error.hpp"
#include "feedrate/core/system_files.hpp"
#include "feedrate/measure/statistics.hpp"

namespace feedrate {
namespace {

constexpr int enough_values = 2;  ///< printed ones, but for the first

/// Rates beyond are a mistake of whoever prints them, and their samples can't be counted.
constexpr double highest_rate = 1e15;

[[noreturn]] void throw_no_report() {
  throw Error(Fault::trials, "The helper in the command sent something that is no report.");
}

std::uint64_t count_in(const Json& message, const char* key) {
  const Json& count = message.at(key);
  if (!count.is_number_integer() || count < 0) throw_no_report();
  return count.get<std::uint64_t>();
}

HelperReport report_of(const Json& message) {
  HelperReport report;
  report.t = message.at("t").get<double>();
  report.batches = count_in(message, "batches");
  report.samples = count_in(message, "samples");
  report.outside_s = message.value("outside_s", 0.0);
  const auto wait = message.find("wait_s");
  if (wait != message.end() && wait->is_number()) report.wait_s = wait->get<double>();
  if (!message.contains("passes")) return report;
  report.passes = count_in(message, "passes");
  report.pass_batches = count_in(message, "pass_batches");
  report.boundary_s = message.at("boundary_s").get<double>();
  report.start_s = message.at("start_s").get<double>();
  return report;
}

}  // namespace

std::optional<double> parse_rate(std::string_view text) {
  text = trimmed(text);
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(rate) || rate <= 0 || rate > highest_rate) return std::nullopt;
  return rate;
}

std::vector<std::string> LineSplitter::add(std::string_view piece) {
  std::vector<std::string> lines;
  while (!piece.empty()) {
    const std::size_t end = std::min(piece.find_first_of("\r\n"), piece.size());
    const std::string_view part = piece.substr(0, end);
    line_.append(part.substr(part.size() - std::min(part.size(), longest)));
    if (line_.size() > longest) line_.erase(0, line_.size() - longest);
    if (end < piece.size()) end_line(lines);
    piece.remove_prefix(std::min(end + 1, piece.size()));
  }
  return lines;
}

std::string LineSplitter::rest() {
  return std::exchange(line_, {});
}

void LineSplitter::end_line(std::vector<std::string>& lines) {
  if (!line_.empty()) lines.push_back(rest());
}

void PrintedRate::add(double samples_per_s, double now_s) {
  if (values_.empty()) first_s_ = now_s;
  last_s_ = now_s;
  values_.push_back(samples_per_s);
}

bool PrintedRate::has_enough() const noexcept {
  return count() > enough_values && last_s_ - first_s_ >= options_.seconds;
}

std::optional<Round> PrintedRate::round() const {
  if (values_.size() < 2) return std::nullopt;
  const double rate = median(std::span(values_).subspan(1));
  Round round;
  round.samples =
      static_cast<std::uint64_t>(std::max(1.0, std::round(rate * (last_s_ - first_s_))));
  round.duration_s = static_cast<double>(round.samples) / rate;
  round.batches = static_cast<int>(values_.size() - 1);
  round.wait_s = round.step_s = -1;
  return round;
}

bool RateSource::greet(const Json& hello) {
  const auto source = hello.find("source");
  const bool is_hook = source != hello.end() && *source == "hook";
  const RateKind kind = is_hook ? RateKind::hook : RateKind::helper;
  if (asked_for_ && kind != *asked_for_) return false;
  if (greeted_ && kind >= *kind_) return false;
  greeted_ = true;
  kind_ = kind;
  helper_ = HelperRate(options_);
  const auto world = hello.find("world");
  const bool said = world != hello.end() && world->is_number_integer() && *world >= 1;
  world_ = said ? world->get<std::uint64_t>() : 1;
  return true;
}

void RateSource::hear(const Json& message) {
  if (!hears_reports()) return;
  try {
    const auto unit = message.find("unit");
    take(report_of(message), unit != message.end() && *unit == "batches");
    note_gpu(message);
  } catch (const Json::exception&) {
    throw_no_report();
  }
}

/// Batches and samples are not to be taken for each other where a helper changes its mind.
void RateSource::take(HelperReport report, bool of_batches) {
  if (of_batches != counts_batches_) helper_ = HelperRate(options_);
  counts_batches_ = of_batches;
  report.samples = (of_batches ? report.batches * batch_ : report.samples) * world_;
  helper_.add(report);
}

void RateSource::note_gpu(const Json& message) {
  const auto uuid = message.find("gpu");
  if (uuid != message.end() && uuid->is_string()) gpu_.uuid = uuid->get<std::string>();
  if (message.contains("device_bytes")) gpu_.memory_bytes = count_in(message, "device_bytes");
}

void RateSource::read(std::string_view output, double now_s) {
  if (!reads_output()) return;
  for (const std::string& line : lines_.add(output)) look_at(line, now_s);
}

void RateSource::end(double now_s) {
  if (reads_output()) look_at(lines_.rest(), now_s);
}

void RateSource::look_at(const std::string& line, double now_s) {
  const auto caught = expression_->caught_in(line);
  if (!caught) return;
  const auto rate = parse_rate(*caught);
  if (rate) printed_.add(*rate, now_s);
  if (!rate) not_a_rate_ = *caught;
}

std::optional<RateKind> RateSource::spoken() const noexcept {
  if (hears_reports() && helper_.count() > 0) return kind_.value_or(RateKind::helper);
  if (reads_output() && printed_.count() > 0) return RateKind::regex;
  return std::nullopt;
}

int RateSource::count() const noexcept {
  return has_reports() ? helper_.count() : printed_.count();
}

bool RateSource::has_enough() const noexcept {
  return has_reports() ? helper_.has_enough() : printed_.has_enough();
}

std::optional<Round> RateSource::round() const {
  return has_reports() ? helper_.round() : printed_.round();
}

}  // namespace feedrate
