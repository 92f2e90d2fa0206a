#!/usr/bin/env bash
# Runs all tests of a built preset beside a PostgreSQL of their own: scripts/test.sh PRESET [ARGUMENT of ctest...]
#
# Tests run two at a time; one that must run alone says so with the property RUN_SERIAL. The whole run is ended after
# DQ_TEST_BOUND seconds (default 3600), so that a hang is a failure and not a wait. The last line is ctest's verdict.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: $0 PRESET [ARGUMENT of ctest...]}
shift
bound=${DQ_TEST_BOUND:-3600}

export TSAN_OPTIONS="suppressions=$PWD/scripts/tsan.suppressions ${TSAN_OPTIONS-}"
export LSAN_OPTIONS="suppressions=$PWD/scripts/lsan.suppressions ${LSAN_OPTIONS-}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
# With --pdeathsig the server and the tests end too when this script alone is killed.
setpriv --pdeathsig TERM scripts/with-postgres.sh timeout --signal=TERM --kill-after=30 "$bound" \
    ctest --preset "$preset" --no-tests=error --no-label-summary -j 2 "$@" </dev/null 2>&1 | tee "$log" || code=$?
if [[ $code == 124 || $code == 137 ]]; then echo "test: ended after $bound s, the bound of a whole run" >&2; fi
grep -E '^[0-9]+% tests passed' "$log" | tail -n 1 || true
exit "$code"
