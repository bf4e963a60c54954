"""How many small faults in the code the tests notice.

    python -m tests.mutations engine/back/sweep.py engine/table --made 30

makes 30 mutants of each package or file of minitape: in a line, a comparison, an operator, a number or a condition is
another one, two arguments change places, or a statement is gone; in a line of the table of derivatives, a part of a
formula. For each it runs the tests that execute the line, quick ones first, in a new process of pytest, and prints the
faults that no test noticed. Processes that tests start have the fault, too (`mutated/sitecustomize.py`). A test counts
that fails alone with the fault, and not without it. `--tests bridges ../minitape/bridges` names other tests than those
of the core, `--seed 2` makes other mutants.
Not on Windows.
"""

import argparse
import ast
import collections
import contextlib
import functools
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import numpy  # noqa: F401  # loaded once for all that are forked
import pytest
from _pytest.runner import runtestprotocol

from tests.mutated.sitecustomize import FAILING, LINES, MUTANT

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "minitape"
TESTS = [  # in this order, until one notices
    "engine functions tf speed/test_pairs.py",
    "trust/test_interrupts.py trust/test_sizes.py widgets/test_view.py widgets/test_snapshot.py",
    "oracle/test_oracle.py explain",
]
OPTIONS = "-s -o addopts= --assert=plain --doctest-modules -p no:terminal -p no:nbval -p no:cacheprovider".split()
OTHER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OTHER |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And}
OTHER |= {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
FORMULAS = re.compile(r"\w+ +\w+ +\S+ +\| ")  # how a line of the table of derivatives begins


class Mutant(NamedTuple):
    """A line of a file, which stands there once, and what is there instead."""

    file: str
    old: str
    new: str

    def source(self):
        """The text of the changed file; None where it has no such line any more."""
        lines = (PACKAGE / self.file).read_text(encoding="utf-8").splitlines()
        found = [number for number, line in enumerate(lines) if line.strip() == self.old]
        if len(found) != 1:
            return None
        lines[found[0]] = lines[found[0]].replace(self.old, self.new)
        return "\n".join(lines)

    def line(self):
        lines = (PACKAGE / self.file).read_text(encoding="utf-8").splitlines()
        return [line.strip() for line in lines].index(self.old) + 1


def score(package, noticed):
    """How many of the faults are noticed."""
    return f"{package}: {sum(map(bool, noticed.values()))} of {len(noticed)} noticed"


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


def changes(source, mode="exec"):
    """The changes of a text, each as (number of the line, start, end, new text), in bytes."""
    for node in ast.walk(ast.parse(source, mode=mode)):
        for kind in {"annotation", "returns"} & set(node._fields):
            setattr(node, kind, None)  # types are not changed
        if isinstance(node, ast.JoinedStr):
            node.values = []  # Python 3.11 does not know where its parts are
        one_line = isinstance(node, (ast.expr, ast.stmt)) and node.lineno == node.end_lineno
        if one_line and (new := changed(node)) is not None:
            yield node.lineno - 1, node.col_offset, node.end_col_offset, new


def mutants(file):
    """The mutants of a file."""
    source = file.read_text(encoding="utf-8")
    lines, found = source.splitlines(), list(changes(source))
    for number, line in enumerate(lines):
        if "primitives" in file.parts and FORMULAS.match(line):  # the tables of ops look alike
            at = line.index("|")
            for part in line[at + 1 :].split("|"):
                begin = line.index(part, at) + len(part) - len(part.lstrip())
                at = begin + len(part.strip())
                if part.strip() != "-" and not line.endswith("\\"):
                    offset = len(line[:begin].encode())
                    found += [(number, a + offset, b + offset, new) for _, a, b, new in changes(part.strip(), "eval")]
    once = collections.Counter(line.strip() for line in lines)
    for number, start, end, new in found:
        text = lines[number].encode()
        after = (text[:start] + new.encode() + text[end:]).decode()
        if once[lines[number].strip()] == 1 and "\t" not in after:
            yield Mutant(str(file.relative_to(PACKAGE)), lines[number].strip(), after.strip())


class Session:
    """Runs in one process of pytest: `work` gets the collected tests by name, and this object."""

    def __init__(self, work):
        self.work, self.lines, self.times = work, {}, {}

    def pytest_runtestloop(self, session):
        self.work({item.nodeid: item for item in session.items}, self)
        return True

    def execute(self, items, files):
        """Runs the tests once; keeps how long each takes, and which lines of these files it executes, also in processes
        that it starts.
        """
        files = tuple(map(str, files))

        def trace(frame, event, _):
            if not (name := frame.f_code.co_filename).startswith(files):
                return None
            lines.add((name, frame.f_lineno))
            return trace

        os.environ |= around(LINES, elsewhere := Path(tempfile.mkdtemp(), "lines"))
        for test, item in items.items():
            elsewhere.write_text("")
            lines, began = set(), time.monotonic()
            sys.settrace(trace)
            reports = runtestprotocol(item, log=False, nextitem=None)
            sys.settrace(None)
            if all(report.passed for report in reports):
                others = (line.split("\t") for line in elsewhere.read_text().splitlines())
                lines |= {(name, int(line)) for name, line in others if name.startswith(files)}
                self.lines[test], self.times[test] = lines, time.monotonic() - began
        del os.environ[LINES]


def around(name, file):
    """The environment of processes that are to read `tests/mutated/sitecustomize.py`."""
    paths = filter(None, [str(Path(__file__).parent / "mutated"), os.environ.get("PYTHONPATH")])
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), name: str(file)}


