# SPDX-License-Identifier: Apache-2.0
# The packages that the project needs: how to detect them, and their names.
# shellcheck shell=bash

needs_autotune=(compiler meson ninja pkg-config json cli11 jpeg blas)
needs_gpu=("${needs_autotune[@]}" catch2)
needs_test=("${needs_gpu[@]}" benchmark jsonschema)
# The readers of what a gate writes, of YAML and of the headers' comments, and a library that an
# example feeds. What needs one that is missing is skipped.
wanted_by_test=(doxygen eigen junitparser prometheus-client markdown-it yaml scipy compare-py)

# at_least WANTED FOUND: compares versions.
at_least() { [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# Whether Meson's compiler supports C++20: g++ 12 or clang 16.
compiler_is_here() {
  local cxx major
  for cxx in ${CXX:-c++ g++ clang++}; do
    major=$(echo '__clang_major__ +0 __GNUC__' | "$cxx" -E -P -x c++ - 2>/dev/null) || continue
    case $major in
      __clang_major__*) [ "${major##* }" -ge 12 ] && return ;;
      *) [ "${major%% *}" -ge 16 ] && return ;;
    esac
  done
  return 1
}

meson_is_here() {
  local version
  version=$(meson --version 2>/dev/null) && at_least "${1:-1.0.1}" "$version"
}

# The Python that runs Meson also runs the tests; it may not be the first one in PATH. Without Meson
# it is the system's, whose package Meson will come from.
python_of_meson() {
  local meson first
  meson=$(command -v meson) || { echo /usr/bin/python3; return; }
  first=$(head -n 1 "$meson" | tr -d '\0')
  case $first in
    '#!'*/env\ *) echo python3 ;;
    '#!'*python*) echo "${first#\#!}" | awk '{ print $1 }' ;;
    *) echo python3 ;;
  esac
}

# The reference BLAS of many systems has a twentieth of OpenBLAS's speed. Without apt, any BLAS that
# Meson finds is accepted.
blas_is_here() {
  pkg-config --exists openblas ||
    { ! has_apt && { pkg-config --exists cblas || pkg-config --exists blas; }; }
}

python_has() { "$(python_of_meson)" -c "import $1"; }

# is_here PART
is_here() {
  case $1 in
    compiler) compiler_is_here ;;
    meson) meson_is_here ;;
    ninja) command -v ninja ;;
    pkg-config) command -v pkg-config ;;
    json) pkg-config --atleast-version=3.10 nlohmann_json ;;
    cli11) pkg-config --exists CLI11 ;;
    jpeg) pkg-config --exists libjpeg ;;
    blas) blas_is_here ;;
    catch2) pkg-config --atleast-version=3.0 catch2-with-main ;;
    benchmark) pkg-config --exists benchmark ;;
    eigen) pkg-config --exists eigen3 ;;
    jsonschema) python_has jsonschema ;;
    junitparser) python_has junitparser ;;
    prometheus-client) python_has prometheus_client ;;
    markdown-it) python_has markdown_it ;;
    yaml) python_has yaml ;;
    scipy) python_has scipy.stats ;;
    compare-py) [ -e /usr/share/benchmark/compare.py ] || [ -e "$deps/root/usr/share/benchmark/compare.py" ] ;;
    clang-format | ccache | doxygen) command -v "$1" ;;
    venv) python_has ensurepip ;;
    python-dev) /usr/bin/python3-config --includes ;;
    gfortran) command -v gfortran ;;
  esac >/dev/null 2>&1
}

# The names of missing parts, one per line.
missing_of() {
  local part
  for part; do is_here "$part" || echo "$part"; done
}

# The package of a part, on Debian and Ubuntu.
package_of() {
  case $1 in
    compiler) echo g++ ;;
    ninja) echo ninja-build ;;
    json) echo nlohmann-json3-dev ;;
    cli11) echo libcli11-dev ;;
    jpeg) echo libjpeg-dev ;;
    blas) echo libopenblas-dev ;;
    benchmark) echo libbenchmark-dev ;;
    eigen) echo libeigen3-dev ;;
    jsonschema | junitparser | prometheus-client | markdown-it | yaml | scipy) echo "python3-$1" ;;
    compare-py) echo libbenchmark-tools ;;
    venv) echo python3-venv ;;
    python-dev) echo python3-dev ;;
    *) echo "$1" ;;
  esac
}

# The description of a part for other systems.
described() {
  case $1 in
    compiler) echo "a C++20 compiler (g++ 12 or clang 16, or newer)" ;;
    meson) echo "Meson 1.0.1 or newer" ;;
    ninja) echo "Ninja" ;;
    json) echo "nlohmann/json 3.10 or newer with its pkg-config file" ;;
    cli11) echo "CLI11 with its pkg-config file" ;;
    jpeg) echo "libjpeg-turbo with its headers" ;;
    blas) echo "OpenBLAS with its headers" ;;
    catch2) echo "Catch2 3.0 or newer" ;;
    benchmark) echo "Google Benchmark" ;;
    eigen) echo "Eigen 3" ;;
    compare-py) echo "compare.py of Google Benchmark" ;;
    python-dev) echo "the headers of the system's python3" ;;
    gfortran) echo "gfortran, whose library OpenBLAS calls" ;;
    jsonschema | junitparser | prometheus-client | markdown-it | yaml | scipy) echo "$1 for python3" ;;
    *) echo "$1" ;;
  esac
}

# All of them in one sentence.
described_all() {
  local part sentence=
  for part; do sentence+="${sentence:+, }$(described "$part")"; done
  echo "$sentence"
}
