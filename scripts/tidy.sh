#!/usr/bin/env bash
# clang-tidy over the sources: scripts/tidy.sh [FILE...] (default: all of src/). Slow: about ten seconds a file and core.
#
# It reads a compile database of its own (clang, no precompiled header: gcc's is not readable for it) in build/tidy.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
{
    cmake -S . -B build/tidy -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DDQ_BENCHMARKS=OFF
    # Headers that the build generates.
    cmake --build build/tidy --target dq_rust
} >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
if [[ $# == 0 ]]; then mapfile -t files < <(git ls-files 'src/*.cc' ':!src/*_benchmark.cc' ':!src/*_fuzz.cc'); else files=("$@"); fi
printf '%s\0' "${files[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy-14 -p build/tidy --quiet 2> >(grep -v 'warnings generated\.$' >&2)
