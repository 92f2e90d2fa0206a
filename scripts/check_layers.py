#!/usr/bin/env python3
"""Check that data only walks down: who includes whom, and who may write SQL.

LAYERS is the table of docs/design.md: a folder of src/ may include the folders behind its arrow, and theirs. What a folder links
(DEPS in its CMakeLists.txt) must lie inside that, and what it includes must lie inside what it links.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

LAYERS = {
    "core": "",
    "settings": "core",
    "engine": "core settings",
    "cloudevent": "core",
    "vss": "core",
    "lake": "engine cloudevent",
    "blob": "core settings",
    "ingest": "lake blob",
    "decode": "cloudevent vss",
    "rollup": "lake",
    "latest": "core vss settings",
    "materialize": "decode rollup lake blob latest",
    "bench": "materialize",
    "maintain": "lake",
    "query": "lake latest vss",
    "segments": "core vss",
    "auth": "core vss",
    "graphql": "core",
    "api": "query segments auth graphql blob ingest",
    "http": "core",
    "grpc": "core",
    "app": "core settings engine cloudevent vss lake blob ingest decode rollup latest materialize bench maintain query segments"
           " auth graphql api http grpc",
}
# Below the table: these never see a folder that the table would allow them through another one.
NEVER = {"api": {"engine"}, "segments": {"engine", "lake"}}
# SQL is written only here; engine/ prepares its own sessions.
MAY_WRITE_SQL = {"engine", "lake", "rollup", "query", "bench", "maintain", "ingest"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/[^"]+"', re.MULTILINE)
DEPS = re.compile(r"dq_folder\(\s*(\w+)([^)]*)\)", re.DOTALL)
SQL = re.compile(r'["(]\s*(SELECT\s|INSERT\s+INTO\s|DELETE\s+FROM\s|UPDATE\s+\w+\s+SET\s|CREATE\s+(OR\s|TABLE\s|VIEW\s)|ALTER\s+TABLE\s)')
TEST = re.compile(r"_(test|testing|benchmark|fuzz)\.(cc|h)$")


def closure(direct):
    """Each folder's reachable folders, itself included."""
    reach = {}

    def visit(name, path):
        if name in path:
            sys.exit(f"layers: a circle: {' -> '.join([*path, name])}")
        if name not in reach:
            reach[name] = {name}.union(*(visit(below, [*path, name]) for below in direct.get(name, ())))
        return reach[name]

    for name in direct:
        visit(name, [])
    return reach


def linked_folders():
    """What each folder's CMakeLists.txt names after DEPS."""
    links = {}
    for file in sorted(SRC.glob("*/CMakeLists.txt")):
        for name, arguments in DEPS.findall(file.read_text()):
            words = arguments.split("SYSTEM_DEPS")[0].split()
            links[name] = [word for word in words if word in LAYERS]
    return links


def main():
    problems = []
    allowed = closure({name: below.split() for name, below in LAYERS.items()})
    links = linked_folders()
    reachable = closure(links)
    for folder in sorted(path.name for path in SRC.iterdir() if path.is_dir()):
        if folder not in LAYERS:
            problems.append(f"src/{folder}: not a folder of docs/design.md")
            continue
        for extra in sorted(reachable.get(folder, set()) - allowed[folder]):
            problems.append(f"src/{folder}/CMakeLists.txt: links {extra}, which lies not below it")
        for file in sorted([*(SRC / folder).glob("*.cc"), *(SRC / folder).glob("*.h")]):
            text = file.read_text()
            included = {name for name in INCLUDE.findall(text) if name in LAYERS}
            for name in sorted(included - reachable.get(folder, {folder})):
                problems.append(f"{file.relative_to(ROOT)}: includes {name}/, which {folder} does not link")
            if TEST.search(file.name):
                continue
            for name in sorted(included & NEVER.get(folder, set())):
                problems.append(f"{file.relative_to(ROOT)}: includes {name}/, which {folder} must not see")
            if folder not in MAY_WRITE_SQL and (match := SQL.search(text)):
                line = text.count("\n", 0, match.start(1)) + 1
                problems.append(f"{file.relative_to(ROOT)}:{line}: SQL outside {', '.join(sorted(MAY_WRITE_SQL))}")
    print(*problems, sep="\n", end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
