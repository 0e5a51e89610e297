# SPDX-License-Identifier: Apache-2.0
# The programs of tools/gpu-suite, built in advance for a machine that can't build them.
#
#   prebuilt/tuner/autotune, prebuilt/tests/gpu/, prebuilt/bench/   as in a build folder, stripped
#   prebuilt/lib/   the libraries that such a machine may lack       prebuilt/commit   of the sources
# shellcheck shell=bash
# shellcheck disable=SC2016  # $ORIGIN is the loader's

# An old-style rpath also applies to the dependencies of these libraries.
prebuilt_flags='-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib,-rpath,$ORIGIN/../../lib'

# collect_prebuilt FOLDER
collect_prebuilt() {
  local from=$deps/prebuilt program library
  FEEDRATE_BUILD=$from LDFLAGS="$prebuilt_flags${LDFLAGS:+ $LDFLAGS}" "$top/tools/lib/build-gpu" ||
    die "The prebuilt programs could not be built; see above."
  rm -rf "$1"
  mkdir -p "$1/lib"
  for program in tuner/autotune tests/gpu/test_gpu "$from"/bench/bench_cuda_*; do
    program=${program#"$from/"}
    [ ! -d "$from/$program" ] || continue # of objects
    mkdir -p "$1/${program%/*}"
    strip -o "$1/$program" "$from/$program"
    libraries_of "$from/$program" | while read -r library; do strip -o "$1/lib/${library##*/}" "$library"; done
  done
  "$top/tools/lib/commit" >"$1/commit"
  tar -czf "$1.tar.gz" -C "${1%/*}" "${1##*/}"
  rm -rf "$1"
}

# Libraries that the other machine may lack. autotune opens OpenBLAS by its name; tests and benches are linked
# with it, so it is found here.
libraries_of() { ldd "$1" | sed -nE 's#.*=> (/.*/lib(stdc\+\+|openblas|gfortran|quadmath|jpeg|blas|cblas)[^ /]*) .*#\1#p'; }

# The folders of PyTorch's wheels, for the Python that has it.
libraries_of_torch() {
  [ -n "${torch_python:-}" ] || return 0
  "$torch_python" - <<'PYTHON' 2>/dev/null || true
import glob, importlib.util, os
found = importlib.util.find_spec("nvidia")
for folder in (found.submodule_search_locations or []) if found else []:
    print(*glob.glob(os.path.join(folder, "cu[0-9]*/lib")), os.path.join(folder, "cublas/lib"), sep="\n")
PYTHON
}

# The folders of this machine with cuBLAS, separated by colons: of toolkits (also without a compiler)
# and of PyTorch's wheels.
cuda_libraries() {
  local name folder
  {
    toolkit_places | while read -r name folder; do printf '%s\n' "$folder/lib64" "$folder/lib"; done
    libraries_of_torch
  } | while read -r folder; do
    if any_exists "$folder/libcublasLt.so.*"; then echo "$folder"; fi
  done | paste -sd :
}
