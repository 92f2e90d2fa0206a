#!/usr/bin/env python3
"""Print how many lines of each folder of src/ the tests ran: coverage.py BUILD_FOLDER [--missed FOLDER]

Reads what a build with DQ_COVERAGE left (gcov's JSON). Test files are not counted. --missed names the lines of src/FOLDER that
nothing ran.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"_(test|testing|benchmark|fuzz)\.(cc|h)$")


def runs_of(counts):
    """[1, 2, 3, 7] as "1-3 7"."""
    parts = []
    for line in sorted(counts):
        if parts and parts[-1][1] == line - 1:
            parts[-1][1] = line
        else:
            parts.append([line, line])
    return " ".join(f"{first}-{last}" if first < last else str(first) for first, last in parts)


def read(data):
    """{source file: {line: times run}} of one object file."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", str(data)], cwd=data.parent, capture_output=True, text=True, check=True)
    lines = collections.defaultdict(collections.Counter)
    for text in filter(None, done.stdout.splitlines()):
        report = json.loads(text)
        for file in report["files"]:
            path = pathlib.Path(report["current_working_directory"], file["file"]).resolve()
            if path.is_relative_to(ROOT / "src") and not TEST.search(path.name):
                for line in file["lines"]:
                    lines[path.relative_to(ROOT / "src")][line["line_number"]] += line["count"]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--missed", metavar="FOLDER")
    arguments = parser.parse_args()
    total = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(read, sorted(arguments.build.resolve().rglob("*.gcda"))):
            for path, counts in lines.items():
                total[path].update(counts)
    if not total:
        sys.exit(f"{arguments.build}: no counts; build with DQ_COVERAGE and run the tests first")
    folders = collections.defaultdict(lambda: [0, 0])
    for path, counts in sorted(total.items()):
        folder = path.parts[0] if len(path.parts) > 1 else "(main)"
        folders[folder][0] += sum(1 for count in counts.values() if count)
        folders[folder][1] += len(counts)
        if arguments.missed == folder and (missed := [line for line, count in counts.items() if not count]):
            print(f"src/{path}: {runs_of(missed)}")
    for name, (ran, lines) in [*sorted(folders.items()), ("all", [sum(column) for column in zip(*folders.values())])]:
        print(f"{name:12} {ran:6} of {lines:6} lines  {100 * ran / lines:5.1f} %")


if __name__ == "__main__":
    main()
