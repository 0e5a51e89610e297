// SPDX-License-Identifier: Apache-2.0
// feedrate._core: the C++ loader for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "datasets.hpp"
#include "loader.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace feedrate::python {
namespace {

using Samples = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<std::size_t> indices_of(const Samples& samples) {
  std::vector<std::size_t> indices;
  indices.reserve(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.data()[i] < 0) throw Error(Fault::usage, "A sampler chose a negative sample.");
    indices.push_back(static_cast<std::size_t>(samples.data()[i]));
  }
  return indices;
}

/// One pass over a loader, of which there is one at a time. Threads may share it.
class Pass {
 public:
  explicit Pass(nb::object loader) : loader_(std::move(loader)), loop_(get().begin()) {}

  nb::dict next() {
    const auto batch = get().next(loop_);
    if (!batch) throw nb::stop_iteration();
    nb::dict arrays;
    for (std::size_t f = 0; f < get().fields().size(); ++f) {
      arrays[get().fields()[f].name.c_str()] = array_of<nb::numpy>(batch, f);
    }
    return arrays;
  }

 private:
  Loader& get() { return nb::cast<Loader&>(loader_); }

  nb::object loader_;
  Loop loop_;
};

/// The fields of the next batch as tensors of PyTorch; None behind the last one.
nb::object next_tensors(Loader& loader) {
  const auto batch = loader.next();
  if (!batch) return nb::none();
  nb::list tensors;
  for (std::size_t f = 0; f < loader.fields().size(); ++f) {
    tensors.append(array_of<nb::pytorch>(batch, f));
  }
  return nb::object(std::move(tensors));
}

void translate(const std::exception_ptr& thrown, void* sample_error) {
  try {
    std::rethrow_exception(thrown);
  } catch (const SampleError& error) {
    const nb::handle type(static_cast<PyObject*>(sample_error));
    nb::object raised = type(error.what());
    raised.attr("sample") = error.sample();
    PyErr_SetObject(type.ptr(), raised.ptr());
  } catch (const OutOfMemory& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const Error& error) {
    PyErr_SetString(error.fault() == Fault::usage ? PyExc_ValueError : PyExc_RuntimeError,
                    error.what());
  }
}

constexpr const char* image_folder_doc = R"(A folder of class folders of JPEG files.

    ImageFolder("train/", size=224)                       # crop at random, mirror, normalise
    ImageFolder("val/", transform="evaluate")             # shorter side to size * 256 / 224, centre
    ImageFolder(paths=paths, labels=labels)               # files that are listed already

Its fields are "image", [3, size, size] (or [size, size, 3] with channels_last) of dtype "float32"
or "uint8", and "label", an int32: the index in `classes`. Floats are (level / 255 - mean) / std.

transform: "train" (random-resized-crop by `scale` and `ratio`, then mirrored with probability
`flip`), "evaluate" (shorter side resized to `resize` pixels, then the centre), or "stretch" (the
whole picture to size x size, then mirrored with probability `flip`).
brightness, contrast, saturation, hue: bounds of the factors that torchvision's ColorJitter draws, such
as (0.6, 1.4); of hue, in turns of the colour wheel, such as (-0.1, 0.1).
upright: turn pictures as their EXIF data say. torchvision does not.
fast_scaling: decode at 1/2, 1/4 or 1/8 where the crop is that much larger than the sample. It is
faster, but levels differ by several.

Raises ValueError for an invalid option, RuntimeError where no image can be read.)";

constexpr const char* loader_doc = R"(Loads batches by threads in C++, in order.

    loader = Loader(ImageFolder("train/"), batch=64, workers=4)
    for batch in loader:                                  # one epoch; the next loop is the next one
        train(batch["image"], batch["label"])             # NumPy arrays: [count, 3, 224, 224], [count]

An array shares the loader's memory and is valid as long as it lives. Bytes and their order depend on
`seed`, the epoch and the dataset alone, never on `workers`. With 0 workers the caller loads.

batch: samples in each batch. workers: threads; "automatic": the number is found while you train.
prefetch: batches kept ready, of all workers together.
shuffle: a new order in each epoch. drop_last: leave out what does not fill a batch.
rank, world: the part of each epoch that this process of several reads.
max_skips: samples that may be left out as unreadable; beyond, and by default, they raise SampleError.
stall_s: seconds without a finished sample after which RuntimeError names the file that hangs; to go
on waiting, call next() again.

Threads may share a loader, and the iterator of one loop: each batch goes to exactly one of them. close()
ends the loops of all. The thread that begins a newer loop ends the older one for the others.

