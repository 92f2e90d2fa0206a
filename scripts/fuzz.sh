#!/usr/bin/env bash
# Runs each fuzz target for some seconds: scripts/fuzz.sh SECONDS. A crash leaves its input beside the target and ends the run.
set -euo pipefail
cd "$(dirname "$0")/../build/fuzz"
seconds=${1:?usage: $0 SECONDS}
mapfile -t targets < <(find . -name '*_fuzz' -type f -executable | sort)
[[ ${#targets[@]} -gt 0 ]] || { echo "fuzz: no target was built" >&2; exit 1; }
for target in "${targets[@]}"; do
    echo "fuzz: $target for $seconds s"
    mkdir -p "$target.corpus"
    "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 "$target.corpus" 2>"$target.log" ||
        { tail -n 60 "$target.log" >&2; exit 1; }
    grep -E 'stat::(number_of_executed_units|new_units_added)' "$target.log"
done
