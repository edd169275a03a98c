#!/usr/bin/env bash
# usage: [FUZZ_SEED=N] fuzz.sh SECONDS
# Runs each libFuzzer target of build/fuzz, SECONDS in all, from the small models of build/onnx-tests
# and what earlier runs have found. The random numbers are the same every time unless FUZZ_SEED says
# otherwise (0: by the clock), so that a machine that tests does not find what its change did not
# bring. An input that fails is kept in build/fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/.."

shopt -s nullglob
sources=(tests/fuzz/*_fuzz.cpp)
if [ "${#sources[@]}" -eq 0 ]; then
  echo "fuzz: no targets"
  exit 0
fi

# A large seed slows every mutation of it; the operators are all in the small ones.
readonly seeds=build/fuzz/seeds
if [ ! -d "$seeds" ]; then
  mkdir -p "$seeds.new"
  find build/onnx-tests -name model.onnx -size -8k | while read -r model; do
    folder=${model%/model.onnx}
    cp "$model" "$seeds.new/${folder##*/}.onnx"
  done
  mv "$seeds.new" "$seeds"
fi

# None at all would mean without end.
readonly seconds=$((1 + ($1 - 1) / ${#sources[@]}))
mkdir -p build/fuzz/findings
for source in "${sources[@]}"; do
  name=$(basename "$source" .cpp)
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  # Inputs that once failed, or that are no models, are seeds of a target's own.
  own=("$seeds")
  [ -d "tests/fuzz/${name}_seeds" ] && own+=("tests/fuzz/${name}_seeds")
  log=build/fuzz/$name.log
  if ! "build/fuzz/$name" -seed="${FUZZ_SEED:-1}" -max_total_time="$seconds" -max_len=65536 -timeout=20 -rss_limit_mb=3072 \
    -print_final_stats=1 -artifact_prefix=build/fuzz/findings/"$name"- \
    "$corpus" "${own[@]}" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "fuzz: $name failed; the input is in build/fuzz/findings"
    exit 1
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "fuzz: $name, ${runs:-0} executions in $seconds s, nothing found"
done
