# SPDX-License-Identifier: Apache-2.0
# The parts of tools/gpu-suite. Each runs its commands one after the other, within its own time.
# shellcheck shell=bash
# shellcheck disable=SC2154  # out and deadline are the caller's

# As the caller has it: what is unpacked for the build has another one, without torch.
host_python=$(command -v python3 || true)
torch_python=$(command -v "${FEEDRATE_TORCH_PYTHON:-python3}" || true)

# record PART NAME STATUS SECONDS [WHY]
record() {
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "${5:-}" >>"$out/runs.tsv"
  say "  $2: $3${5:+ ($5)}, $4 s"
}

# The last line that a command wrote, as its reason.
last_line() { grep -v '^[[:space:]]*$' "$1" 2>/dev/null | tail -n 1 | tr '\t' ' ' | cut -c 1-160; }

# run PART NAME RESULT COMMAND...: within what is left of the part's time. What it prints goes into
# logs/, or into RESULT where that is no "-". 77 is how a command says that it can't run here.
run() {
  local part=$1 name=$2 result=$3 start=$SECONDS log=$out/logs/$1-$2.log code=0
  shift 3
  [ "$result" != - ] && mkdir -p "$(dirname "$result")" || result=$log
  if [ $((deadline - SECONDS)) -lt 1 ]; then
    record "$part" "$name" "out of time" 0 "not begun"
    return
  fi
  echo "$*" >"$log.command"
  if [ "$result" = "$log" ]; then
    timeout -k 10 $((deadline - SECONDS)) "$@" >"$log" 2>&1 || code=$?
  else
    timeout -k 10 $((deadline - SECONDS)) "$@" >"$result" 2>"$log" || code=$?
  fi
  case $code in
    0) record "$part" "$name" ok $((SECONDS - start)) ;;
    77) record "$part" "$name" skipped $((SECONDS - start)) "$(last_line "$log")" ;;
    124 | 137) record "$part" "$name" "out of time" $((SECONDS - start)) ;;
    *) record "$part" "$name" failed $((SECONDS - start)) "exit code $code: $(last_line "$log")" ;;
  esac
}

# Programs of the build by a pattern; one line each.
built() { find "$build/$1" -maxdepth 1 -type f -executable -name "$2" 2>/dev/null | sort; }

# need PART PATTERN...: whether the build has any such program; else the part has failed.
need() {
  [ -n "$(built "$2" "$3")" ] && return
  record "$1" "$1" failed 0 "nothing is built: run the part build, or see its log"
  return 1
}

describe_run() {
  local gpu
  gpu=$(nvidia-smi --query-gpu=name,uuid,driver_version,clocks.max.sm,power.limit,pcie.link.gen.max,pcie.link.width.max \
    --format=csv,noheader 2>/dev/null | head -n 1) || true
  printf '{"date": "%s", "commit": "%s", "cpus": %s, "gpu": "%s"}\n' "$(date -u +%F)" \
    "$(git -C "$top" describe --always --dirty 2>/dev/null || echo unknown)" "$(nproc)" "${gpu//\"/}"
}

part_build() { run build build - "$top/tools/lib/build-gpu"; }

part_tests() {
  local program
  need tests tests/gpu 'test_*' || return 0
  for program in $(built tests/gpu 'test_*'); do
    run tests "${program##*/}" - "$program" --durations yes
  done
}

# Launches of one block or of small shapes, which the sanitizer slows down a hundredfold. All tools
# look at our own kernels; the first one also at whole steps, cuBLAS and all.
part_sanitizer() {
  local sanitizer program tool
  need sanitizer tests/gpu 'test_*' || return 0
  sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer) || {
    record sanitizer compute-sanitizer skipped 0 "there is no compute-sanitizer here"
    return 0
  }
  for program in $(built tests/gpu 'test_*'); do
    for tool in memcheck racecheck synccheck initcheck; do
      run sanitizer "$tool-${program##*/}" - "$sanitizer" --tool "$tool" --error-exitcode 86 \
        "$program" --filenames-as-tags '[#kernels]'
    done
    run sanitizer "memcheck-steps-${program##*/}" - "$sanitizer" --tool memcheck --error-exitcode 86 \
      "$program" 'Toys of every kind*'
  done
}

part_bench() {
  local program
  need bench bench 'bench_cuda_*' || return 0
  for program in $(built bench 'bench_cuda_*'); do
    run bench "${program##*/bench_}" "$out/bench/${program##*/bench_}.json" "$program" --json --rounds 9
  done
}

# compare NAME OPTIONS...: PyTorch's step beside ours.
compare() {
  local name=$1
  shift
  run torch "$name" "$out/torch/$name.json" "$torch_python" "$top/bench/peers/torch_step.py" \
    --device cuda --against "$build/bench/bench_cuda_step" --rounds 9 --json "$@"
}

part_torch() {
  if [ -z "$torch_python" ] || ! "$torch_python" -c 'import torch' 2>/dev/null; then
    record torch torch skipped 0 "there is no torch here; FEEDRATE_TORCH_PYTHON names a Python that has it"
    return 0
  fi
  need torch bench bench_cuda_step || return 0
  compare mlp-bf16 --model mlp --batch 128 --precision bf16 --variants eager,compile --steps 200
  compare images-bf16 --model images --batch 256 --precision bf16 --format channels_last --steps 20
  compare mlp-fp32 --model mlp --batch 128 --precision fp32 --variants eager,compile --steps 200
}

# tune WORKLOAD BUDGET OPTIONS...
tune() {
  local workload=$1 budget=$2
  shift 2
  mkdir -p "$out/autotune"
  run autotune "$workload" - "$build/tuner/autotune" --device cuda --workload "$workload" \
    --budget "$budget" --no-progress --output "$out/autotune/$workload.json" "$@"
}

part_autotune() {
  need autotune tuner autotune || return 0
  tune images 25s
  tune tabular 8s --no-card
  tune small-images 8s --no-card
}
