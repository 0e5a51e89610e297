# SPDX-License-Identifier: Apache-2.0
# Messages of the tools. All go to stderr: stdout belongs to the command that they run.
# shellcheck shell=bash

say() { printf '%s\n' "tools: $*" >&2; }

die() {
  say "$*"
  exit 1
}

# Runs a command with its output on stderr.
loud() { "$@" >&2; }

# Only one tool at a time gets packages or builds; others print a message and wait.
take_lock() {
  mkdir -p "$deps" || die "The folder $deps can't be written; check its owner or use another clone."
  command -v flock >/dev/null || return 0
  exec 9>"$deps/lock" || die "The file $deps/lock can't be written; check its owner."
  flock -n 9 && return
  say "Another tool is running in this clone; waiting for it to end."
  flock 9
}

drop_lock() { exec 9>&-; }
