#!/usr/bin/env bash
# Shows the main jobs on a real model and on the standard's own tests.
set -euo pipefail
cd "$(dirname "$0")/.."

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

# A command that is meant to find something and then exits with 1.
show_finding() {
  show "$@" || [ $? -eq 1 ]
}

model=$(build/python/bin/python -c \
  'import importlib.util as u; print(u.find_spec("magika").submodule_search_locations[0])')
model=$(find "$model" -name '*.onnx' | sort | head -n 1)

show build/assay --version
show build/assay inspect "$model"
show build/assay validate "$model"
show build/assay run "$model" --random
build/python/bin/python examples/make.py build/demo
echo
echo 'A NaN whose cause shows in no output, and a window that does not fit:'
show build/assay run build/demo/hidden_nan.onnx --random
show_finding build/assay validate build/demo/too_large.onnx

echo
echo 'What any honest float evaluation may give, and what others are known to compute instead:'
show build/assay run build/demo/pool.onnx --random --bounds
show build/assay ops AveragePool

show build/assay conformance build/onnx-tests/node
