# SPDX-License-Identifier: Apache-2.0
# The parts of tools/gpu-suite. Each runs its commands in sequence, within its own time limit.
# shellcheck shell=bash
# shellcheck disable=SC2154  # out, deadline and run_description are the caller's

# The caller's Python; the one unpacked for the build has no torch.
host_python=$(command -v python3 || true)
torch_python=$(command -v "${FEEDRATE_TORCH_PYTHON:-python3}" || true)
prebuilt=${FEEDRATE_DEPS:-$deps/packages}/prebuilt

# begin_part PART: removes the results of an earlier call.
begin_part() {
  part=$1
  weights=100
  rm -rf "$out/$part" "$out/logs/$part"-* "$out/runs/$part"
  echo "$run_description" >"$out/runs/$part.json"
}

# record NAME STATUS SECONDS [WHY]
record() {
  printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}" >>"$out/runs/$part"
  say "  $2: $1${4:+ ($4)}, $3 s"
}

# The last line of a command's output, as the reason.
last_line() { grep -v '^[[:space:]]*$' "$1" 2>/dev/null | tail -n 1 | tr '\t' ' ' | cut -c 1-160; }

# The seconds for a command of this weight: its share of the part's remaining time.
seconds_of() { echo $(((deadline - SECONDS) * $1 / (weights > $1 ? weights : $1))); }

# run WEIGHT NAME RESULT COMMAND...: runs it within twice its share of the part's time, so that a hang
# leaves time for the others. The weights of a part add up to 100. Output goes to logs/, or to RESULT
# unless that is "-". Exit code 77 (no usable GPU) is a failure here: the driver shows a GPU.
run() {
  local weight=$1 name=$2 result=$3 start=$SECONDS log=$out/logs/$part-$2.log code=0 most left
  shift 3
  left=$((deadline - SECONDS))
  most=$((2 * $(seconds_of "$weight")))
  [ $most -le $left ] || most=$left
  weights=$((weights - weight))
  if [ $most -lt 1 ]; then
    record "$name" "out of time" 0 "not begun"
    return
  fi
  [ "$result" != - ] && mkdir -p "$(dirname "$result")" || result=$log
  echo "$*" >"$log.command"
  if [ "$result" = "$log" ]; then
    timeout -k 10 "$most" "$@" >"$log" 2>&1 </dev/null || code=$?
  else
    timeout -k 10 "$most" "$@" >"$result" 2>"$log" </dev/null || code=$?
  fi
  case $code in
    0) record "$name" ok $((SECONDS - start)) ;;
    124) record "$name" "out of time" $((SECONDS - start)) ;;
    137) if [ $((SECONDS - start)) -ge $most ]; then record "$name" "out of time" $((SECONDS - start))
      else record "$name" failed $((SECONDS - start)) "killed, perhaps because memory ran out: $(last_line "$log")"; fi ;;
    *) record "$name" failed $((SECONDS - start)) "exit code $code: $(last_line "$log")" ;;
  esac
}

programs_in() { find "$1" -maxdepth 1 -type f -executable -name "$2" 2>/dev/null | sort || true; }

# The folder of all programs: the build, or the prebuilt ones if the build is for the CPU alone.
programs_from() {
  if [ -d "$prebuilt" ] && [ -z "$(programs_in "$build/tests/gpu" test_gpu)" ]; then echo "$prebuilt"; else echo "$build"; fi
}

