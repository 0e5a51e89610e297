# SPDX-License-Identifier: Apache-2.0
# Finds a CUDA toolkit, or gets NVIDIA's wheels into a folder of this clone.
#
#   .deps/cuda/       the wheels, if there is a GPU and no toolkit
# shellcheck shell=bash

# The caller's Python; the one unpacked for the build has other packages.
caller_python=$(command -v python3 || command -v python || true)
usual_toolkits=(/usr/local/cuda '/usr/local/cuda-*' /opt/cuda)
nvidia_device=/dev/nvidia0
uses_cuda_of=
uses_cuda_libraries=
cuda_is_pending=

# Of tools/lib/cuda.txt.
oldest_driver_of_wheels=580
oldest_gpu_of_wheels=7.5

has_gpu() { nvidia-smi -L 2>/dev/null | grep -q '^GPU' || [ -e "$nvidia_device" ]; }

# ask_driver FIELD: one line per GPU; nothing if nvidia-smi does not know the field.
ask_driver() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null | grep -E '^[0-9.]+$' || true; }

# "13.0"; nothing if it does not run.
release_of() { "$1" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p'; }

any_exists() { compgen -G "$1" >/dev/null; }

# missing_of_toolkit FOLDER: the first file that a build needs and that is missing.
missing_of_toolkit() {
  local file
  [ -x "$1/bin/nvcc" ] || { echo bin/nvcc && return; }
  at_least 12 "$(release_of "$1/bin/nvcc")" || { echo "an nvcc of CUDA 12 or newer" && return; }
  for file in cuda_runtime.h cublasLt.h; do
    [ -f "$1/include/$file" ] || { echo "include/$file" && return; }
  done
  [ -f "$1/include/nv/target" ] || [ -f "$1/include/cccl/nv/target" ] || { echo include/nv/target && return; }
  for file in libcudart.so libcublasLt.so; do
    any_exists "$1/lib64/$file*" || any_exists "$1/lib/$file*" || any_exists "$1/lib/*-linux-gnu/$file*" ||
      { echo "$file" && return; }
  done
}

# The wheels of CUDA 13 and later share a folder in the active Python.
toolkits_of_python() {
  [ -n "$caller_python" ] || return 0
  "$caller_python" - <<'EOF' 2>/dev/null || true
import glob, importlib.util, os
found = importlib.util.find_spec("nvidia")
for folder in (found.submodule_search_locations or []) if found else []:
    print(*sorted(glob.glob(os.path.join(folder, "cu[0-9][0-9]")), reverse=True), sep="\n")
EOF
}

# The places to search, best first: the name of the variable, and the folder.
toolkit_places() {
  local name place
  for name in CUDA_HOME CUDA_PATH CUDA_ROOT; do
    [ -z "${!name:-}" ] || echo "$name ${!name}"
  done
  { type -aP nvcc || true; } | while read -r place; do
    place=$(readlink -f "$place")
    echo "PATH ${place%/bin/*}"
  done
  for place in "${usual_toolkits[@]}" "$deps/cuda/nvidia/cu13"; do
    [ "$place" != "$deps/cuda/nvidia/cu13" ] || toolkits_of_python
    { compgen -G "$place" || true; } | sort -rV
  done | sed 's/^/- /'
}

# What of the system, beside variables and PATH, decides which toolkit a build takes: on one line.
cuda_of_system() {
  local place
  for place in "${usual_toolkits[@]}"; do
    { compgen -G "$place/bin/nvcc" || true; } | while read -r place; do printf '%s ' "$(readlink -f "$place")"; done
  done
  [ ! -e "$nvidia_device" ] || printf GPU
}

# find_toolkit: the folder of the first one that is whole. Of those that the caller names, and that
# are not, it says what is missing.
find_toolkit() {
  local named folder missing
  while read -r named folder; do
    missing=$(missing_of_toolkit "$folder")
    [ -n "$missing" ] || { echo "$folder" && return; }
    [ "$named" = - ] || say "The CUDA toolkit in $folder (see $named) lacks $missing; trying the next place."
  done < <(toolkit_places)
  return 1
}

# use_toolkit FOLDER: sets the environment of Meson and its children.
use_toolkit() {
  say "Building with the CUDA toolkit $(release_of "$1/bin/nvcc") in $1."
  if [ "$(readlink -f "$(command -v nvcc)")" != "$(readlink -f "$1/bin/nvcc")" ]; then
    uses_cuda_of=$1/bin
    PATH=$uses_cuda_of:$PATH
  fi
  # nvcc searches its libraries in lib64, which wheels do not have.
  if [ ! -e "$1/lib64" ] && [ -f "$1/lib/libcudart_static.a" ]; then
    uses_cuda_libraries=$1/lib
    export LIBRARY_PATH=$uses_cuda_libraries${LIBRARY_PATH:+:$LIBRARY_PATH}
  fi
}

# Why the wheels' toolkit does not support this GPU; nothing if it does.
unfit_for_wheels() {
  local driver newest
  driver=$(ask_driver driver_version | head -n 1)
  newest=$(ask_driver compute_cap | sort -V | tail -n 1)
  if [ -n "$driver" ] && ! at_least "$oldest_driver_of_wheels" "$driver"; then
    echo "its driver, $driver, is older than $oldest_driver_of_wheels"
  elif [ -n "$newest" ] && ! at_least "$oldest_gpu_of_wheels" "$newest"; then
    echo "its compute capability, $newest, is below $oldest_gpu_of_wheels"
  fi
}

# get_toolkit: by pip, on a machine with a GPU; else it says why not.
get_toolkit() {
  local unfit offline pip
  if ! has_gpu; then
    say "No CUDA toolkit and no GPU found: building for the CPU alone."
    return 1
  fi
  cuda_is_pending=yes
  unfit=$(unfit_for_wheels)
  if [ -n "$unfit" ]; then
    say "No CUDA toolkit found, and pip has only CUDA 13, which does not support this GPU ($unfit): building for" \
      "the CPU alone. Install the CUDA toolkit 12.9 (its runfile needs no root: 'sh cuda_12.9*.run --silent" \
      "--toolkit --toolkitpath=DIR'), then run this with CUDA_HOME=DIR."
    return 1
  fi
  offline=$(offline_folder) || exit 1
  { [ -z "$offline" ] && download_toolkit; } || {
    pip="python3 -m pip install --no-deps --target '$deps/cuda' --require-hashes -r '$top/tools/lib/cuda.txt'"
    say "There is a GPU but no CUDA toolkit, and none could be downloaded: building for the CPU alone. With network," \
      "run this again. Without, run \"$pip\" on a machine with network, and copy that folder here."
    return 1
  }
}

# The folder gets its final name when it is complete. pip's temporary files are as large.
download_toolkit() {
  say "There is a GPU but no CUDA toolkit. Getting one with pip (compiler, headers, runtime and cuBLAS:" \
    "525 MB, unpacked 840 MB) into $deps/cuda. FEEDRATE_CUDA=no builds for the CPU alone."
  rm -rf "$deps/cuda" "$deps/cuda.part"
  mkdir -p "$deps/cuda.part/temporary"
  make_venv && TMPDIR=$deps/cuda.part/temporary loud "$deps/venv/bin/pip" install -q --retries 1 --no-deps \
    --no-cache-dir --only-binary :all: --target "$deps/cuda.part/wheels" --require-hashes -r "$top/tools/lib/cuda.txt" &&
    mv "$deps/cuda.part/wheels" "$deps/cuda" && rm -rf "$deps/cuda.part"
}

# Finds or gets a toolkit and the Meson version that CUDA needs, and says what it does.
look_for_cuda() {
  local toolkit
  if [ "${FEEDRATE_CUDA:-}" = no ]; then
    say "FEEDRATE_CUDA=no: building for the CPU alone."
    return
  fi
  toolkit=$(find_toolkit) || { get_toolkit && toolkit=$(find_toolkit); } || return 0
  if ! meson_is_here 1.4 && ! get_newer_meson; then
    say "CUDA needs Meson 1.4, which could not be downloaded: building for the CPU alone."
    cuda_is_pending=yes
    return
  fi
  use_toolkit "$toolkit"
  cuda_is_pending=
}
