# `make help` lists what can be done; everything sets up what it needs first.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
PYTHON := build/python/bin/python
CLANG_FORMAT := clang-format-16
UV = $(shell command -v uv || echo build/uv/bin/uv)

# Files that git has or would take, so that a new file is checked before it is committed.
cpp_files = $(shell git ls-files -co --exclude-standard '*.cpp' '*.h' | while read -r f; do [ -e "$$f" ] && echo "$$f"; done)
fuzz_targets = $(notdir $(basename $(wildcard tests/fuzz/*_fuzz.cpp)))
python_folders = $(wildcard tools tests/python tests/frameworks bench examples)

.DEFAULT_GOAL := help
.PHONY: help demo test legacy-test build setup check tidy format install onnx-tests unit python-tests \
        acceptance viewer-tests picture backend-tests faults asan bench planted fuzz docs lock clean

# Frameworks that the tests install live and die with the build folder.
export ASSAY_HOME ?= $(CURDIR)/build/backends

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: build onnx-tests ## Set up, build, and show what Assay does
	@tools/demo.sh

test: build ## Set up, build, and run every check and test
	@tools/run_tests.sh

legacy-test: build onnx-tests ## Install the old releases of frameworks and test them
	@$(PYTHON) tools/backend_tests.py legacy
	@$(PYTHON) -m pytest tests/frameworks -m old

build: setup ## Set up and build build/assay and the tests
	@[ -f build/build.ninja ] || cmake --preset release
	@ninja -C build -j $(JOBS)

setup: ## Install what is missing: packages, uv, build/python
	@tools/setup.sh

check: setup ## Formatting, clang-tidy on changed files, ruff, mypy
	@[ -z "$(cpp_files)" ] || $(CLANG_FORMAT) --dry-run -Werror $(cpp_files)
	@$(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m ruff format --quiet --check .
	@$(PYTHON) -m mypy --no-error-summary $(python_folders)
	@[ -f build/build.ninja ] || cmake --preset release
	@ninja -C build --quiet generated/onnx.pb.h generated/protocol.pb.h generated/tensorflow.pb.h generated/onnx_schemas.inc generated/viewer_page.inc
	@$(PYTHON) tools/tidy.py --changed --seconds 120 --jobs $(JOBS)

tidy: build ## clang-tidy on every file (only what changed since the last time)
	@$(PYTHON) tools/tidy.py --jobs $(JOBS)

format: setup ## Format all C++ and Python files
	@[ -z "$(cpp_files)" ] || $(CLANG_FORMAT) -i $(cpp_files)
	@$(PYTHON) -m ruff check --quiet --fix . || true
	@$(PYTHON) -m ruff format --quiet .

install: build ## Install the program and its shell completions under PREFIX
	@cmake --install build --prefix $(PREFIX)

onnx-tests: setup ## Write the suites of the pinned onnx package to build/onnx-tests
	@$(PYTHON) tools/write_onnx_tests.py

unit: build ## The C++ tests
	@ctest --test-dir build --output-on-failure -j $(JOBS)

python-tests: build onnx-tests ## The Python tests
	@$(PYTHON) -m pytest tests/python

viewer-tests: build ## The report's page: types, units, and Chromium on real reports
	@$(PYTHON) tools/viewer_reports.py
	@npm --prefix viewer run --silent check
	@npm --prefix viewer test --silent

picture: build ## Take the picture of a report again, docs/report.png
	@$(PYTHON) tools/viewer_reports.py
	@cd viewer && node_modules/.bin/vite-node screenshot.mjs -- ../build/viewer/classifier.html ../docs/report.png

backend-tests: build onnx-tests ## Install the frameworks and test a sample on each
	@$(PYTHON) tools/backend_tests.py current

faults: build ## 10,000 faults in workers, 300 of them in real frameworks
	@ASSAY_FAULTS=9700 build/assay_backends_test --gtest_filter='Faults.*'
	@build/assay backends install onnxruntime jax torch >/dev/null
	@ASSAY_REAL_FAULTS=onnxruntime:200,jax:50,torch:50 build/assay_backends_test --gtest_filter='RealFaults.*'

acceptance: build onnx-tests ## The rows of .ci/acceptance, where ../shared has the checks
	@tools/acceptance.sh

asan: setup ## Build and run the C++ tests with address and undefined-behavior sanitizers
	@cmake --preset asan >/dev/null && ninja -C build/asan -j $(JOBS)
	@ctest --test-dir build/asan --output-on-failure -j $(JOBS)

fuzz: setup onnx-tests ## Run the libFuzzer targets for FUZZ_SECONDS (default 60) in all
	@cmake --preset fuzz >/dev/null && ninja -C build/fuzz -j $(JOBS) $(fuzz_targets)
	@tools/fuzz.sh $(FUZZ_SECONDS)

bench: build onnx-tests ## Measure speed and memory against onnx.reference and ONNX Runtime
	@$(PYTHON) bench/run.py
	@$(PYTHON) bench/backends.py pipe
	@$(PYTHON) bench/compare.py
	@$(PYTHON) bench/keras_cases.py

planted: build ## Plant defects in real models and count how many are found, and where
	@build/assay backends install torch >/dev/null
	@$(PYTHON) bench/planted.py --reduce 3

docs: build ## Write the references of operators and layers, docs/operators.md and docs/layers.md
	@build/assay ops --markdown > docs/operators.md
	@build/assay ops --layers --markdown > docs/layers.md

lock: setup ## Pin the newest Python packages that requirements*.in allow
	@$(UV) pip compile --quiet --no-header --universal --python-version 3.11 --upgrade requirements.in -o requirements.txt
	@$(UV) pip compile --quiet --no-header --universal --python-version 3.11 --upgrade --no-deps requirements-models.in -o requirements-models.txt

clean: ## Remove everything that was built
	rm -rf build
