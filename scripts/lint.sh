#!/usr/bin/env bash
# Everything that can be judged without running dq: scripts/lint.sh [--changed]
#
# --changed looks only at the C++ files that differ from HEAD (formatting and stand-alone headers; the other checks are quick and
# always see all files). Every check runs; the exit code is 1 when one of them found something. clang-tidy: scripts/tidy.sh.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
failed=0

check() { # check NAME COMMAND...
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        printf 'lint: %-22s ok\n' "$name"
    else
        printf 'lint: %-22s FAILED\n%s\n' "$name" "$output"
        failed=1
    fi
}

if [[ ${1-} == --changed ]]; then
    list() { { git diff --name-only --diff-filter=d HEAD -- "$@"; git ls-files --others --exclude-standard -- "$@"; } | sort -u; }
else
    list() { git ls-files --cached --others --exclude-standard -- "$@"; }
fi
mapfile -t sources < <(list 'src/*.cc' 'src/*.h' 'tests/*.cc' 'tests/*.h' 'bench/*.cc')
mapfile -t headers < <(list 'src/*.h')
mapfile -t scripts < <(git ls-files --cached --others --exclude-standard -- '*.sh' .ci/run)
mapfile -t pythons < <(git ls-files --cached --others --exclude-standard -- '*.py')

if [[ ${#sources[@]} -gt 0 ]]; then check formatting clang-format-14 --dry-run -Werror "${sources[@]}"; fi
check layers scripts/check_layers.py
check text scripts/check_text.py
if [[ ${#headers[@]} -gt 0 ]]; then check "headers stand alone" scripts/check_headers.py "${headers[@]}"; fi
check "shell scripts" shellcheck --severity=warning "${scripts[@]}"
check "python compiles" python3 -c 'import ast, sys; [ast.parse(open(name).read(), name) for name in sys.argv[1:]]' "${pythons[@]}"
exit "$failed"
