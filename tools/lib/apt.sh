# SPDX-License-Identifier: Apache-2.0
# Gets packages of the distribution by apt: installed by root, or only downloaded. Their versions are the
# distribution's, whose signature apt checks; what pip gets is pinned by content.
# shellcheck shell=bash

has_apt() { command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; }

# "96 packages, 97 MB": the size of what apt-get with these words would get.
size_of() {
  "$@" -qq --print-uris 2>/dev/null | LC_ALL=C awk \
    '/^\047/ { n++; bytes += $3 } END { printf "%d package%s, %.0f MB", n, n == 1 ? "" : "s", bytes / 1e6 }'
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
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") ||
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

# The two packages of Catch2, both with the version that backports have.
catch2_of_backports() {
  local version
  apt_cache=(apt-cache "${apt_backports[@]}")
  version=$(candidate libcatch2-dev)
  [ -n "$version" ] || die "The backports have no Catch2; install Catch2 v3 by hand."
  echo "catch2=$version libcatch2-dev=$version"
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
  local temporary words
  temporary=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$temporary'" EXIT
  chmod 755 "$temporary"
  with_backports "$temporary"
  loud root_apt -qq "${apt_backports[@]}" update || die "apt could not read the backports; check the network."
  words=$(catch2_of_backports) || exit 1
  # shellcheck disable=SC2086
  apt_install $words || die "apt could not install Catch2 v3; see above."
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
    # The lists may be older than the mirror, whose packages may have been replaced.
    apt_install "${plain[@]}" ||
      { [ -z "$updated" ] && update_as_root && apt_install "${plain[@]}"; } ||
      die "apt could not install ${plain[*]}; see above (network? disk full?), then run this again."
  fi
  if [ -n "$catch2" ]; then (install_catch2_of_backports) || exit 1; fi
}

knows_as_root() { root_apt -s install "$@" >/dev/null 2>&1; }
