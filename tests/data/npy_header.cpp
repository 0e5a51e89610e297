// SPDX-License-Identifier: Apache-2.0
// Tests of data/npy_header.hpp and data/npy_dictionary.hpp against files that NumPy wrote.
#include "feedrate/data/npy_header.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "support.hpp"

namespace feedrate::npy_header_tests {
using namespace feedrate::test;

namespace {

/// A file of version 1 with this dictionary and `data` bytes of elements.
Bytes make_npy(const std::string& dictionary, std::size_t data) {
  Bytes file = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  file.push_back(static_cast<std::uint8_t>(dictionary.size()));
  file.push_back(static_cast<std::uint8_t>(dictionary.size() >> 8));
  file.insert(file.end(), dictionary.begin(), dictionary.end());
  file.resize(file.size() + data);
  return file;
}

std::string refusal(const Bytes& file) {
  return error_of([&] { read_npy_header(file, "some.npy"); });
}

std::string refusal_of_shape(const std::string& shape) {
  return refusal(make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }", 0));
}

}  // namespace

TEST_CASE("Headers of all three versions and all types are read") {
  // Bug: version 2 has four bytes of length, and the dictionary starts two bytes later.
  const std::string name = GENERATE("u8", "i32", "i64", "f32", "f64", "i8", "i16", "u16", "u32",
                                    "u64", "f16", "bool", "version2", "version3");
  const Bytes file = read_bytes(fixture("npy/" + name + ".npy"));
  const NpyHeader header = read_npy_header(file, name);
  CHECK(header.extents == std::vector<std::size_t>{4, 2, 3});
  CHECK((name[0] == 'v' || name_of(header.dtype) == name));
  CHECK(header.data_bytes == 24 * bytes_of(header.dtype));
  CHECK(header.data_offset + header.data_bytes == file.size());
}

TEST_CASE("Unreadable files are an error with name and reason") {
  // Bug: bytes of another type or order are handed out as numbers.
  const auto of = [](const char* name) {
    return refusal(read_bytes(fixture(std::string("npy/") + name + ".npy")));
  };
  CHECK(contains(of("fortran"), "'some.npy' is in Fortran order"));
  CHECK(contains(of("big_endian"), "big-endian"));
  CHECK(contains(of("complex"), "type '<c8'"));
  CHECK(contains(of("structured"), "several fields"));
  CHECK(contains(of("objects"), "Python objects"));
  CHECK(contains(refusal(Bytes(100, 'x')), "is not a .npy file"));
}

TEST_CASE("Shapes that overflow, are negative or have too many axes are refused") {
  // Bug: 2^63 elements wrap around to a few, and reading goes out of bounds.
  CHECK(contains(refusal_of_shape("(9223372036854775808,)"), "more elements than fit"));
  CHECK(contains(refusal_of_shape("(4294967296, 4294967296)"), "more elements than fit"));
  CHECK(contains(refusal_of_shape("(99999999999999999999999,)"), "more elements than fit"));
  CHECK(contains(refusal_of_shape("(-1,)"), "malformed"));
  CHECK(contains(refusal_of_shape("(1, 1, 1, 1, 1, 1, 1, 1)"), "too many dimensions"));
  CHECK(contains(refusal_of_shape("(4,)"), "should have 16 bytes of elements but has 0"));
  CHECK(contains(refusal_of_shape("(4"), "malformed"));
}

TEST_CASE("A key that comes twice is refused") {
  // Bug: the second shape is added to the first.
  CHECK(contains(refusal(make_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), "
                                  "'shape': (1,), }",
                                  4)),
                 "malformed"));
}

TEST_CASE("A header longer than 64 KiB is refused") {
  // Bug: a length of 4 GB is believed.
  Bytes file = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, 1, 0, 1, 0};
  file.resize(70000, ' ');
  CHECK(contains(refusal(file), "header of 65537 bytes"));
}

TEST_CASE("A truncated file, or one with any header bit flipped, does no harm") {
  // Bug: the reader runs past the end of the header (seen by the sanitizer), or takes a cut file.
  const std::string name = GENERATE("f32", "version2");
  const Bytes file = read_bytes(fixture("npy/" + name + ".npy"));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(contains(refusal(cut), "'some.npy'"));
  }
  int refused = 0;
  for (std::size_t bit = 0; bit < 128 * 8; ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    refused += !refusal(flipped).empty();
  }
  CHECK(refused > 500);
}

}  // namespace feedrate::npy_header_tests