Raises ValueError for an invalid option, MemoryError where the batches don't fit in memory.)";

feedrate::ImageFolder listed(const std::optional<std::filesystem::path>& root,
                             std::vector<std::string> paths, std::vector<std::int32_t> labels,
                             const ImageOptions& options) {
  if (root && !paths.empty()) {
    throw Error(Fault::usage, "ImageFolder takes a folder or paths, not both.");
  }
  if (root) return feedrate::ImageFolder(root->string(), options);
  return feedrate::ImageFolder({{}, std::move(paths), std::move(labels), 0}, options);
}

void bind_datasets(nb::module_& m) {
  nb::class_<Dataset>(m, "Dataset", "What a Loader reads.")
      .def("__len__", &Dataset::size, "Number of samples.");
  const auto make = [](Images* self, const std::optional<std::filesystem::path>& root,
                       std::vector<std::string> paths, std::vector<std::int32_t> labels, int size,
                       std::string transform, std::pair<double, double> scale,
                       std::pair<double, double> ratio, float flip, Factors brightness,
                       Factors contrast, Factors saturation, Factors hue, int resize,
                       std::string dtype, bool channels_last, std::array<float, 3> mean,
                       std::array<float, 3> std, bool upright, bool fast_scaling) {
    const ImageKeywords keywords{size,     transform,  scale,   ratio,       flip,  brightness,
                                 contrast, saturation, hue,     resize,      dtype, channels_last,
                                 mean,     std,        upright, fast_scaling};
    const ImageOptions options = keywords.options();
    const nb::gil_scoped_release without;
    new (self) Images(listed(root, std::move(paths), std::move(labels), options));
  };
  nb::class_<Images, Dataset>(m, "ImageFolder", image_folder_doc)
      .def("__init__", make, "root"_a.none() = nb::none(), nb::kw_only(),
           "paths"_a = std::vector<std::string>{}, "labels"_a = std::vector<std::int32_t>{},
           "size"_a = 224, "transform"_a = "train", "scale"_a = std::pair(0.08, 1.0),
           "ratio"_a = std::pair(3.0 / 4, 4.0 / 3), "flip"_a = 0.5f, "brightness"_a = Factors(1, 1),
           "contrast"_a = Factors(1, 1), "saturation"_a = Factors(1, 1), "hue"_a = Factors(0, 0),
           "resize"_a = 0, "dtype"_a = "float32", "channels_last"_a = false,
           "mean"_a = PixelFormat{}.mean, "std"_a = PixelFormat{}.std, "upright"_a = true,
           "fast_scaling"_a = false)
      .def_prop_ro(
          "classes", [](const Images& self) { return self.get().classes(); },
          "Names of the class folders, by label.")
      .def(
          "path", [](const Images& self, std::size_t i) { return self.get().name(i); }, "sample"_a,
          "The file of a sample.")
      .def(
          "label", [](const Images& self, std::size_t i) { return self.get().label(i); },
          "sample"_a, "The class of a sample.");
  nb::class_<Arrays, Dataset>(m, "NpyFile",
                              R"(A .npy file, mapped into memory; its first axis counts samples.

Its fields are "input", one row of the array, and "label", an int32 of the one-dimensional .npy file
`labels` (of integers), or 0 without one. Raises RuntimeError naming a file that can't be
read.)")
      .def(
          "__init__",
          [](Arrays* self, const std::filesystem::path& path,
             const std::optional<std::filesystem::path>& labels) {
            new (self) Arrays(path.string(), labels ? labels->string() : std::string());
          },
          "path"_a, "labels"_a.none() = nb::none());
}

nb::dict state_of(Loader& loader) {
  const Cursor at = loader.cursor();
  nb::dict state;
  state["epoch"] = at.epoch;
  state["sample"] = at.sample;
  return state;
}

void load_state(Loader& loader, const nb::dict& state) {
  const Cursor at{nb::cast<std::uint64_t>(state["epoch"]), nb::cast<std::size_t>(state["sample"])};
  if (at.sample > loader.samples()) {
    throw Error(Fault::usage, "The state is of sample " + std::to_string(at.sample) +
                                  ", and an epoch of this loader has " +
                                  std::to_string(loader.samples()) +
                                  ": it must have the same dataset and ranks.");
  }
  loader.resume(at);
}

