// SPDX-License-Identifier: Apache-2.0
#include "workload/user_data.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "feedrate/data/folder_listing.hpp"
#include "feedrate/data/npy.hpp"
#include "workload/assemble.hpp"
#include "workload/images.hpp"

namespace feedrate {
namespace {

/// Classes that the model's last layer may have: of 128 inputs, that is half a GiB of weights.
constexpr std::int32_t most_classes = 1'000'000;

std::size_t class_count(const NpyFile& file, const std::string& labels) {
  std::int32_t most = 1;
  for (std::size_t i = 0; i < file.size(); ++i) most = std::max(most, file.label(i));
  if (most < most_classes) return static_cast<std::size_t>(most) + 1;
  throw Error(Fault::data, "'" + labels + "' has the label " + std::to_string(most) +
                               ", and a model of so many classes is not made: number the classes "
                               "from 0 on, at most " +
                               std::to_string(most_classes) + " of them.");
}

PreparedWorkload on_npy(const WorkloadRequest& request) {
  const auto file = request.labels.empty()
                        ? std::make_shared<const NpyFile>(request.data)
                        : std::make_shared<const NpyFile>(request.data, request.labels);
  const Field input = file->layout()[0];
  if (input.dtype != DType::f32 && input.dtype != DType::u8) {
    throw Error(Fault::data, "'" + request.data + "' holds " + std::string(name_of(input.dtype)) +
                                 ", which a step doesn't read: save it as float32 or uint8.");
  }
  const std::size_t classes = class_count(*file, request.labels);
  const ModelSpec model{
      "perceptron", input.shape, {Flatten{}, Linear{128}, Relu{}, Linear{classes}}};
  auto prepared = assemble("npy", make_source(file), model, sgd(0.01f), "input", request.seed);
  prepared.info.dataset = std::to_string(file->size()) + " rows of " +
                          std::to_string(input.shape.elements()) + " " +
                          std::string(name_of(input.dtype)) + ", memory-mapped";
  prepared.info.path = request.data;
  return prepared;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw Error(Fault::data, "There is no folder or file '" + path + "': check --data.");
  }
  return S_ISDIR(status.st_mode);
}

/// Whether one of the first files is an image; listing them all takes long where there are
/// millions.
bool may_hold_images(const std::string& folder) {
  constexpr int most = 10'000;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(
      folder, std::filesystem::directory_options::skip_permission_denied, error);
  for (int seen = 0; !error && at != end(at); at.increment(error)) {
    if (++seen > most || detail::has_jpeg_name(at->path().filename().string())) return true;
  }
  return static_cast<bool>(error);
}

}  // namespace

PreparedWorkload on_data(const WorkloadRequest& request) {
  auto prepared =
      is_folder(request.data) ? on_images("folder", request.data, request) : on_npy(request);
  prepared.info.kind = "data";
  prepared.batches = {16, 32, 64};
  return prepared;
}

void check_data(const std::string& data, const std::string& labels) {
  const bool folder = is_folder(data);
  if (!folder && !data.ends_with(".npy")) {
    throw Error(Fault::data,
                "'" + data + "' is neither a folder nor a .npy file: give --data one of those.");
  }
  if (folder && !labels.empty()) {
    throw Error(Fault::usage,
                "--labels goes with a .npy file; the labels of images are their class folders.");
  }
  if (folder && !may_hold_images(data)) list_image_folder(data);  // which says what is missing
}

}  // namespace feedrate
