// SPDX-License-Identifier: Apache-2.0
#include "hook/decoding.hpp"

#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "feedrate/data/delayed_dataset.hpp"
#include "feedrate/data/file.hpp"
#include "feedrate/data/image/jpeg.hpp"
#include "feedrate/report/text/format.hpp"

namespace feedrate {
namespace {

using Decoder = std::pair<std::string, double>;  ///< name, seconds for all files

/// A whole picture, 4 bytes a pixel.
void decode_whole(JpegDecoder& jpeg, std::span<const std::uint8_t> file, const std::string& name,
                  std::vector<std::uint8_t>& pixels) {
  const JpegHeader header = jpeg.open(file, name);
  const JpegWindow window = jpeg.start({0, 0, header.width, header.height});
  const auto row_bytes = static_cast<std::size_t>(window.width) * 4;
  pixels.resize(row_bytes * static_cast<std::size_t>(header.height));
  for (int y = 0; y < header.height; ++y) {
    jpeg.read_row(pixels.data() + static_cast<std::size_t>(y) * row_bytes);
  }
  jpeg.close();
}

/// CPU seconds to decode all files, without those to read them. Throws where one can't be decoded.
double own_seconds(const std::vector<std::string>& names) {
  JpegDecoder jpeg;
  std::vector<std::uint8_t> buffer, pixels;
  decode_whole(jpeg, read_file(names.front(), buffer), names.front(), pixels);
  double seconds = 0;
  for (const std::string& name : names) {
    const auto file = read_file(name, buffer);
    const double began_s = thread_cpu_s();
    decode_whole(jpeg, file, name, pixels);
    seconds += thread_cpu_s() - began_s;
  }
  return seconds;
}

std::vector<Decoder> decoders_of(const Json& told, std::size_t decoded) {
  std::vector<Decoder> decoders;
  for (const auto& [name, seconds] : told.at("others").items()) {
    decoders.emplace_back(name, seconds.get<double>());
  }
  const auto files = told.at("files").get<std::vector<std::string>>();
  if (files.empty() || files.size() != decoded) return decoders;
  try {
    decoders.emplace_back("feedrate's decoder", own_seconds(files));
  } catch (const std::exception&) {  // the hook's process sees other files, or PIL decodes more
  }
  return decoders;
}

}  // namespace

std::string decoding_text(const Json& told) {
  const auto samples = told.at("samples").get<double>();
  const auto sample_s = told.at("sample_s").get<double>();
  const auto pil_s = told.at("pil_s").get<double>();
  const auto count = told.at("decoded").get<std::size_t>();
  const auto each = [&](double seconds) { return format_duration(seconds / samples); };
  std::string text = "PIL decodes for " + format_percent(pil_s / sample_s) +
                     " of the CPU time of a sample: " + each(pil_s) + " of " + each(sample_s) +
                     ", measured on " + std::to_string(count) + " of the script's JPEG files.";
  for (const auto& [name, seconds] : decoders_of(told, count)) {
    text += " With " + name + " they take " + each(seconds) + ", and a sample costs " +
            format_percent((sample_s - pil_s + seconds) / sample_s) + " of what it does.";
  }
  return text;
}

}  // namespace feedrate
