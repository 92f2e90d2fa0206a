#!/usr/bin/env python3
"""Check that each header of src/ compiles alone: check_headers.py [HEADER...]

Headers that the build generates are taken from build/release. ccache makes a second run quick.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
ENGINE = pathlib.Path(os.environ.get("DUCKDB_ROOT", ROOT / ".deps" / "duckdb"))


def compile_alone(header, folder):
    source = folder / (str(header.relative_to(ROOT)).replace("/", "_") + ".cc")
    text = f'#include "{header.relative_to(ROOT / "src")}"\n'
    if not source.exists() or source.read_text() != text:
        source.write_text(text)
    compiled = source.with_suffix(f".{os.getpid()}.o")
    launcher = ["ccache"] if shutil.which("ccache") else []
    command = [*launcher, "g++", "-std=c++20", "-c", "-O0", "-w", "-I", str(ROOT / "src"), "-I", str(BUILD),
               "-isystem", str(BUILD / "rust" / "bridge"), "-isystem", str(ENGINE / "include"), "-isystem", str(ENGINE),
               str(source), "-o", str(compiled)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CCACHE_NOHASHDIR": "1"})
    compiled.unlink(missing_ok=True)
    return None if done.returncode == 0 else f"{header.relative_to(ROOT)}: does not compile alone\n{done.stderr[:1500]}"


def main():
    headers = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or sorted((ROOT / "src").glob("*/*.h"))
    # Under the same names each time, so that ccache knows the sources again.
    folder = ROOT / "build" / "headers"
    folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(lambda header: compile_alone(header, folder), headers) if text]
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
