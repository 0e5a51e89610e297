# SPDX-License-Identifier: Apache-2.0
# Gets packages of the distribution by apt: installed by root, or only downloaded. apt.txt has their versions, and apt
# checks the distribution's signature; what pip gets is pinned by content.
# shellcheck shell=bash

has_apt() { command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; }

# "96 packages, 97 MB": the size of what apt-get with these words would get.
size_of() {
  "$@" -qq --print-uris 2>/dev/null | LC_ALL=C awk \
    '/^\047/ { n++; bytes += $3 } END { printf "%d package%s, %.0f MB", n, n == 1 ? "" : "s", bytes / 1e6 }'
}

# The release of Debian, such as bookworm; nothing elsewhere.
# shellcheck source=/dev/null
debian_release() { (. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME:-}"); }

# pinned PACKAGE...: each as a word for apt, with the version that apt.txt has for this release.
pinned() {
  awk -v release="$(debian_release)" -v wanted="$*" '
    /^package / { for (i = 2; i <= NF; ++i) if ($i == release) column = i }
    column { version[$1] = $column }
    END { n = split(wanted, name, " ")
          for (i = 1; i <= n; ++i) print name[i] (name[i] in version ? "=" version[name[i]] "-*" : "") }' \
    "$top/tools/lib/apt.txt"
}

# The version that apt would choose. The caller sets apt_cache, which selects the lists.
candidate() { "${apt_cache[@]}" policy "$1" 2>/dev/null | awk '/Candidate:/ { print $2 }'; }

catch2_is_too_old() {
  local version
  version=$(candidate catch2)
  [ "$version" = "(none)" ] || [ -z "$version" ] || ! at_least 3.0 "${version#*:}"
}

# The source line of the release's backports; the mirror is the one that apt uses already.
backports_line() {
  local codename keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirror
  codename=$(debian_release) ||
    die "Catch2 v3 is not among this release's packages; install it by hand (libcatch2-dev or catch2)."
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(COMPONENT)|$(RELEASE)|$(CODENAME)|$(REPO_URI)' |
    awk -F'|' -v c="$codename" '$1 == "main" && ($2 == c || $3 == c) { print $4; exit }')
  [ -n "$mirror" ] || die "apt knows no mirror of $codename; check its source lists."
  [ -r "$keyring" ] && keyring="[signed-by=$keyring] " || keyring=
  echo "deb $keyring$mirror $codename-backports main"
}

# with_backports FOLDER: sets apt_backports to options with which apt sees only backports. Their lists
# are in FOLDER, so apt's own folders stay unchanged.
with_backports() {
  mkdir -p "$1/lists/partial"
  backports_line >"$1/backports.list" || exit 1
  apt_backports=(-o "Dir::Etc::SourceList=$1/backports.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$1/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  say "Reading the package list of the release's backports, for Catch2 v3 alone."
}

root_apt() {
  DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
}

update_as_root() {
  say "Refreshing apt's package lists."
  loud root_apt -qq update ||
    die "apt could not refresh its package lists; check the network and the source lists."
}

# An interrupted installation leaves half-configured packages, which block the next one.
finish_interrupted() {
  [ -z "$(dpkg --audit 2>/dev/null)" ] && return
  say "Finishing an installation that was interrupted."
  DEBIAN_FRONTEND=noninteractive loud dpkg --configure -a || die "'dpkg --configure -a' failed; see above."
}

# apt_install PACKAGE..., with the options in apt_backports.
apt_install() {
  say "Getting with apt ($(size_of root_apt "${apt_backports[@]}" install "$@")): $*"
  loud root_apt -qq -o Dpkg::Use-Pty=0 "${apt_backports[@]}" install "$@"
}

install_catch2_of_backports() {
  local temporary packages
  temporary=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$temporary'" EXIT
  chmod 755 "$temporary"
  with_backports "$temporary"
  loud root_apt -qq "${apt_backports[@]}" update || die "apt could not read the backports; check the network."
  mapfile -t packages < <(pinned catch2 libcatch2-dev)
  apt_install "${packages[@]}" || die "apt could not install Catch2 v3; see above."
}

unknown_to_apt() {
  echo "apt can't get all of: $*. Check the network, the source lists and the free disk space;" \
    "a machine without network can use packages that tools/offline-deps has collected elsewhere."
}

# install_as_root PACKAGE...
install_as_root() {
  local apt_cache=(apt-cache) apt_backports=() package plain=() catch2= updated=
  finish_interrupted
  knows_as_root "$@" || { update_as_root && updated=yes; }
  knows_as_root "$@" || die "$(unknown_to_apt "$@")"
  for package; do
    if [ "$package" = catch2 ] && catch2_is_too_old; then catch2=yes; else plain+=("$package"); fi
  done
  if [ ${#plain[@]} -gt 0 ]; then
    mapfile -t plain < <(pinned "${plain[@]}")
    # The lists may be older than the mirror, whose packages may have been replaced.
    apt_install "${plain[@]}" ||
      { [ -z "$updated" ] && update_as_root && apt_install "${plain[@]}"; } ||
      die "apt could not install ${plain[*]}; see above (network? disk full? another version than tools/lib/apt.txt has?), then run this again."
  fi
  if [ -n "$catch2" ]; then (install_catch2_of_backports) || exit 1; fi
}

knows_as_root() { root_apt -s install "$@" >/dev/null 2>&1; }
