#!/usr/bin/env bash
# Runs a command beside a PostgreSQL server of its own and ends with that command's exit code.
#
#   scripts/with-postgres.sh COMMAND [ARGUMENT...]
#
# The server listens on 127.0.0.1 only, on a free port, trusts that address, keeps its data in a temporary folder, and is stopped
# and its folder deleted however the command ends. The command finds it in DQ_TEST_POSTGRES_DSN (keyword form).
set -euo pipefail

die() {
    printf 'with-postgres: %s\n' "$*" >&2
    exit 1
}
[[ $# -gt 0 ]] || die "usage: $0 COMMAND [ARGUMENT...]"

bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
[[ -x $bin/postgres ]] || bin=$(dirname "$(command -v postgres || true)")
[[ -x $bin/postgres && -x $bin/initdb ]] || die "PostgreSQL's server programs are missing: run scripts/setup.sh"

# PostgreSQL refuses to run as root. With --pdeathsig it stops too when this script is killed outright.
as_server_user=(setpriv --pdeathsig INT)
if [[ $(id -u) == 0 ]]; then as_server_user+=(--reuid=postgres --regid=postgres --init-groups); fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/dq-postgres-XXXXXX")
server=''
child=''
stop() {
    trap - EXIT
    trap '' INT TERM HUP
    if [[ -n $child ]]; then
        kill -TERM "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    if [[ -n $server ]]; then
        kill -INT "$server" 2>/dev/null || true # INT: drop the sessions that are left and stop at once
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$folder/data"
if [[ $(id -u) == 0 ]]; then chown -R postgres:postgres "$folder"; fi
cd "$folder" # the server's user may not read the folder we were called in
"${as_server_user[@]}" "$bin/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$folder/initdb.log" 2>&1 ||
    { cat "$folder/initdb.log" >&2; die "initdb failed"; }
cd "$OLDPWD"

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Another process may take the port between the question and the start: ask again then.
start_server() {
    port=$(free_port)
    # Durability against power loss is off: the folder dies with the run, and tests kill dq, never this machine.
    (cd "$folder" && exec "${as_server_user[@]}" "$bin/postgres" -D "$folder/data" -p "$port" -k "$folder" \
        -c listen_addresses=127.0.0.1 -c max_connections=200 -c fsync=off -c synchronous_commit=off -c full_page_writes=off) \
        >"$folder/server.log" 2>&1 </dev/null &
    server=$!
    for _ in $(seq 300); do
        if "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" -U postgres; then return 0; fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    kill -INT "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=''
    return 1
}
start_server || start_server || start_server || { cat "$folder/server.log" >&2; die "PostgreSQL did not start"; }

export DQ_TEST_POSTGRES_DSN="host=127.0.0.1 port=$port user=postgres dbname=postgres"
# In the background so that a signal to this script is acted on at once; its own input is handed on.
"$@" <&0 &
child=$!
code=0
wait "$child" || code=$?
child=''
exit "$code"
