# SPDX-License-Identifier: Apache-2.0
# Without root: the distribution's packages are unpacked into .deps/root and used from there.
#
#   .deps/apt/        apt's own lists and downloads     .deps/unpacked  what has been unpacked, for apt
#   .deps/packages/   packages of tools/offline-deps    .deps/bin       the compiler, wrapped
#   .deps/root/       the unpacked packages             .deps/env.sh    sourced, makes them usable
# shellcheck shell=bash

root=$deps/root
parts=$deps/apt
foreign=

# Never unpacked: every system has these packages, and the C library must be the running one.
always_there='libc6|tar|dpkg|debconf|tzdata|netbase|perl-base'
# Not unpacked on a host with its own compiler: two sets of headers do not mix.
of_compilers='(gcc|g\+\+|cpp|binutils|libstdc\+\+|libgcc|libc|libc6|linux-libc|libcrypt|libnsl|libtirpc)(-.*)?-dev'
of_compilers+='|(gcc|g\+\+|cpp|binutils)(-.*)?|libc-dev-bin|rpcsvc-proto'

# user_apt COMMAND WORDS...: apt-get or apt-cache with separate state and downloads.
user_apt() {
  local command=$1
  shift
  LC_ALL=C DEBIAN_FRONTEND=noninteractive "$command" \
    -o "Dir::State=$parts/state" -o "Dir::State::status=$parts/status" \
    -o "Dir::Cache=$parts/cache" -o "Dir::Cache::archives=${archives:-$parts/cache/archives}" \
    -o Debug::NoLocking=1 -o APT::Sandbox::User= -o APT::Install-Recommends=0 \
    -o Acquire::Languages=none -o Acquire::Retries=2 "$@"
}

# The packages that apt counts as installed. With a compiler: the machine's and the unpacked ones.
# Without: only the unpacked ones, so that the compiler comes with everything that it needs.
write_status() {
  mkdir -p "$parts/state/lists/partial" "$parts/cache/archives/partial"
  touch "$deps/unpacked"
  if [ "$1" = libraries ]; then
    awk 'BEGIN { RS = ""; ORS = "\n\n" }
      { name = $0; sub(/^(.*\n)?Package: /, "", name); sub(/\n.*/, "", name) }
      FILENAME == ARGV[1] { seen[name] = 1; next } !(name in seen)' \
      "$deps/unpacked" /var/lib/dpkg/status >"$parts/status"
  else
    : >"$parts/status"
  fi
  cat "$deps/unpacked" >>"$parts/status"
}

update_as_user() {
  say "Reading the distribution's package lists into $parts."
  loud user_apt apt-get -qq update || say "apt reported an error, see above; continuing with the lists it has."
}

