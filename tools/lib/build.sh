# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a build: get the missing parts, configure, compile. Sourced by the tools.
# shellcheck shell=bash

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deps=$top/.deps
build=${FEEDRATE_BUILD:-$top/build}
host_compiler=
uses_unpacked=
uses_newer_meson=

# shellcheck source=tools/lib/say.sh
. "$top/tools/lib/say.sh"
# shellcheck source=tools/lib/needs.sh
. "$top/tools/lib/needs.sh"
# shellcheck source=tools/lib/apt.sh
. "$top/tools/lib/apt.sh"
# shellcheck source=tools/lib/unpack.sh
. "$top/tools/lib/unpack.sh"
# shellcheck source=tools/lib/cuda.sh
. "$top/tools/lib/cuda.sh"

# The packages collected for a machine without network, if there are any.
offline_folder() {
  local folder=${FEEDRATE_DEPS:-$deps/packages}
  [ -n "${FEEDRATE_DEPS:-}" ] || [ -f "$folder/made-for" ] || return 0
  [ -d "$folder" ] || die "The folder FEEDRATE_DEPS=$folder does not exist."
  (cd "$folder" && pwd)
}

may_install() { [ "$(id -u)" = 0 ] && [ -z "${FEEDRATE_UNPACK:-}" ]; }

# shellcheck source=/dev/null
use_unpacked() { [ ! -f "$deps/env.sh" ] || { . "$deps/env.sh" && uses_unpacked=yes; }; }

