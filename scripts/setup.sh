#!/usr/bin/env bash
# Installs what building and testing dq need and is not there yet. Running it again changes nothing and takes less than a second.
#
#   scripts/setup.sh            Debian packages, the engine's library, header and extensions (under .deps/)
#   scripts/setup.sh --python   also .deps/venv with the Python packages of the test drivers
#
# DUCKDB_ROOT (lib/libduckdb.so, include/duckdb.h) and DUCKDB_EXTENSION_DIR (*.duckdb_extension), when set, name ready-made
# parts of the same version and skip theirs. Everything fetched is compared with scripts/deps.sha256 before it is kept.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly engine_version=1.5.5
readonly engine_package=@duckdb/node-bindings-linux-x64@1.5.5-r.5
readonly header_crate=libduckdb-sys header_crate_version=1.10505.0
readonly extensions=(ducklake postgres_scanner httpfs aws)
readonly rust_minimum=1.88
readonly sums=$PWD/scripts/deps.sha256

say() { printf 'setup: %s\n' "$*"; }
die() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

need() { # need COMMAND ADVICE
    command -v "$1" >/dev/null 2>&1 || die "$1 is missing: $2"
}

check_platform() {
    [[ $(uname -s) == Linux && $(uname -m) == x86_64 ]] ||
        die "only Linux on x86_64 is supported, this is $(uname -s) on $(uname -m): the prebuilt engine exists for it alone"
    getconf GNU_LIBC_VERSION >/dev/null 2>&1 ||
        die "this system does not use glibc, which the prebuilt engine needs"
}

missing_debian_packages() {
    sed 's/#.*//' scripts/apt-packages.txt | tr -s ' \n' '\n' | grep . | sort >"$work/wanted"
    # dpkg-query exits 1 when it does not know a package; what it prints of the others still counts.
    xargs dpkg-query -W -f='${db:Status-Status} ${Package}\n' <"$work/wanted" 2>/dev/null |
        sed -n 's/^installed //p' | sort >"$work/installed" || true
    comm -23 "$work/wanted" "$work/installed" | paste -sd' '
}

install_debian_packages() {
    if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
        say "apt is missing, so this is no Debian system: the packages of scripts/apt-packages.txt must be there already"
        return
    fi
    local missing
    missing=$(missing_debian_packages)
    [[ -n $missing ]] || return 0
    [[ $(id -u) == 0 ]] || die "not root, so nothing was installed; as root run: apt-get install -y $missing"
    say "installing Debian packages: $missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086  # the list is words on purpose
    apt-get install -y -qq --no-install-recommends $missing >"$work/apt.log" 2>&1 </dev/null ||
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >>"$work/apt.log" 2>&1 </dev/null ||
        { cat "$work/apt.log" >&2; die "apt-get could not install: $missing"; }
}

check_rust() {
    need cargo "install Rust $rust_minimum or later (rustup; Debian 12's own cargo is too old)"
    local have
    have=$(cargo --version | awk '{print $2}')
    [[ $(printf '%s\n' "$rust_minimum" "$have" | sort -V | head -n 1) == "$rust_minimum" ]] ||
        die "cargo $have is too old: install Rust $rust_minimum or later (rustup)"
}

# complete PREFIX: the files of .deps/PREFIX are there and were verified against the sums in force.
complete() {
    local stamp=.deps/.verified-$1
    [[ -f $stamp ]] && cmp -s "$stamp" <(grep "  $1/" "$sums") || return 1
    local file
    while read -r _ file; do [[ -s .deps/$file ]] || return 1; done <"$stamp"
}

# verified DIR PREFIX: the files of DIR/PREFIX have the sums in force.
verified() { (cd "$1" 2>/dev/null && grep "  $2/" "$sums" | sha256sum --check --status 2>/dev/null); }