# download_as_user PACKAGE...: downloads them and their dependencies into $archives.
download_as_user() {
  local apt_cache=(user_apt apt-cache) package plain=() catch2= updated=
  knows_as_user "$@" || { update_as_user && updated=yes; }
  knows_as_user "$@" || die "$(unknown_to_apt "$@")"
  for package; do
    if [ "$package" = catch2 ] && catch2_is_too_old; then catch2=yes; else plain+=("$package"); fi
  done
  if [ ${#plain[@]} -gt 0 ]; then
    mapfile -t plain < <(pinned "${plain[@]}")
    say "Getting ($(size_of user_apt apt-get install "${plain[@]}")): ${plain[*]}"
    # The lists may be older than the mirror, where packages have been replaced since.
    download_plain "${plain[@]}" ||
      { [ -z "$updated" ] && update_as_user && download_plain "${plain[@]}"; } ||
      die "The packages could not be downloaded, see above (network? disk full? another version than tools/lib/apt.txt has?); fix that and run this again."
  fi
  if [ -n "$catch2" ]; then (download_catch2_of_backports) || exit 1; fi
}

knows_as_user() { user_apt apt-get -qq -s install "$@" >/dev/null 2>&1; }

download_plain() { loud user_apt apt-get -qq -y --download-only install "$@"; }

download_catch2_of_backports() {
  local apt_backports packages
  with_backports "$parts/backports"
  loud user_apt apt-get -qq "${apt_backports[@]}" update || die "apt could not read the backports; check the network."
  mapfile -t packages < <(pinned catch2 libcatch2-dev)
  say "Getting from the release's backports: ${packages[*]}"
  cd "$archives" || exit 1
  loud user_apt apt-get -qq "${apt_backports[@]}" download "${packages[@]}" || die "Catch2 could not be downloaded; see above."
}

# The collected packages that another system gets. Older libraries must not hide its own.
of_any_system='lib(openblas|blas|lapack|jpeg|turbojpeg|benchmark|pkgconf).*|libgfortran5|libquadmath0'
of_any_system+='|nlohmann-json3-dev|libcli11-dev|(lib)?catch2.*|ninja-build|pkg-config|pkgconf.*'

# wanted MODE NAME: whether a package is to be unpacked here.
wanted() {
  local skip="$always_there"
  [ "$1" = libraries ] && skip+="|$of_compilers"
  if [ -n "$foreign" ]; then
    [[ $2 =~ ^($of_any_system)$ ]] || return 1
    ! is_here ninja || skip+='|ninja-build'
  fi
  ! [[ $2 =~ ^($skip)$ ]]
}

# unpack MODE FILE.deb...: into .deps/root, and records each complete package for apt.
unpack() {
  local mode=$1 file name
  shift
  prepare_root
  for file; do
    name=${file##*/}
    name=${name%%_*}
    ! wanted "$mode" "$name" || unpack_one "$file"
    [ -z "$foreign" ] || continue
    # After an interruption a package may be recorded already: apt needs each one once.
    grep -qx "Package: $name" "$deps/unpacked" ||
      { dpkg-deb -f "$file" && printf 'Status: install ok installed\n\n'; } >>"$deps/unpacked" ||
      die "The package $file is damaged; remove it and run this again."
  done
}

# The files of a package as a tar archive, also without dpkg.
files_of() {
  if command -v dpkg-deb >/dev/null; then
    dpkg-deb --fsys-tarfile "$1"
  else
    "$(python_of_meson)" "$top/tools/lib/deb_files.py" "$1"
  fi
}

unpack_one() {
  files_of "$1" |
    tar -C "$root" --keep-directory-symlink --no-same-owner -xf - \
      --exclude='./usr/share/doc' --exclude='./usr/share/man' --exclude='./usr/share/locale' ||
    die "Unpacking $1 failed, see above (disk full?); fix that and run this again."
}

# The merged /usr of the distributions, which packages rely on.
prepare_root() {
  local folder
  mkdir -p "$root/usr" "$deps/bin"
  for folder in bin sbin lib lib32 lib64; do
    mkdir -p "$root/usr/$folder"
    [ -e "$root/$folder" ] || ln -s "usr/$folder" "$root/$folder"
  done
}

# Makes the unpacked packages usable in their place.
mend_root() {
  if [ "$1" = all ]; then link_c_library; fi
  mend_links
  mend_pkg_config
  wrap_commands "$1"
  write_env "$1"
}

# Links the running C library into the unpacked tree, where the linker searches it.
link_c_library() {
  local file
  dpkg -L libc6 | grep -E '^(/usr)?/lib(64)?/.*\.so' | while read -r file; do
    [ -e "$root$file" ] || { mkdir -p "$root${file%/*}" && ln -s "$file" "$root$file"; }
  done
}

# Redirects links to host files, and absolute links into the unpacked tree.
mend_links() {
  local link target
  find "$root" -xtype l | while read -r link; do
    target=$(readlink "$link")
    if [[ $target = /* ]]; then
      [ ! -e "$root$target" ] || ln -sfn "$root$target" "$link"
    else
      target=$(realpath -m "$(dirname "${link#"$root"}")/$target")
      [ ! -e "$target" ] || { mkdir -p "$root${target%/*}" && ln -sfn "$target" "$root$target"; }
    fi
  done
}

mend_pkg_config() {
  find "$root/usr" -name '*.pc' -type f | while read -r file; do
    grep -q "$root" "$file" || sed -i -E "s#(^|[=: \"]|-I|-L)/usr\\b#\\1$root/usr#g" "$file"
  done
}

# Sets the compiler's system folder, and the interpreter of scripts: Meson makes Ninja call its
# script by name.
wrap_commands() {
  local name real
  for name in gcc g++ cc:gcc c++:g++; do
    real=$(readlink -f "$root/usr/bin/${name#*:}" 2>/dev/null) && [ -x "$real" ] && [ "$1" = all ] || continue
    wrap "${name%:*}" "'$real' --sysroot='$root'"
  done
  [ ! -x "$root/usr/bin/python3" ] ||
    find "$root/usr/bin" -type f -size -64k -exec sed -i "1s#^\#! */usr/bin/python3#\#!$root/usr/bin/python3#" {} +
}

wrap() { printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$deps/bin/$1" && chmod +x "$deps/bin/$1"; }

# New dtags are off, so that dependencies of libraries are found in the same way.
write_env() {
  local libraries configs
  libraries=$root/usr/lib/$(triplet)
  libraries+=$(find "$libraries" -mindepth 2 -maxdepth 2 -name 'libopenblas.so*' -printf ':%h\n' | sort -u | tr -d '\n')
  configs=$root/usr/share/pkgconfig:$root/usr/lib/$(triplet)/pkgconfig
  configs+=$(find "$root/usr/lib/$(triplet)" -mindepth 2 -name pkgconfig -printf ':%p' | sort)
  {
    echo "# Written by tools/: makes the packages under .deps/root usable. Source it to run Meson by hand."
    echo "export PATH='$deps/bin:$root/usr/bin':\"\$PATH\""
    echo "export LD_LIBRARY_PATH='$libraries'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
    echo "export PYTHONPATH='$root/usr/lib/python3/dist-packages'\${PYTHONPATH:+:\$PYTHONPATH}"
    echo "export PKG_CONFIG_PATH='$configs'\${PKG_CONFIG_PATH:+:\$PKG_CONFIG_PATH}"
    echo "export LDFLAGS='-Wl,--disable-new-dtags -Wl,-rpath,$libraries'\${LDFLAGS:+ \$LDFLAGS}"
    # For a compiler of the host, which does not search the unpacked tree.
    [ "$1" = all ] ||
      echo "export CXXFLAGS='-idirafter$root/usr/include/$(triplet)'\${CXXFLAGS:+ \$CXXFLAGS}"
    [ "$1" = all ] && echo "export CC='$deps/bin/gcc' CXX='$deps/bin/g++'"
    true
  } >"$deps/env.sh"
}

# Such as x86_64-linux-gnu: the folder of the unpacked libraries.
triplet() { find "$root/usr/lib" -maxdepth 1 -name '*-linux-gnu*' -printf '%f\n' | sort | head -n 1; }

# A tree that was moved, or whose host lost or gained a compiler, is unpacked again.
begin_unpacked() {
  local mode=$1 here="$1 $deps"
  # LDFLAGS and CXXFLAGS are split at blanks, and no quotes help there.
  [[ $top != *[[:space:]]* ]] ||
    die "Packages can't be unpacked into $deps: its path contains a space, which compiler flags can't contain. Move the clone."
  [ "$(cat "$deps/made-for" 2>/dev/null)" = "$here" ] && return
  rm -rf "$root" "$deps/bin" "$deps/unpacked" "$deps/env.sh"
  echo "$here" >"$deps/made-for"
}

# host_compiler is set if the machine has its own compiler.
mode_of_root() { [ -n "$host_compiler" ] && echo libraries || echo all; }

# unpack_as_user PACKAGE...
unpack_as_user() {
  local mode archives=$parts/cache/archives packages
  mode=$(mode_of_root)
  begin_unpacked "$mode"
  write_status "$mode"
  download_as_user "$@"
  say "Unpacking them into $root; nothing outside of this clone changes."
  mapfile -t packages < <(packages_in "$archives")
  unpack "$mode" "${packages[@]}"
  mend_root "$mode"
  rm -f "$archives"/*.deb
}

# unpack_offline FOLDER: all packages that tools/offline-deps has collected there.
unpack_offline() {
  local mode made_for packages
  made_for=$(cat "$1/made-for" 2>/dev/null) || die "$1 was not made by tools/offline-deps; give its folder in FEEDRATE_DEPS."
  mode=$(mode_of_root)
  if [ "$made_for" != "$(this_system)" ]; then
    may_mix "$1" "$made_for" "$mode" ||
      die "The packages in $1 are for $made_for, and this is $(this_system); collect them on such a machine."
    foreign=yes
    say "The packages in $1 are for $made_for, this is $(this_system): using their libraries with this compiler."
  fi
  begin_unpacked "$mode"
  mapfile -t packages < <(packages_in "$1")
  touch "$deps/unpacked"
  say "Unpacking ${#packages[@]} packages of $1 into $root, without any network."
  unpack "$mode" "${packages[@]}"
  mend_root "$mode"
  # Meson from a package needs the Python of its own system.
  [ -z "$foreign" ] || is_here meson || meson_of_wheel "$1" || true
}

# may_mix FOLDER MADE_FOR MODE: whether a compiler of this system can use libraries of another one.
# It can if they were made for a C library that is not newer.
may_mix() {
  local libc
  [ "$3" = libraries ] && [ "${2##* }" = "$(architecture)" ] || return 1
  libc=$(find "$1" -maxdepth 1 -name 'libc6_*.deb' | sed -n 's#.*/libc6_\([0-9.]*\).*#\1#p' | head -n 1)
  [ -n "$libc" ] && at_least "$libc" "$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)"
}

# These packages of a folder, and the C library, whose version may_mix needs.
keep_what_any_system_needs() {
  find "$1" -maxdepth 1 -name '*.deb' -regextype posix-extended ! -regex ".*/($of_any_system|libc6)_[^/]*" -delete
}

packages_in() { find "$1" -maxdepth 1 -name '*.deb' | sort; }

# Debian's name of the architecture, also without dpkg.
architecture() {
  dpkg --print-architecture 2>/dev/null || uname -m | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/'
}

# "debian 12 amd64"
# shellcheck source=/dev/null
this_system() { (. /etc/os-release && echo "$ID ${VERSION_ID:-$VERSION_CODENAME} $(architecture)"); }
