#!/usr/bin/env python3
"""Check what can be seen in the text of the files that git tracks (or would track).

Lengths, a README per folder of src/, engine calls outside engine/, left-over marks, and words that have no place in the project.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE_LINES, TEST_LINES, README_LINES, COLUMNS = 600, 800, 40, 120

RAW_ENGINE_CALL = re.compile(r"\bduckdb_[a-z_0-9]+\s*\((?!\))")  # duckdb_tables() and the like are SQL
MARK = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"]) + r")\b")
# Words are put together here so that this file passes its own check.
FOREIGN = re.compile(
    "|".join([
        r"(?<![\w.])/" + r"work/", r"/tmp/" + r"w/", r"/ro" + r"ot/",
        r"registry\.npm" + r"js", r"py" + r"pi\.org", r"python" + r"hosted", r"crates" + r"\.io", r"deb\." + r"debian",
        r"\bcl" + r"aude\b", r"\banthr" + r"opic\b", r"\bopen" + r"ai\b", r"\bchat" + r"gpt\b", r"\bcopi" + r"lot\b",
        r"\blanguage " + r"model\b",
    ]),
    re.IGNORECASE)
# Lock files name their registry by format.
LOCK_FILES = {"Cargo.lock", "package-lock.json"}


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True).stdout.decode().split("\0")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def text_of(file):
    data = file.read_bytes()
    return None if b"\0" in data[:8192] or file.suffix == ".gz" else data.decode("utf-8", "replace")


def is_test(file):
    return re.search(r"_(test|testing)\.(cc|h)$", file.name) or file.relative_to(ROOT).parts[0] == "tests"


def problems_of(file, text):
    name = file.relative_to(ROOT)
    lines = text.split("\n")
    cpp = file.suffix in {".cc", ".h"}
    if cpp or file.suffix in {".rs", ".py"}:
        limit = TEST_LINES if is_test(file) else SOURCE_LINES
        if len(lines) > limit:
            yield f"{name}: {len(lines)} lines, the limit is {limit}"
    if file.name == "README.md" and name.parts[0] == "src" and len(lines) > README_LINES + 1:
        yield f"{name}: {len(lines) - 1} lines, the limit is {README_LINES}"
    for number, line in enumerate(lines, 1):
        if cpp and len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, the limit is {COLUMNS}"
        if cpp and name.parts[:2] != ("src", "engine") and RAW_ENGINE_CALL.search(line):
            yield f"{name}:{number}: a raw engine call outside src/engine"
        if name.parts[0] not in {"data"} and MARK.search(line):
            yield f"{name}:{number}: a left-over mark"
        if file.name not in LOCK_FILES and FOREIGN.search(line):
            yield f"{name}:{number}: a machine path, registry host or tool that has no place here"


def main():
    problems = []
    for file in tracked():
        text = text_of(file)
        if text is not None:
            problems.extend(problems_of(file, text))
    for folder in sorted(path for path in (ROOT / "src").iterdir() if path.is_dir()):
        if not (folder / "README.md").is_file():
            problems.append(f"src/{folder.name}: no README.md")
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