def first_noticing(mutant, tests, times):
    """The first test that fails with the mutant, also where it runs alone, and does not without it; "" for none."""
    while found := noticing(mutant, tests, 3 * sum(map(times.get, tests))):  # more is no end
        (test,) = found[:1]
        alone = functools.partial(noticing, tests=[test], seconds=3 * times[test])
        if alone(mutant) and not alone(None):
            return test
        tests = [one for one in tests if one != test]  # it is another one's trace that it noticed
    return ""


def noticing(mutant, tests, seconds):
    """The tests that fail in a new process of pytest and all that it starts: with a mutant the first one, without one
    all.
    """
    with tempfile.TemporaryDirectory() as folder:
        names, changed, failing = (Path(folder, name) for name in ("names", "changed", "failing"))
        if not tests:
            return []
        names.write_text("\n".join(tests), encoding="utf-8")
        failing.touch()
        surroundings = os.environ | around(FAILING, failing)
        if mutant:
            changed.write_text(f"{PACKAGE / mutant.file}\n{mutant.source()}", encoding="utf-8")
            surroundings[MUTANT] = str(changed)
        options = [*OPTIONS, "-p", "sitecustomize", *["-x"][: bool(mutant)]]
        command = [sys.executable, "-m", "pytest", *options, f"@{names}"]
        null = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child = subprocess.Popen(command, env=surroundings, start_new_session=True, **null)
        try:
            code = child.wait(60 + seconds)
        except subprocess.TimeoutExpired:
            code = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # and what tests left
        child.wait()
        found = failing.read_text(encoding="utf-8").splitlines()
    assert mutant or found or code == 0, f"the tests do not run twice: {code}"
    return found or list(tests)[: code != 0]  # what is changed does not even start, or has no end


def run(tests, work):
    """Collects the tests, and does the work."""
    os.chdir(REPOSITORY)
    sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "widgets")]
    assert pytest.main([*OPTIONS, *tests], [Session(work)]) == 0


def make(packages, made, groups, seed=1):
    """Draws mutants of each package; returns {package: {mutant: the test that notices it, or ""}}."""
    results, roots = {}, {package: PACKAGE / package for package in packages}
    for package, root in roots.items():
        every = sorted({one for file in sorted(root.rglob("*.py")) or [root] for one in mutants(file)})
        chosen = random.Random(seed).sample(every, min(made, len(every)))
        results[package] = dict.fromkeys(chosen, "")

    def work(items, session):
        session.execute(items, roots.values())
        for test in noticing(None, sorted(session.times, key=session.times.get), 3 * sum(session.times.values())):
            print("left out, fails without a change:", test, flush=True)
            del session.times[test], session.lines[test]
        reached = collections.defaultdict(set)
        for test, lines in session.lines.items():
            for file, line in lines:
                reached[file, line].add(test)
                reached[file, 0].add(test)  # for lines that run once, when the file is imported
        for package, noticed in results.items():
            for mutant in [one for one, test in noticed.items() if not test]:
                path = str(PACKAGE / mutant.file)
                at = reached[path, mutant.line()]
                # what runs once may be a table that others read
                tests = sorted(
                    at or session.times, key=lambda test: (test not in reached[path, 0], session.times[test])
                )
                noticed[mutant] = first_noticing(mutant, tests, session.times)
                print(package, noticed[mutant] or f"not by {len(tests)}", *mutant[1:], sep="\n    ", flush=True)

    for tests in groups:
        run([f"tests/{name}" for name in tests.split()], work)
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+", help="packages or files of minitape")
    parser.add_argument("--made", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1, help="other mutants")
    parser.add_argument("--tests", nargs="*", default=TESTS)
    options = parser.parse_args()
    for package, noticed in make(options.packages, options.made, options.tests, options.seed).items():
        print(*(f"{m.file}: {m.old} -> {m.new}" for m, test in noticed.items() if not test), sep="\n")
        print(score(package, noticed))