void bind_health(nb::module_& m) {
  nb::class_<Health>(m, "Health", "How well a loader fed its consumer since the last reading.")
      .def_prop_ro("fed", &Health::fed, "Share of the time in which the consumer did not wait.")
      .def_ro("elapsed_s", &Health::elapsed_s)
      .def_ro("waited_s", &Health::waited_s)
      .def_ro("workers", &Health::workers)
      .def_ro("samples", &Health::samples)
      .def_ro("headroom", &Health::headroom,
              "So many times as fast the workers could load, or None.")
      .def_prop_ro(
          "limit", [](const Health& self) { return std::string(name_of(self.limit)); },
          "'consumer', 'workers', 'prefetch' or 'caller': what limits the rate.")
      .def("__str__", &Health::text);
}

std::vector<std::tuple<std::size_t, std::string, std::string>> skips_of(const Loader& loader) {
  std::vector<std::tuple<std::size_t, std::string, std::string>> skips;
  for (const Skip& skip : loader.skips()) skips.emplace_back(skip.sample, skip.name, skip.reason);
  return skips;
}

using WorkerCount = std::variant<int, std::string>;

int workers_of(const WorkerCount& count) {
  if (const int* number = std::get_if<int>(&count)) {
    if (*number == automatic) throw Error(Fault::usage, "'workers' can't be negative.");
    return *number;
  }
  if (std::get<std::string>(count) == "automatic") return automatic;
  throw Error(Fault::usage, "'workers' is '" + std::get<std::string>(count) +
                                "'; it is a number or 'automatic'.");
}

void bind_loader(nb::module_& m) {
  const auto make = [](Loader* self, const Dataset& dataset, int batch, const WorkerCount& workers,
                       int prefetch, bool shuffle, bool drop_last, std::uint64_t seed, int rank,
                       int world, std::uint64_t max_skips, double stall_s) {
    new (self)
        Loader(dataset.source(), {.batch = batch,
                                  .workers = workers_of(workers),
                                  .prefetch = prefetch,
                                  .order = {shuffle, drop_last, {rank, world}, seed, nullptr},
                                  .max_skips = max_skips,
                                  .stall_s = stall_s});
  };
  nb::class_<Pass>(m, "Epoch", "One loop over a Loader.")
      .def("__iter__", [](nb::object self) { return self; })
      .def("__next__", &Pass::next);
  nb::class_<Loader>(m, "Loader", loader_doc)
      .def("__init__", make, "dataset"_a, nb::kw_only(), "batch"_a = 32,
           "workers"_a = WorkerCount(0), "prefetch"_a = 2, "shuffle"_a = true,
           "drop_last"_a = false, "seed"_a = 0, "rank"_a = 0, "world"_a = 1, "max_skips"_a = 0,
           "stall_s"_a = 60.0)
      .def("__len__", &Loader::batches, "Batches in an epoch.")
      .def(
          "__iter__", [](nb::object self) { return Pass(std::move(self)); },
          "Begins the next epoch. What is left of the last one is dropped.")
      .def_prop_ro("epoch", &Loader::epoch, "The epoch that the next loop will be, from 0.")
      .def("set_epoch", &Loader::set_epoch, "epoch"_a, "Makes the next loop that epoch.")
      .def("state_dict", &state_of, "Where training stands: epoch and sample, from 0.")
      .def("load_state_dict", &load_state, "state"_a,
           "Makes the next loop go on there, with any batch size. Raises ValueError for an epoch "
           "that "
           "is shorter.")
      .def_prop_rw(
          "workers", &Loader::workers,
          [](Loader& self, const WorkerCount& workers) { self.resize(workers_of(workers)); },
          "Threads that load now; may be set at any time, also to 'automatic'.")
      .def("health", &Loader::health, "How well the loop was fed since the last call.")
      .def("skips", &skips_of, "(sample, path, reason) of each sample that was left out.")
      .def_prop_ro("memory_bytes", &Loader::memory_bytes, "Bytes that its batches take.")
      .def("close", &Loader::close, "Ends the threads. Arrays stay valid.")
      .def(
          "_begin",
          [](Loader& self, const Samples& samples, std::uint64_t seed) {
            self.begin(indices_of(samples), seed);
          },
          "samples"_a, "seed"_a)
      .def("_next", &next_tensors);
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The C++ loader of feedrate.";
  nb::object sample_error = nb::steal(
      PyErr_NewExceptionWithDoc("feedrate.SampleError",
                                "A sample could not be loaded: `sample` is its index. The batch is "
                                "lost; next() goes on with the next one.",
                                PyExc_RuntimeError, nullptr));
  m.attr("SampleError") = sample_error;
  nb::register_exception_translator(translate, sample_error.ptr());
  bind_datasets(m);
  bind_health(m);
  bind_loader(m);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&Loader::close_all));
}

}  // namespace feedrate::python