# get_parts PART...: afterwards all of them are here, or the run has ended with a sentence.
get_parts() {
  local missing folder
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if is_here compiler; then host_compiler=yes; fi
  mapfile -t missing < <(use_unpacked && missing_of "$@")
  if [ ${#missing[@]} -gt 0 ]; then
    folder=$(offline_folder) || exit 1
    get_missing "$folder" "${missing[@]}"
  fi
  use_unpacked
  mapfile -t missing < <(missing_of "$@")
  [ ${#missing[@]} -eq 0 ] || die "Still not found: $(described_all "${missing[@]}"). Is another pkg-config, python3 or meson first in PATH?"
}

# get_missing OFFLINE_FOLDER PART...
get_missing() {
  local folder=$1 packages=() part
  shift
  for part; do packages+=("$(package_of "$part")"); done
  if [ -n "$folder" ]; then
    unpack_offline "$folder"
  elif ! has_apt; then
    die "Missing here: $(described_all "$@"). Install them with this system's package manager (apt, which this does by itself, is absent)."
  elif may_install; then
    install_as_root "${packages[@]}"
  else
    unpack_as_user "${packages[@]}"
  fi
}

# The packages of the system's own Python stay visible: the tests use them.
make_venv() {
  [ ! -x "$deps/venv/bin/pip" ] || return 0
  rm -rf "$deps/venv"
  (get_parts venv) && loud "$(python_of_meson)" -m venv --system-site-packages "$deps/venv"
}

# In a folder of this clone.
get_newer_meson() {
  local folder
  folder=$(offline_folder) || exit 1
  if [ -n "$folder" ]; then
    meson_of_wheel "$folder"
    return
  fi
  if [ ! -x "$deps/venv/bin/meson" ]; then
    say "Getting Meson 1.4 or newer with pip, into $deps/venv, because CUDA wants it."
    make_venv && loud "$deps/venv/bin/pip" install -q --retries 1 'meson>=1.4' || return 1
  fi
  PATH=$deps/venv/bin:$PATH
  uses_newer_meson=$deps/venv/bin
}

# collect_meson FOLDER: the same as a wheel, for machines without network.
collect_meson() {
  [ -z "$(find "$1" -maxdepth 1 -name 'meson-*.whl')" ] || return 0
  say "Getting Meson 1.4 or newer with pip, because CUDA wants it."
  loud python3 -m pip download -q --no-deps --retries 1 -d "$1" 'meson>=1.4'
}

# meson_of_wheel FOLDER: the Meson that tools/offline-deps put there. It is Python alone: unpacked,
# it runs, without pip.
meson_of_wheel() {
  local wheel
  wheel=$(find "$1" -maxdepth 1 -name 'meson-*.whl' | sort -V | tail -n 1)
  [ -n "$wheel" ] || return 1
  if [ ! -x "$deps/meson/bin/meson" ]; then
    say "Unpacking Meson from ${wheel##*/} into $deps/meson, because CUDA wants it."
    rm -rf "$deps/meson"
    mkdir -p "$deps/meson/bin"
    "$(python_of_meson)" -m zipfile -e "$wheel" "$deps/meson" || return 1
    printf '%s\n' "#!$(command -v "$(python_of_meson)")" 'import sys' \
      "sys.path.insert(0, '$deps/meson')" 'from mesonbuild.mesonmain import main' 'sys.exit(main())' \
      >"$deps/meson/bin/meson"
    chmod +x "$deps/meson/bin/meson"
  fi
  PATH=$deps/meson/bin:$PATH
  uses_newer_meson=$deps/meson/bin
}

# What later runs need to use the build as this one made it.
remember_environment() {
  {
    [ -z "$uses_unpacked" ] || echo ". '$deps/env.sh'"
    [ -z "$uses_newer_meson" ] || echo "PATH='$uses_newer_meson':\$PATH"
    [ -z "$uses_cuda_of" ] || echo "PATH='$uses_cuda_of':\$PATH"
    [ -z "$uses_cuda_libraries" ] ||
      echo "export LIBRARY_PATH='$uses_cuda_libraries'\${LIBRARY_PATH:+:\$LIBRARY_PATH}"
  } >"$build/.environment"
}

# shellcheck source=/dev/null
recall_environment() { [ ! -f "$build/.environment" ] || . "$build/.environment"; }

# Everything a build folder was made with; another value means that it is made afresh.
signature() {
  echo "$(meson --version) ${CC:-} ${CXX:-} $(command -v nvcc) ${PKG_CONFIG_PATH:-} ${LDFLAGS:-} ${CXXFLAGS:-} $top"
}

# configure OPTION...: makes the build folder, or gives it options that it lacks.
configure() {
  local wanted
  wanted=$(signature)
  if [ ! -f "$build/build.ninja" ] || [ "$(cat "$build/.made-with" 2>/dev/null)" != "$wanted" ]; then
    [ ! -e "$build" ] || [ -d "$build/meson-private" ] ||
      die "$build exists and is no build folder of Meson's; move it away, or name another one in FEEDRATE_BUILD."
    rm -rf "$build"
    say "Configuring $build (release)."
    loud meson setup "$build" "$top" "$@" || die "Meson could not configure the build; see above."
    echo "$wanted" >"$build/.made-with"
    printf '%s\n' "$@" >"$build/.options"
  fi
  set_options "$@"
}

# Only what was not set before: switching between the tools must not configure anew.
set_options() {
  local option news=()
  for option; do grep -qxFe "$option" "$build/.options" || news+=("$option"); done
  [ ${#news[@]} -gt 0 ] || return 0
  loud meson configure "$build" "${news[@]}" || die "Meson could not configure the build; see above."
  printf '%s\n' "${news[@]}" >>"$build/.options"
}

# compile TARGET...: silent where there is nothing to do but to look for the version, which Meson's
# vcs_tag does each time: three steps at most.
compile() {
  local steps
  steps=$(ninja -C "$build" -n "$@" 2>/dev/null | grep -c '^\[') || true
  if [ "${steps:-0}" -le 3 ]; then
    loud ninja -C "$build" --quiet "$@"
  else
    say "Building${*:+ }$*."
    loud ninja -C "$build" "$@"
  fi
}

# One line about the tools themselves and the system: a change of it makes every part be looked for.
stamp() {
  echo "$(cat "$top"/tools/lib/*.sh | cksum) $top ${CXX:-} $PATH" \
    "${CUDA_HOME:-} ${CUDA_PATH:-} ${CUDA_ROOT:-} ${FEEDRATE_CUDA:-} $(cuda_of_system)"
}

# Looking for every part takes half a second or more; the stamp says that they were here last time.
is_prepared() { [ -f "$build/build.ninja" ] && [ "$(cat "$build/.ready-$1" 2>/dev/null)" = "$(stamp)" ]; }

# Whether the last run of this tool left all it needs, and the build is brought up to date by that.
# prepared WHICH "PARTS" TARGET...
prepared() {
  local which=$1 parts_wanted=$2
  shift 2
  is_prepared "$which" || return 1
  (recall_environment && compile "$@") && return
  rm -f "$build/.ready-$which"
  # shellcheck disable=SC2086
  [ -n "$(recall_environment && missing_of $parts_wanted)" ] || die "The build failed; see above."
  return 1
}

# prepare WHICH "PARTS" "OPTIONS" TARGET...: parts, configuration and build, under the lock.
prepare() {
  local which=$1 parts_wanted=$2 options=$3 found
  shift 3
  found=$(stamp)
  take_lock
  if ! prepared "$which" "$parts_wanted" "$@"; then
    # shellcheck disable=SC2086
    get_parts $parts_wanted
    look_for_cuda
    # shellcheck disable=SC2086
    configure $options
    compile "$@" || die "The build failed; see above."
    remember_environment
    # A GPU whose toolkit could not be had: the next run looks again.
    [ -n "$cuda_is_pending" ] || echo "$found" >"$build/.ready-$which"
  fi
  drop_lock
}
