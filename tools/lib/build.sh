# SPDX-License-Identifier: Apache-2.0
# From a fresh clone to a build: gets missing packages, configures, compiles. Sourced by the tools.
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

# The folder of packages collected for a machine without network, if it exists.
offline_folder() {
  local folder=${FEEDRATE_DEPS:-$deps/packages}
  [ -n "${FEEDRATE_DEPS:-}" ] || [ -f "$folder/made-for" ] || return 0
  [ -d "$folder" ] || die "The folder FEEDRATE_DEPS=$folder does not exist."
  (cd "$folder" && pwd)
}

may_install() { [ "$(id -u)" = 0 ] && [ -z "${FEEDRATE_UNPACK:-}" ]; }

# shellcheck source=/dev/null
use_unpacked() { [ ! -f "$deps/env.sh" ] || { . "$deps/env.sh" && uses_unpacked=yes; }; }

# get_parts PART...: installs all of them, or ends the run with a message.
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
    die "Missing here: $(described_all "$@"). Install them with this system's package manager (this tool only knows apt, which is not installed)."
  elif may_install; then
    install_as_root "${packages[@]}"
  else
    # The system's own Python does not look at what is unpacked.
    for part; do
      case $part in
        venv | python-dev)
          die "Missing here: $(described_all "$part"). Have it installed as root (apt-get install $(package_of "$part"))."
          ;;
      esac
    done
    unpack_as_user "${packages[@]}"
  fi
}

# The packages of the system's own Python stay visible: the tests use them.
make_venv() {
  [ ! -x "$deps/venv/bin/pip" ] || return 0
  rm -rf "$deps/venv"
  (get_parts venv) && loud "$(python_of_meson)" -m venv --system-site-packages "$deps/venv"
}

# Into a folder of this clone.
get_newer_meson() {
  local folder
  folder=$(offline_folder) || exit 1
  if [ -n "$folder" ]; then
    meson_of_wheel "$folder"
    return
  fi
  if [ ! -x "$deps/venv/bin/meson" ]; then
    say "Getting Meson 1.4 or newer with pip, into $deps/venv, because CUDA needs it."
    make_venv && loud "$deps/venv/bin/pip" install -q --retries 1 --require-hashes -r "$top/tools/lib/meson.txt" || return 1
  fi
  PATH=$deps/venv/bin:$PATH
  uses_newer_meson=$deps/venv/bin
}

# collect_meson FOLDER: downloads Meson as a wheel, for machines without network.
collect_meson() {
  [ -z "$(find "$1" -maxdepth 1 -name 'meson-*.whl')" ] || return 0
  say "Getting Meson 1.4 or newer with pip, because CUDA needs it."
  loud python3 -m pip download -q --no-deps --retries 1 -d "$1" --require-hashes -r "$top/tools/lib/meson.txt"
}

# meson_of_wheel FOLDER: unpacks the wheel that tools/offline-deps put there. Meson is pure Python, so
# it needs no pip.
meson_of_wheel() {
  local wheel
  wheel=$(find "$1" -maxdepth 1 -name 'meson-*.whl' | sort -V | tail -n 1)
  [ -n "$wheel" ] || return 1
  if [ ! -x "$deps/meson/bin/meson" ]; then
    say "Unpacking Meson from ${wheel##*/} into $deps/meson, because CUDA needs it."
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

# The environment that later runs need to use this build.
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

# Everything that determines a build folder; another value makes a new one.
signature() {
  echo "$(meson --version) ${CC:-} ${CXX:-} $(command -v nvcc) ${PKG_CONFIG_PATH:-} ${LDFLAGS:-} ${CXXFLAGS:-}" \
    "${FEEDRATE_CUDA:-} $top"
}

# configure OPTION...: creates the build folder, or sets missing options.
configure() {
  local wanted
  wanted=$(signature)
  if [ ! -f "$build/build.ninja" ] || [ "$(cat "$build/.made-with" 2>/dev/null)" != "$wanted" ]; then
    [ ! -e "$build" ] || [ -d "$build/meson-private" ] ||
      die "$build exists and is no Meson build folder; move it, or set FEEDRATE_BUILD to another folder."
    rm -rf "$build"
    say "Configuring $build (release)."
    loud meson setup "$build" "$top" "$@" || die "Meson could not configure the build; see above."
    echo "$wanted" >"$build/.made-with"
    printf '%s\n' "$@" >"$build/.options"
  fi
  set_options "$@"
}

# Only new options: switching between the tools must not configure again.
set_options() {
  local option news=()
  for option; do grep -qxFe "$option" "$build/.options" || news+=("$option"); done
  [ ${#news[@]} -gt 0 ] || return 0
  loud meson configure "$build" "${news[@]}" || die "Meson could not configure the build; see above."
  printf '%s\n' "${news[@]}" >>"$build/.options"
}

# compile TARGET...: silent if there is nothing to do but the version (Meson's vcs_tag, at most three
# steps each time).
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

# One line about the tools and the system; if it changes, every package is searched again.
stamp() {
  echo "$(cat "$top"/tools/lib/*.sh | cksum) $top ${CXX:-} $PATH" \
    "${CUDA_HOME:-} ${CUDA_PATH:-} ${CUDA_ROOT:-} ${FEEDRATE_CUDA:-} $(cuda_of_system)"
}

# Searching every package takes half a second or more; the stamp says that all were present.
is_prepared() { [ -f "$build/build.ninja" ] && [ "$(cat "$build/.ready-$1" 2>/dev/null)" = "$(stamp)" ]; }

# Whether the last run of this tool left everything it needs; then this updates the build.
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
    [ "${FEEDRATE_CUDA:-}" != no ] || options+=" -Dcuda=disabled"
    # shellcheck disable=SC2086
    configure $options
    compile "$@" || die "The build failed; see above."
    remember_environment
    # If the toolkit of a GPU could not be downloaded, the next run tries again.
    [ -n "$cuda_is_pending" ] || echo "$found" >"$build/.ready-$which"
  fi
  drop_lock
}
