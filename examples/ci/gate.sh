#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gate.sh REF BUILD [OPTIONS] -- COMMAND...: is this commit slower than what it branched off from?
#
# Run it in your repository. It checks out the merge base of REF and HEAD, and HEAD itself, into two
# new folders, runs the shell command BUILD in both, and compares COMMAND in both by `autotune ab`.
# COMMAND runs in those folders. OPTIONS are those of `autotune ab`, and their files are of the folder
# where you are. On REF itself, HEAD is compared with the commit before it. AUTOTUNE names autotune.
#
#   sh gate.sh origin/main 'make -j2' --rate 'regex:([0-9.]+) img/s' -- ./train --epochs 1
#
# Exit code: that of `autotune ab`; 2 where it can't begin, 4 for a commit that can't be built.
set -eu

fail() {
  code=$1
  shift
  echo "gate.sh: $*" >&2
  exit "$code"
}

[ $# -ge 4 ] || fail 2 "Usage: gate.sh REF BUILD [OPTIONS] -- COMMAND..."
ref=$1
build=$2
shift 2

# 'word', as a shell reads it back.
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

options=
command=
sides='base head'
behind=
for word; do
  if [ -n "$behind" ]; then
    command="$command $(quoted "$word")"
  elif [ "$word" = -- ]; then
    behind=yes
  else
    options="$options $(quoted "$word")"
    case $word in --aa | --plant | --plant=*) sides=base ;; esac
  fi
done
[ -n "$command" ] || fail 2 "There is no command behind --."

git rev-parse --quiet --verify "$ref^{commit}" >/dev/null ||
  fail 2 "There is no commit '$ref' here: run git fetch origin first."
base=$(git merge-base "$ref" HEAD) ||
  fail 2 "'$ref' and HEAD have no common commit here: fetch the whole history (fetch-depth: 0)."
if [ "$base" = "$(git rev-parse HEAD)" ]; then
  base=$(git rev-parse --quiet --verify HEAD^) ||
    fail 2 "There is no commit before HEAD here: fetch the whole history (fetch-depth: 0)."
fi

folder=$(mktemp -d) || fail 2 "No temporary folder can be made: set TMPDIR to one that exists and has room."
# shellcheck disable=SC2317
clean_up() {
  for side in base head; do git worktree remove --force "$folder/$side" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# check_out_and_build SIDE COMMIT
check_out_and_build() {
  echo "gate.sh: building $1: $(git log -1 --format='%h %s' "$2")" >&2
  git worktree add --quiet --detach "$folder/$1" "$2" >&2 || fail 4 "$2 can't be checked out."
  (
    cd "$folder/$1" || exit
    if [ -f .gitmodules ]; then git submodule --quiet update --init --recursive || exit; fi
    exec sh -ec "$build"
  ) >&2 || fail 4 "BUILD failed on $1, commit $2."
}

# Both are built before anything is measured.
check_out_and_build base "$base"
check_out_and_build head HEAD

# shellcheck disable=SC2016
in_its_folder='cd "$0" && exec "$@"'
programs=
for side in $sides; do
  programs="$programs -- sh -c $(quoted "$in_its_folder") $(quoted "$folder/$side") $command"
done
code=0
eval "\"\${AUTOTUNE:-autotune}\" ab $options $programs" || code=$?
exit "$code"
