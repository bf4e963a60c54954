"""How many small faults in the code the tests notice.

    python -m tests.mutations engine/back/sweep.py keras --made 60

makes 60 mutants of each package or file of minitape, one after another in a copy of the repository: a comparison, an
operator, a number or a condition is another one, two arguments change places, or a statement is gone. For each it runs
the tests that execute the changed line, and prints the faults that no test noticed. `--keep` writes how many were
noticed to `tests/mutations.txt`. It forks: not on Windows.
"""

import argparse
import ast
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from copy import deepcopy
from pathlib import Path

import numpy  # noqa: F401  # loaded once for all that are forked
import pytest

REPOSITORY = Path(__file__).parents[1]
SCORES = Path(__file__).with_suffix(".txt")
TESTS = [f"tests/{name}" for name in "engine oracle/test_oracle.py ops graphs tf keras compat explain".split()]
OPTIONS = "-q -o addopts= -p no:nbval -p no:cacheprovider".split()
TESTS_OF_A_MUTANT, SECONDS = 200, 100  # at most
OTHER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OTHER |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And}
OTHER |= {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


class Notes:
    """Notes in a file which tests fail, and which lines of these files each test executes."""

    def __init__(self, path, files=()):
        self.path, self.files = path, tuple(files)

    def write(self, *words):
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps(words), file=file)

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.write("failed", report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        if not self.files:
            return (yield)
        lines = set()

        def trace(frame, event, _):
            if not (name := frame.f_code.co_filename).startswith(self.files):
                return None
            lines.add((name, frame.f_lineno))
            return trace

        sys.settrace(trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.write("lines", item.nodeid, sorted(lines))


def forked(copy, arguments, notes, seconds=0):
    """What the tests of the copy note, in a process of their own, and whether all of them passed."""
    notes.path.unlink(missing_ok=True)
    if not (child := os.fork()):
        try:
            signal.alarm(seconds)
            os.chdir(copy)
            sys.path[:0] = [str(copy), str(copy / "widgets")]
            os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
            with open(copy / "output", "wb") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            os._exit(pytest.main([*OPTIONS, *arguments], [notes]))
        finally:
            os._exit(1)
    passed = os.waitpid(child, 0)[1] == 0
    return [json.loads(line) for line in notes.path.read_text().splitlines()] if notes.path.exists() else [], passed


def changed(node):
    """The text that takes the node's place, or None where nothing is changed."""
    copy = deepcopy(node)
    match copy:
        case ast.Compare(ops=[op, *_]) if type(op) in OTHER:
            copy.ops[0] = OTHER[type(op)]()
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in OTHER:
            copy.op = OTHER[type(op)]()
        case ast.Constant(value=bool() | int() | float() as value):
            copy.value = not value if isinstance(value, bool) else value + 1
        case ast.Call(args=[first, second, *_]) if not any(isinstance(one, ast.Starred) for one in (first, second)):
            copy.args[:2] = [second, first]
        case ast.IfExp(test=test):
            copy.test = ast.UnaryOp(ast.Not(), test)
        case ast.Assign() | ast.AugAssign() | ast.Return() | ast.Raise() | ast.Delete() | ast.Expr(value=ast.Call()):
            return "pass"
        case _:
            return None
    return f"({ast.unparse(ast.fix_missing_locations(copy))})"


def mutants(file):
    """The mutants of a file, each as (file, line, start, end, new text), in bytes."""
    source = file.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.walk(ast.parse(source)):
        for kind in {"annotation", "returns"} & set(node._fields):
            setattr(node, kind, None)  # types are not changed
        if isinstance(node, ast.JoinedStr):
            node.values = []  # Python 3.11 does not know where its parts are
        if isinstance(node, (ast.expr, ast.stmt)) and (new := changed(node)) is not None:
            start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            yield str(file), node.lineno, start, end, new


def scores(packages, made, seed, tests, copy, first=("-x",)):
    """For each package its mutants, each with the tests that ran, whether all passed, and those that failed."""
    roots = [copy / "minitape" / package for package in packages]
    reached, broken = collections.defaultdict(list), set()
    for kind, test, *lines in forked(copy, tests, Notes(copy / "notes", map(str, roots)))[0]:
        if kind == "failed":
            broken.add(test)
        else:
            for file, line in lines[0]:
                reached[file, line].append(test)
    draw = random.Random(seed)
    for package, root in zip(packages, roots, strict=True):
        files = sorted(root.rglob("*.py")) if root.is_dir() else [root]
        every = [one for file in files for one in mutants(file)]
        found = []
        for mutant in draw.sample(every, min(made, len(every))):
            file, line, start, end, new = mutant
            on_line = reached[file, line] or {
                test for (name, _), some in reached.items() if name == file for test in some
            }
            those = sorted(set(on_line) - broken)
            those = sorted(draw.sample(those, min(TESTS_OF_A_MUTANT, len(those))))
            before = Path(file).read_bytes()
            Path(file).write_bytes(before[:start] + new.encode() + before[end:])
            noted, passed = forked(copy, [*first, *those], Notes(copy / "notes"), SECONDS) if those else ([], True)
            Path(file).write_bytes(before)
            text = f"{Path(file).relative_to(copy)}:{line}: {before[start:end].decode()} -> {new}"
            found.append((text, those, passed, [test for _, test in noted]))
        yield package, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", help="below minitape/, such as keras or engine/back/sweep.py")
    parser.add_argument("--made", type=int, default=60, help="mutants of each")
    parser.add_argument("--seed", type=int, default=1, help="chooses the mutants")
    parser.add_argument("--keep", action="store_true", help=f"write the scores to {SCORES.name}")
    options = parser.parse_args()
    kept = dict(line.split(": ") for line in SCORES.read_text().splitlines()) if SCORES.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        names = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        for name in names.splitlines():
            (target := Path(folder, name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPOSITORY / name, target)
        for package, found in scores(options.packages, options.made, options.seed, TESTS, Path(folder)):
            survived = [f"{text} ({len(tests)} tests)" for text, tests, passed, _ in found if passed]
            kept[package] = f"{len(found) - len(survived)} of {len(found)} noticed"
            print(*survived, f"{package}: {kept[package]}", sep="\n", flush=True)
    if options.keep:
        SCORES.write_text("".join(f"{name}: {kept[name]}\n" for name in sorted(kept)), encoding="utf-8")


if __name__ == "__main__":
    main()
