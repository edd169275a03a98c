#!/usr/bin/env bash
# Runs every check and test after a build, goes on when one fails, and ends with a summary.
set -uo pipefail
cd "$(dirname "$0")/.."
readonly logs=build/test-logs
mkdir -p "$logs"
failed=0
summary=()

# step NAME COMMAND...: shows the output, keeps it in a log, and notes result and time.
step() {
  local name=$1 start=$SECONDS result=ok
  shift
  printf '\n== %s\n' "$name"
  if ! "$@" 2>&1 | tee "$logs/$name.log"; then
    result=FAILED
    failed=1
  fi
  summary+=("$(printf '%-12s %-6s %4d s   %s' "$name" "$result" $((SECONDS - start)) "$(last_line "$name")")")
}

# The line of a log that says how many tests passed.
last_line() {
  grep -iE 'passed|failed|executions|rows|no targets|files clean|tests to|error' "$logs/$1.log" | tail -n 1 | cut -c 1-100
}

step check make --no-print-directory check
step onnx-tests make --no-print-directory onnx-tests
step unit ctest --test-dir build --output-on-failure -j "$(nproc)"
step fuzz make --no-print-directory fuzz FUZZ_SECONDS=60
step acceptance tools/acceptance.sh
step viewer make --no-print-directory viewer-tests
step python build/python/bin/python -m pytest tests/python
step backends build/python/bin/python tools/backend_tests.py current
step frameworks build/python/bin/python -m pytest tests/frameworks -m 'not old'
step faults env ASSAY_REAL_FAULTS=onnxruntime:30 build/assay_backends_test --gtest_brief=1 --gtest_filter='RealFaults.*'

printf '\n== summary\n'
printf '%s\n' "${summary[@]}"
tail -n 1 "$logs/backends.log"
exit "$failed"
