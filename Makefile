# Everything a person or CI runs; `make help` lists it. Each target installs what it needs first (scripts/setup.sh, < 1 s when
# nothing is missing).
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)

.PHONY: help setup build demo test check lint tidy format clean asan tsan fuzz coverage bench

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup:
	@scripts/setup.sh

build: setup ## Build the release binary: build/release/dq
	@scripts/build.sh release

demo: build ## Ingest the sample drive, serve it on 127.0.0.1 and answer one query
	@scripts/demo.sh

test: build ## Everything CI runs: all tests, beside a PostgreSQL of their own
	@scripts/setup.sh --python
	@scripts/test.sh release

check: build ## The fast tests only (no PostgreSQL, no lake on disk beyond temporary folders)
	@ctest --preset release -L unit -j $(JOBS)

lint: setup ## Formatting, layers, headers that stand alone, lengths, left-over marks (make tidy: clang-tidy)
	@scripts/setup.sh --python
	@scripts/lint.sh

tidy: setup ## clang-tidy over all sources (slow)
	@scripts/build.sh dev dq
	@scripts/tidy.sh

format: setup ## Format all C++ sources
	@git ls-files -z 'src/*.cc' 'src/*.h' 'tests/*.cc' 'tests/*.h' 'bench/*.cc' | xargs -0r clang-format-14 -i

asan: setup ## All tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup.sh --python
	@scripts/build.sh asan
	@scripts/test.sh asan

tsan: setup ## All tests under ThreadSanitizer
	@scripts/setup.sh --python
	@scripts/build.sh tsan
	@scripts/test.sh tsan

fuzz: setup ## Each fuzz target for FUZZ_SECONDS (60)
	@scripts/build.sh fuzz
	@scripts/fuzz.sh $${FUZZ_SECONDS:-60}

coverage: setup ## Tests with line counts; prints the coverage of each folder of src/
	@scripts/setup.sh --python
	@scripts/build.sh coverage
	@scripts/test.sh coverage
	@scripts/coverage.py build/coverage

bench: build ## The google-benchmark programs
	@for program in build/release/src/*/dq_*_benchmark; do "$$program" --benchmark_min_time=0.2; done

clean: ## Delete what was built (.deps/ stays)
	@rm -rf build .demo compile_commands.json
