#!/usr/bin/env bash
# Shows the main jobs on a real model and on the standard's own tests.
set -euo pipefail
cd "$(dirname "$0")/.."

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

model=$(build/python/bin/python -c \
  'import importlib.util as u; print(u.find_spec("magika").submodule_search_locations[0])')
model=$(find "$model" -name '*.onnx' | sort | head -n 1)

show build/assay --version
show build/assay inspect "$model"
show build/assay validate "$model"
show build/assay run "$model" --random
show build/assay conformance build/onnx-tests/node
