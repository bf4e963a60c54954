"""The counters of what makes code hard to read may only fall."""

import ast
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
import readability
from readability import NODES, NamedFunction, begins_with_verb, count_decisions, find_golf, parse_sources

MODULES_THAT_SHARE_A_NAME = {
    # The same thing for another framework, or in another form.
    "adapter", "checks", "recording", "row_log", "suspects", "watcher", "kept_tensors", "program",
    "elementwise", "keras", "operation", "operation_families", "operators",
}  # fmt: skip
LIMITS = readability.read_limits()
TENSORFLOWS = {"Variable", "name_scope"}  # TensorFlow also has a class with each name in Keras.


@pytest.fixture(scope="module")
def counts():
    return readability.count_all()


def test_each_counter_has_a_limit(counts):
    assert counts.keys() == LIMITS.keys()


@pytest.mark.parametrize("name", LIMITS)
def test_a_counter_does_not_rise(counts, name):
    """A change that raises a counter needs a different name, a different sentence or a guard clause, not a larger
    limit."""
    assert counts[name] <= LIMITS[name], f"{name}: {counts[name]:g}, at most {LIMITS[name]:g}"


@pytest.mark.parametrize("name", sorted(LIMITS.keys() - {NODES}))
def test_a_counter_that_fell_is_written_down(counts, name):
    slack = max(3, LIMITS[name] * 0.03)
    assert LIMITS[name] - counts[name] <= slack, "python tests/repository/readability.py --lower"


@pytest.mark.skipif(
    not (readability.REPOSITORY / "pyproject.toml").exists(), reason="the settings are in the repository"
)
def test_no_file_is_exempt_from_the_limit_of_complexity():
    settings = tomllib.loads((readability.REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]
    exceptions = {file for file, rules in settings["lint"]["per-file-ignores"].items() if "C901" in rules}
    assert settings["lint"]["mccabe"]["max-complexity"] == 15 and not exceptions


def test_a_class_has_a_name_of_its_own():
    files = defaultdict(list)
    for path, tree in parse_sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(path)
    assert len(files) > 300
    assert {name: paths for name, paths in files.items() if len(paths) > 1 and name not in TENSORFLOWS} == {}


def named(source):
    """Return the first function of a source, as the counters see it."""
    return NamedFunction("x.py", "", ast.parse(source).body[0])


@pytest.mark.parametrize("source", [
    "def find_path(): ...", "def _build(): ...", "def __len__(self): ...", "@property\ndef path(self): ...",
    "@cached_property\ndef path(self): ...",
])  # fmt: skip
def test_a_function_that_begins_with_a_verb_passes(source):
    assert begins_with_verb(named(source))


@pytest.mark.parametrize("source", ["def told_of(x): ...", "def path(x): ...", "def anew(x): ...", "def swept(): ..."])
def test_a_function_that_does_not_is_counted(source):
    assert not begins_with_verb(named(source))


def test_decisions_are_counted():
    assert count_decisions(ast.parse("def f(x):\n    return x\n")) == 1
    assert count_decisions(ast.parse("def f(x):\n    return [y for y in x if y] if x and x.y or x.z else 0\n")) == 5


@pytest.mark.parametrize(("source", "kind"), [
    ("a if b else c if d else e", "nested conditional expressions"),
    ("'s' * (a == b)", "text or list times a condition"),
    ("(f if a else g)(x)", "callee chosen by a condition"),
    ("[0, *found][-1]", "[default, *found][-1]"),
    ("'s' * -1", None),
    ("f(a if b else c)", None),
])  # fmt: skip
def test_golf_is_seen(source, kind):
    assert find_golf(ast.parse(source, mode="eval").body) == kind


def test_modules_of_the_same_name_mean_the_same():
    paths = defaultdict(set)
    for path in parse_sources():
        stem = Path(path).stem
        if stem != "__init__":
            paths[stem].add(path)
    shared = {stem: sorted(places) for stem, places in paths.items() if len(places) > 1}
    assert {stem: places for stem, places in shared.items() if stem not in MODULES_THAT_SHARE_A_NAME} == {}
