// SPDX-License-Identifier: Apache-2.0
#include "trials/last_error.hpp"

#include <catch2/catch_test_macros.hpp>

namespace feedrate::last_error_tests {
namespace {

const std::string traceback =
    "Traceback (most recent call last):\n"
    "  File \"/home/me/train.py\", line 31, in <module>\n"
    "    main()\n"
    "  File \"/home/me/step.py\", line 12, in main\n"
    "    loss.backward()\n"
    "  File \"/usr/lib/python3.12/site-packages/torch/_tensor.py\", line 631, in backward\n"
    "    torch.autograd.backward(\n";

TEST_CASE("The last error has the innermost place in the user's own files", "[last_error]") {
  // Bug: "it said last: ValueError: loss is nan", and nobody knows where.
  CHECK(last_error(traceback + "ValueError: loss is nan") ==
        "ValueError: loss is nan (step.py:12)");
  CHECK(last_error("ValueError: loss is nan") == "ValueError: loss is nan");
  CHECK(last_error("  File \"<frozen runpy>\", line 198, in run\nKeyError") == "KeyError");
}

TEST_CASE("What is printed behind the error is not the error", "[last_error]") {
  // Bug: "it said last: ======", as torchrun ends, or how to compile PyTorch, as each error of CUDA
  // does.
  CHECK(
      last_error(traceback +
                 "torch.AcceleratorError: CUDA error: an illegal memory access was encountered\n"
                 "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n") ==
      "torch.AcceleratorError: CUDA error: an illegal memory access was encountered (step.py:12)");
  CHECK(last_error("[rank1]:   File \"/home/me/step.py\", line 12, in main\n"
                   "[rank1]: ValueError: loss is nan\n"
                   "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n======") ==
        "ValueError: loss is nan (step.py:12)");
  // Bug: "Connection closed by peer", of a rank that fails since another has.
  CHECK(last_error("[rank1]:   File \"/home/me/step.py\", line 12, in main\n"
                   "[rank1]: ValueError: loss is nan\n"
                   "[rank0]:   File \"/home/me/train.py\", line 31, in main\n"
                   "[rank0]: RuntimeError: Connection closed by peer\n") ==
        "ValueError: loss is nan (step.py:12)");
  CHECK(last_error("some words\n  an Error: within\nlast") == "last");
  CHECK(last_error("ValueError: \x1b[31mred") == "ValueError:  [31mred");
  CHECK(last_error("").empty());
}

TEST_CASE("A lack of memory is known by its words", "[last_error]") {
  // Bug: two batches that do not fit have the same last words, and the run ends as if each config
  // failed.
  CHECK(
      tells_of_memory(traceback + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate"));
  CHECK(tells_of_memory("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"));
  CHECK_FALSE(tells_of_memory(traceback + "ValueError: loss is nan"));
}

}  // namespace
}  // namespace feedrate::last_error_tests