# keep PREFIX: moves $work/new/PREFIX to .deps once its sums agree.
keep() {
    verified "$work/new" "$1" || die "the files fetched for .deps/$1 do not have the sums of scripts/deps.sha256: nothing was kept"
    mkdir -p .deps
    rm -rf ".deps/$1"
    mv "$work/new/$1" ".deps/$1"
    stamp "$1"
}

stamp() { grep "  $1/" "$sums" >".deps/.verified-$1"; }

fetch_engine() {
    say "fetching DuckDB $engine_version: library (npm), header (cargo)"
    need npm "it fetches the engine's library; install npm, or set DUCKDB_ROOT to a DuckDB $engine_version"
    mkdir -p "$work/npm" "$work/crate" "$work/new/duckdb/lib" "$work/new/duckdb/include"
    (cd "$work/npm" && npm pack --silent "$engine_package" >/dev/null) || die "npm could not fetch $engine_package"
    tar -xzf "$work"/npm/*.tgz -C "$work/new/duckdb/lib" --strip-components=1 package/libduckdb.so

    cat >"$work/crate/Cargo.toml" <<-TOML
	[package]
	name = "header"
	version = "0.0.0"
	edition = "2021"
	[lib]
	path = "lib.rs"
	[dependencies]
	$header_crate = { version = "=$header_crate_version", default-features = false }
	TOML
    touch "$work/crate/lib.rs"
    cargo fetch --quiet --manifest-path "$work/crate/Cargo.toml" || die "cargo could not fetch $header_crate $header_crate_version"
    local sources archive=
    sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
    archive=$(find "$sources" -path "*/$header_crate-$header_crate_version/duckdb.tar.gz" -print -quit)
    [[ -n $archive ]] || die "$header_crate $header_crate_version holds no duckdb.tar.gz under $sources"
    tar -xzf "$archive" -C "$work/new/duckdb/include" --strip-components=3 duckdb/src/include/duckdb.h
    keep duckdb
}

fetch_extensions() {
    say "fetching the engine's extensions (pip): ${extensions[*]}"
    python3 -m pip --version >/dev/null 2>&1 ||
        die "pip is missing: install python3-pip, or set DUCKDB_EXTENSION_DIR to a folder of DuckDB $engine_version extensions"
    mkdir -p "$work/wheels" "$work/new/extensions"
    python3 -m pip download --quiet --no-deps --dest "$work/wheels" \
        "${extensions[@]/#/duckdb-extension-}" --constraint <(printf "duckdb-extension-%s==$engine_version\n" "${extensions[@]}") ||
        die "pip could not fetch the extensions"
    local wheel
    for wheel in "$work"/wheels/*.whl; do
        unzip -q -j -o "$wheel" '*.duckdb_extension' -d "$work/new/extensions"
    done
    keep extensions
}

# A part that is there but was not verified yet (copied by hand, other sums before) is verified once, and kept when it agrees.
install_part() { # install_part PREFIX FETCH
    complete "$1" && return
    if verified .deps "$1"; then stamp "$1"; else "$2"; fi
}

install_python() {
    local stamp=.deps/venv/requirements.txt
    cmp -s scripts/requirements.txt "$stamp" && [[ -x .deps/venv/bin/python3 ]] && return
    say "making .deps/venv with the Python packages of the test drivers"
    rm -rf .deps/venv
    mkdir -p .deps
    python3 -m venv .deps/venv || die "python3 cannot make a virtual environment: install python3-venv"
    .deps/venv/bin/python3 -m pip install --quiet --requirement scripts/requirements.txt || die "pip could not install scripts/requirements.txt"
    cp scripts/requirements.txt "$stamp"
}

with_python=false
case ${1-} in
    '') ;;
    --python) with_python=true ;;
    *) die "unknown argument $1 (only --python)" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check_platform
install_debian_packages
check_rust
if [[ -z ${DUCKDB_ROOT-} ]]; then install_part duckdb fetch_engine; fi
if [[ -z ${DUCKDB_EXTENSION_DIR-} ]]; then install_part extensions fetch_extensions; fi
if $with_python; then install_python; fi
