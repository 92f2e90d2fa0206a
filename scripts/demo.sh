#!/usr/bin/env bash
# One person, one machine: ingests the sample cars, decodes and serves them on 127.0.0.1, prints the addresses and one answered
# query. With a terminal it keeps serving until Enter is pressed; without one it stops by itself.
#
#   scripts/demo.sh [BINARY]     default build/release/dq
#
# The lake is made anew in DQ_DEMO_DIR (default .demo/) each time and left there.
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(realpath "${1:-build/release/dq}")
folder=$(realpath -m "${DQ_DEMO_DIR:-.demo}")
subject=did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:1
patience=120 # seconds until a step counts as failed

[[ -x $binary ]] || { echo "demo: $binary is not built: run make build" >&2; exit 1; }
# Only a folder that an earlier run made is emptied.
if [[ -e $folder && ! -e $folder/made-by-demo ]]; then echo "demo: $folder is not of an earlier demo, left alone" >&2; exit 1; fi
rm -rf "$folder"
mkdir -p "$folder"
touch "$folder/made-by-demo"
log=$folder/serve.log

# The usual port where it is free, else any free one.
port_near() {
    python3 - "$1" <<'PY'
import socket, sys
for port in (int(sys.argv[1]), 0):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        print(probe.getsockname()[1])
        break
PY
}
PORT=$(port_near 8080)
MON_PORT=$(port_near 8888)
GRPC_PORT=$(port_near 8086)
# Everything else is what --dev takes when nothing is set.
export PORT MON_PORT GRPC_PORT MATERIALIZER_ENABLED=true MATERIALIZER_POLL_INTERVAL=500ms
export DUCKLAKE_CATALOG_DSN=$folder/catalog.ducklake DUCKLAKE_DATA_PATH=$folder/data DUCKLAKE_READ_ONLY=false BLOB_BUCKET=

server=''
stop() {
    if [[ -n $server ]]; then
        kill -TERM "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
        server=''
    fi
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail() {
    echo "demo: $*; the end of $log:" >&2
    tail -n 20 "$log" >&2
    exit 1
}

# until_true WHAT COMMAND...: asks again and again, at most $patience seconds.
until_true() {
    local what=$1 end=$((SECONDS + patience))
    shift
    until "$@"; do
        kill -0 "$server" 2>/dev/null || fail "dq serve ended by itself"
        ((SECONDS < end)) || fail "$what: not within $patience s"
        sleep 0.1
    done
}

read_token() { token=$(sed -n 's/^development token: //p' "$log" | head -n 1) && [[ -n $token ]]; }
ready() { curl -fsS -o /dev/null "http://127.0.0.1:$PORT/ready" 2>/dev/null; }

query='query ($subject: String!, $from: Time!, $to: Time!) {
  dataSummary(subject: $subject) { numberOfSignals firstSeen lastSeen }
  signalsLatest(subject: $subject) {
    speed { timestamp value }
    powertrainFuelSystemRelativeLevel { value }
    powertrainTransmissionTravelledDistance { value }
    currentLocationCoordinates { value { latitude longitude } }
  }
  signals(subject: $subject, interval: "24h", from: $from, to: $to) {
    timestamp
    highestSpeed: speed(agg: MAX)
    kilometres: powertrainTransmissionTravelledDistance(agg: LAST)
  }
  events(subject: $subject, from: $from, to: $to) { timestamp name }
}'
variables="{\"subject\": \"$subject\", \"from\": \"2026-10-05T00:00:00Z\", \"to\": \"2026-10-09T00:00:00Z\"}"
ask() {
    python3 -c 'import json, sys; print(json.dumps({"query": sys.argv[1], "variables": json.loads(sys.argv[2])}))' "$query" "$variables" |
        curl -fsS -H 'Content-Type: application/json' -H "Authorization: Bearer $token" --data-binary @- "http://127.0.0.1:$PORT/query"
}
# The last drive of the sample is in the answer.
answered() { answer=$(ask 2>/dev/null) && [[ $answer == *'"lastSeen":"2026-10-08T'* && $answer != *'"errors"'* ]]; }

echo "demo: starting dq serve --dev (log: $log)"
"$binary" serve --dev --dev-subject "$subject" >"$log" 2>&1 </dev/null &
server=$!
token='' answer=''
until_true "the development token" read_token
until_true "readiness" ready
echo "demo: ingesting data/sample"
"$binary" ingest --trust-source --to "http://127.0.0.1:$PORT" data/sample/*.ndjson.gz >"$folder/ingest.log" 2>&1 </dev/null ||
    { cat "$folder/ingest.log" >&2; fail "dq ingest failed"; }
tail -n 1 "$folder/ingest.log"
until_true "the sample in the answer" answered

cat <<TEXT

GraphQL      http://127.0.0.1:$PORT/query
Playground   http://127.0.0.1:$PORT/
Readiness    http://127.0.0.1:$PORT/ready
Metrics      http://127.0.0.1:$MON_PORT/metrics
Token        $token
             (Authorization: Bearer …; good for $subject, this machine only)

$query
$variables

TEXT
python3 -m json.tool <<<"$answer"

if [[ -t 0 ]]; then
    read -r -p $'\nServing. Press Enter to stop. ' _ || true
fi
stop
echo "demo: stopped; the lake is in $folder"