# need FOLDER PATTERN: sets programs to those; without any, the part has failed.
need() {
  [ -d "$prebuilt" ] || [ ! -f "$prebuilt.tar.gz" ] || tar -xzf "$prebuilt.tar.gz" -C "${prebuilt%/*}"
  mapfile -t programs < <(programs_in "$(programs_from)/$1" "$2")
  if [ ${#programs[@]} -eq 0 ]; then
    record "$part" failed 0 "nothing is built: run the part build, or see its log"
    return 1
  fi
  [[ ${programs[0]} != "$prebuilt"/* ]] || use_prebuilt
}

# They search cuBLAS in the toolkit of their build, which may be elsewhere on this machine.
use_prebuilt() {
  local libraries
  libraries=$(cuda_libraries)
  [ -z "$libraries" ] ||
    export FEEDRATE_CUDA_LIBRARIES=$libraries${FEEDRATE_CUDA_LIBRARIES:+:$FEEDRATE_CUDA_LIBRARIES}
  record "programs" ok 0 "built beforehand, of commit $(cat "$prebuilt/commit")"
}

part_build() { run 100 build - "$top/tools/lib/build-gpu"; }

part_tests() {
  local programs program
  need tests/gpu 'test_*' || return 0
  for program in "${programs[@]}"; do
    run $((100 / ${#programs[@]})) "${program##*/}" - "$program" --durations yes
  done
}

part_bench() {
  local programs program
  need bench 'bench_cuda_*' || return 0
  for program in "${programs[@]}"; do
    run $((100 / ${#programs[@]})) "${program##*/bench_}" "$out/bench/${program##*/bench_}.json" \
      "$program" --json --rounds 9
  done
}

has_torch() {
  [ -n "$torch_python" ] && "$torch_python" -c 'import torch' 2>/dev/null && return
  record torch skipped 0 "torch is not installed; FEEDRATE_TORCH_PYTHON names a Python that has it"
  return 1
}

# compare WEIGHT NAME OPTIONS...: PyTorch's step beside ours.
compare() {
  local weight=$1 name=$2
  shift 2
  run "$weight" "$name" "$out/torch/$name.json" "$torch_python" "$top/bench/peers/torch_step.py" \
    --device cuda --against "${programs[0]}" --rounds 9 --json "$@"
}

part_torch() {
  local programs
  has_torch || return 0
  need bench bench_cuda_step || return 0
  compare 50 mlp-bf16 --model mlp --batch 128 --precision bf16 --variants eager,compile --steps 200
  compare 25 images-bf16 --model images --batch 256 --precision bf16 --format channels_last --steps 20
  compare 25 images-tf32 --model images --batch 256 --precision tf32 --format channels_last --steps 20
}

# tune WEIGHT NAME PERCENT MOST WORDS...: runs autotune with this percentage of its time as the budget, at
# most MOST seconds, which is what the command takes by default.
tune() {
  local weight=$1 name=$2 budget
  budget=$(($(seconds_of "$weight") * $3 / 100))
  budget=$((budget < $4 ? budget : $4))
  shift 4
  mkdir -p "$out/autotune"
  run "$weight" "$name" - "${programs[0]}" --budget "$((budget > 0 ? budget : 1))s" --no-progress \
    --output "$out/autotune/$name.json" "$@"
}

# The budget of a script does not include its start, nor the starts of the launches that confirm: where
# PyTorch takes 10 s to start, they take 70 s of the first one.
part_autotune() {
  local programs
  need tuner autotune || return 0
  tune 18 images 80 60 --device cuda --workload images
  tune 12 tabular 80 60 --device cuda --workload tabular --no-card
  has_torch || return 0
  tune 48 script 25 30 --what-if bf16 -- "$torch_python" "$top/bench/scripts/gpu.py"
  tune 22 script-mixed 60 30 --no-confirm -- "$torch_python" "$top/bench/scripts/gpu.py" mixed
}

# feedrate.torch, as users install it: pinned batches arrive, and a training with either loader.
part_wheel() {
  local wheel site pictures loader
  has_torch || return 0
  wheel=$(find "${prebuilt%/*}" -maxdepth 1 -name 'feedrate-*.whl' 2>/dev/null | sort | tail -n 1)
  if [ -z "$wheel" ]; then
    record feedrate.torch skipped 0 "there is no wheel in ${prebuilt%/*}; tools/wheel ${prebuilt%/*} makes one"
    return 0
  fi
  site=$(mktemp -d)
  pictures=$site/pictures
  run 10 install - "$torch_python" -m pip install -q --no-index --no-deps --target "$site" "$wheel"
  run 40 batches - env "PYTHONPATH=$site" "$torch_python" "$top/python/tests/gpu_batches.py" "$pictures"
  for loader in torchvision feedrate; do
    run 25 "training-$loader" - env "PYTHONPATH=$site" "$torch_python" "$top/examples/train_images.py" "$pictures" \
      --loader $loader --epochs 8 --size 224 --workers "$(nproc)"
  done
  rm -r "$site"
}

# Launches of one block or of small shapes: the sanitizer slows them down a hundredfold. All tools
# check our own kernels; the first one also checks whole steps with cuBLAS.
part_sanitizer() {
  local programs sanitizer tool
  need tests/gpu test_gpu || return 0
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || {
    record compute-sanitizer skipped 0 "compute-sanitizer is not installed"
    return 0
  }
  for tool in memcheck racecheck synccheck initcheck; do
    run 20 "$tool" - "$sanitizer" --tool "$tool" --error-exitcode 86 "${programs[0]}" --filenames-as-tags '[#kernels]'
  done
  run 20 memcheck-steps - "$sanitizer" --tool memcheck --error-exitcode 86 "${programs[0]}" 'Toys of every kind*'
}
