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

echo
echo 'A softmax cross-entropy written by hand, before anything is trained: what can fail for pixels in'
echo '[0, 255], with values that make it fail, and what makes it safe. And if it were float16?'
show_finding build/assay lint build/demo/cross_entropy.onnx --ranges build/demo/cross_entropy.json \
  --report build/demo/cross_entropy.html
show_finding build/assay lint build/demo/cross_entropy.onnx --ranges build/demo/cross_entropy.json \
  --as f16

show build/assay conformance build/onnx-tests/node

echo
echo 'Frameworks run as processes, in any release. One fuses Pad into AveragePool wrongly, and only'
echo 'while nobody watches. Which pass, which releases, and a script that shows it:'
export ASSAY_HOME=${ASSAY_HOME:-$PWD/build/backends}
show build/assay backends install onnxruntime onnxruntime-1.20.1 onnx-reference
show_finding build/assay compare build/demo/padded_pool.onnx --random \
  --backends reference,onnxruntime-1.20.1,onnxruntime --bisect onnxruntime 1.19..1.22 \
  --output build/demo/padded_pool --report build/demo/padded_pool.html

echo
echo 'A real network for reading text: the evaluator of the onnx package gets six of its nodes wrong.'
model=$(build/python/bin/python tools/real_models.py ppocr_rec build/demo/ppocr_rec.npz)
show_finding build/assay compare "$model" --data build/demo/ppocr_rec.npz \
  --backends onnx-reference,onnxruntime --output build/demo/ppocr_rec \
  --report build/demo/ppocr_rec.html

echo
echo 'Two files of one network, exported differently, and two that only look like it:'
silero() { build/python/bin/python tools/real_models.py "$1" "build/demo/$1.npz"; }
vad=$(silero silero_vad)
show build/assay compare "$vad" "$(silero silero_vad_op18_ifless)" --data build/demo/silero_vad.npz
op15=$(silero silero_vad_16k_op15)
show_finding build/assay compare "$op15" "$(silero silero_vad_half)" \
  --data build/demo/silero_vad_16k_op15.npz

echo
echo 'Open the reports in a browser: build/demo/cross_entropy.html, build/demo/padded_pool.html,'
echo 'build/demo/ppocr_rec.html'
