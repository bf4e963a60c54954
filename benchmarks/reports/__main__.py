"""Run `minitape explain` on programs after public bug reports, next to what a judge said of an earlier run.

    python -m benchmarks.reports torch [--set set_2] [NAME ...]

The framework (`torch`, `jax` or `tensorflow`) must be installed. Without `--set`, the newest judged set runs. For each
program, the table shows the exit status, whether the report names one of the lines that the truth accepts, and the
judge's mark. Naming a line is no proof of a right report: read the reports, which are written to a folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SECONDS = 240
LINE = re.compile(r"\bline (\d+)|\.py:(\d+)")


def list_sets() -> list[str]:
    """Return the names of the sets, the oldest first."""
    return sorted(path.name for path in HERE.glob("set_*"))


def list_judged_sets() -> list[str]:
    """Return the names of the sets whose reports judges have marked, the oldest first."""
    return [name for name in list_sets() if (HERE / name / "judged.json").exists()]


def read_set_file(set_name: str, file_name: str) -> Any:
    """Return the content of a set's `truth.json` or `judged.json`."""
    return json.loads((HERE / set_name / file_name).read_text(encoding="utf-8"))


def explain(program: Path, folder: Path) -> tuple[int, str]:
    """Run `minitape explain` on a copy of a program, and return its exit status and its report."""
    place = folder / program.stem
    place.mkdir()
    copy = shutil.copy(program, place)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "minitape", "explain", Path(copy).name]
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=SECONDS)
    report = done.stdout + done.stderr
    (folder / f"{program.stem}.txt").write_text(report, encoding="utf-8")
    return done.returncode, report


def list_named_lines(report: str) -> set[int]:
    """Return the numbers of all lines that a report names."""
    return {int(first or second) for first, second in LINE.findall(report)}


def describe_result(truth: dict[str, Any], is_twin: bool, status: int, report: str) -> str:
    """Return what a run shows by itself: whether an accepted line is named, or whether a healthy program fails."""
    if is_twin or truth.get("healthy"):
        return "exit status 0" if status == 0 else "ACCUSED, if the program is right"
    return "names the line" if list_named_lines(report) & set(truth["lines"]) else "does not name the line"


def main() -> None:
    """Run the programs of a framework and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reports", description=__doc__)
    parser.add_argument("framework", choices=["torch", "jax", "tensorflow"])
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--set", choices=list_sets(), default=list_judged_sets()[-1], help="the set of programs")
    arguments = parser.parse_args()
    truths = read_set_file(arguments.set, "truth.json")
    is_judged = arguments.set in list_judged_sets()
    judged = (
        read_set_file(arguments.set, "judged.json") if is_judged else {"date": "none yet", "commit": "-", "marks": {}}
    )
    folder = Path(tempfile.mkdtemp(prefix="reports-"))
    print(f"Reports are written to {folder}. Marks: {judged['date']}, commit {judged['commit']}.")
    for program in sorted((HERE / arguments.set / "programs" / arguments.framework).glob("*.py")):
        name = program.stem
        if arguments.names and name not in arguments.names:
            continue
        status, report = explain(program, folder)
        found = describe_result(truths[name.removesuffix("__twin")], name.endswith("__twin"), status, report)
        print(f"{name:40} {status}  {found:32} judged: {judged['marks'].get(name, {}).get('mark', '-')}", flush=True)


if __name__ == "__main__":
    main()
