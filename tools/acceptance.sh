#!/usr/bin/env bash
# Runs the rows of the acceptance check that .ci/acceptance names, where that check exists.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly check=../shared/acceptance/check.py

mapfile -t rows < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' .ci/acceptance)
if [ "${#rows[@]}" -eq 0 ]; then
  echo "acceptance: no rows yet"
elif [ ! -f "$check" ]; then
  echo "acceptance: $check is not here; ${#rows[@]} rows not measured"
else
  build/python/bin/python "$check" "${rows[@]}"
fi
