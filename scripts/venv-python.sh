#!/usr/bin/env bash
# The Python that has the packages of the test drivers: scripts/venv-python.sh SCRIPT [ARGUMENT...]
set -euo pipefail
python=$(dirname "$0")/../.deps/venv/bin/python3
[[ -x $python ]] || { echo "$python is missing: run scripts/setup.sh --python" >&2; exit 1; }
exec "$python" "$@"
