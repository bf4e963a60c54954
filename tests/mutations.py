"""How many small faults in the code the tests notice.

    python -m tests.mutations engine/back/sweep.py keras --made 60

makes 60 mutants of each package or file of minitape, one after another in a copy: a comparison, an operator, a number
or a condition is another one, two arguments change places, or a statement is gone. For each it runs the tests that
execute the changed line, and prints the faults that no test noticed; `--keep` writes how many were noticed to
`tests/mutations.txt`. It forks: not on Windows.
"""

import argparse
import ast
import collections
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from copy import deepcopy
from pathlib import Path

import numpy  # noqa: F401  # loaded once for all that are forked
import pytest

REPOSITORY, SCORES = Path(__file__).parents[1], Path(__file__).with_suffix(".txt")
TESTS = [f"tests/{name}" for name in "engine oracle/test_oracle.py ops graphs tf keras compat explain".split()]
OPTIONS = "-o addopts= -p no:terminal -p no:nbval -p no:cacheprovider".split()
OTHER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OTHER |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And}
OTHER |= {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}


class Notes:
    """Writes to a file which tests fail, and which lines of some files each test executes."""

    def __init__(self, path, files):
        self.path, self.files, self.failed, self.lines = path, tuple(map(str, files)), [], {}

    def pytest_runtest_logreport(self, report):
        self.failed += [report.nodeid] * report.failed

    def pytest_sessionfinish(self):
        self.path.write_text(json.dumps([self.failed, {test: sorted(lines) for test, lines in self.lines.items()}]))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        lines = self.lines[item.nodeid] = set()

        def trace(frame, event, _):
            if not (name := frame.f_code.co_filename).startswith(self.files):
                return None
            lines.add((name, frame.f_lineno))
            return trace

        sys.settrace(trace)
        result = yield
        sys.settrace(None)
        return result


def passed(copy, tests, plugins=(), seconds=0):
    """Whether all these tests of the copy pass, in a process of their own."""
    if child := os.fork():
        return os.waitpid(child, 0)[1] == 0
    try:
        signal.alarm(seconds)
        os.chdir(copy)
        sys.path[:0] = [str(copy), str(copy / "widgets")]
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
        os._exit(pytest.main([*OPTIONS, *tests], [*plugins]))
    finally:
        os._exit(1)


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
        case ast.Assign() | ast.AugAssign() | ast.Return() | ast.Raise() | ast.Delete() | ast.Expr(value=ast.Call()):
            return "pass"
        case _:
            return None
    return f"({ast.unparse(ast.fix_missing_locations(copy))})"


def mutants(file):
    """The mutants of a file, each as (file, line, start, end, new text), in bytes."""
    source = file.read_bytes()
    starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
    for node in ast.walk(ast.parse(source)):
        for kind in {"annotation", "returns"} & set(node._fields):
            setattr(node, kind, None)  # types are not changed
        if isinstance(node, ast.JoinedStr):
            node.values = []  # Python 3.11 does not know where its parts are
        if isinstance(node, (ast.expr, ast.stmt)) and (new := changed(node)) is not None:
            start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            yield str(file), node.lineno, start, end, new


def unnoticed(roots, made, copy):
    """For each of the roots: the faults that no test notices."""
    reached, notes = collections.defaultdict(set), copy / "notes"
    passed(copy, TESTS, [Notes(notes, roots)])
    broken, executed = json.loads(notes.read_text())
    for test, lines in executed.items():
        for file, line in lines:
            reached[file, line].add(test)
            reached[file, 0].add(test)  # for lines that run once, when the file is imported
    draw = random.Random(1)
    for root in roots:
        every = [one for file in sorted(root.rglob("*.py")) or [root] for one in mutants(file)]
        survived = []
        for file, line, start, end, new in (chosen := draw.sample(every, min(made, len(every)))):
            tests = sorted((reached[file, line] or reached[file, 0]) - set(broken))
            before, first = Path(file).read_bytes(), tests[:: len(tests) // 200 + 1]
            Path(file).write_bytes(before[:start] + new.encode() + before[end:])
            rest = sorted({*tests} - {*first})  # where a sample notices nothing
            if all(passed(copy, ["-x", *part], seconds=300) for part in (first, rest) if part):
                survived.append(f"{file}:{line}: {before[start:end].decode()} -> {new} ({len(tests)} tests)")
            Path(file).write_bytes(before)
        yield survived, len(chosen)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--made", type=int, default=60)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    kept = dict(line.split(": ") for line in SCORES.read_text().splitlines()) if SCORES.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(REPOSITORY, copy, ignore=shutil.ignore_patterns(".*", "__pycache__", "node_modules"))
        roots = [copy / "minitape" / package for package in options.packages]
        for package, (survived, made) in zip(options.packages, unnoticed(roots, options.made, copy), strict=True):
            kept[package] = f"{made - len(survived)} of {made} noticed"
            print(*survived, f"{package}: {kept[package]}", sep="\n", flush=True)
    if options.keep:
        SCORES.write_text("".join(f"{name}: {kept[name]}\n" for name in sorted(kept)), encoding="utf-8")
