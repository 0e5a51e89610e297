# SPDX-License-Identifier: Apache-2.0
# What the tools say, all of it on stderr: stdout belongs to the command that they run.
# shellcheck shell=bash

say() { printf '%s\n' "tools: $*" >&2; }

die() {
  say "$*"
  exit 1
}

# Runs a command with its output on stderr.
loud() { "$@" >&2; }

# Only one of the tools gets packages or builds at a time; the others wait, and say so.
take_lock() {
  mkdir -p "$deps" || die "The folder $deps can't be written; check its owner or use another clone."
  command -v flock >/dev/null || return 0
  exec 9>"$deps/lock" || die "The file $deps/lock can't be written; check its owner."
  flock -n 9 && return
  say "Another of the tools is at work in this clone; waiting until it has ended."
  flock 9
}

drop_lock() { exec 9>&-; }
