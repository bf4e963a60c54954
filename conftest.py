"""For every test and doctest: the option `--long`, a file for a learner's progress, and little for the collector to
look through.
"""

import collections
import functools
import gc
import importlib.util
import itertools
import os
import sys

import pytest

import minitape.cli  # noqa: F401  # before nbformat, for which it leaves out grammars that take a second to compile

# nbval's plugin loads Jupyter in each process, so that only a run with --nbval has it; pytest's workers inherit this.
if any(option.startswith("--nbval") for option in sys.argv):
    pytest_plugins = ["nbval.plugin"]
    os.environ["PYTEST_PLUGINS"] = "nbval.plugin"

# The tests start hundreds of processes, which would each compile the same files of Python.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What imports a framework or a grader: its doctests are left out where that is not installed.
NEEDS = {f"minitape/bridges/{name}*.py": name for name in "torch tensorflow jax lightning transformers".split()}
NEEDS["minitape/bridges/keras.py"] = "tensorflow"
NEEDS["minitape/cli/grading.py"] = "nbgrader"
collect_ignore_glob = [files for files, package in NEEDS.items() if importlib.util.find_spec(package) is None]

_file_numbers = itertools.count()
# the file of the test that runs, and how many of its tests ran since objects were left aside
_test_file, _test_count = None, 0


def pytest_addoption(parser):
    parser.addoption(
        "--long",
        action="store_true",
        help="run all modes, as CI does: every lesson with its solutions, Ctrl-C at many lines of a function that "
        "is traced, every program of the oracle once more without arrays that no rule reads, every damage of kept "
        "machine code, and so on; without it a fixed sample of these runs",
    )
    parser.addoption(
        "--longest",
        action="store_true",
        help="with --long, in tests/trust: every file format fuzzed for ten minutes, Ctrl-C at every instruction; "
        "and elsewhere what shows the same once more; some hours",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One more than processors: many tests wait for a browser or a kernel, and each worker takes six seconds to collect
    all tests.
    """
    return min((os.cpu_count() or 1) + 1, 8)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is made while tests are collected stays: to look for garbage in it takes an eighth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    """At its end pytest looks for garbage ten times."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config, items):
    """Without `--long`, of each test that is marked `long` the first case runs, and after it one of so many; what is
    marked `longest` runs with `--longest` only.

    A test that the command names, as in `pytest FILE::TEST`, runs in any case. Programs for a framework that is not
    installed are left out; each bridge's own file is skipped, and says what to install.
    """
    if unsupported := [item for item in items if not is_framework_installed(item)]:
        config.hook.pytest_deselected(items=unsupported)
        items[:] = filter(is_framework_installed, items)
    long, longest = config.getoption("--long"), config.getoption("--longest")
    if longest or any("::" in name for name in config.args):
        return
    case_counts, chosen, deselected = collections.Counter(), [], []
    for item in items:
        if item.get_closest_marker("longest"):
            deselected.append(item)
            continue
        if not long and (long_mark := item.get_closest_marker("long")):
            test, sample = item.nodeid.partition("[")[0], long_mark.kwargs.get("sample", 0)
            case_counts[test] += 1
            if not sample or (case_counts[test] - 1) % sample:
                deselected.append(item)
                continue
        chosen.append(item)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = chosen


def is_framework_installed(item):
    """Return whether the framework that a test is a program for is installed, or it needs none."""
    framework = item.callspec.params.get("framework") if hasattr(item, "callspec") else None
    return framework is None or _is_installed(getattr(framework, "name", framework))


@functools.cache
def _is_installed(package):
    return importlib.util.find_spec(package) is not None


@pytest.fixture(scope="session")
def long(pytestconfig):
    """Whether all modes are run."""
    return pytestconfig.getoption("--long")


@pytest.fixture(scope="session")
def longest(pytestconfig):
    """Whether tests/trust takes hours."""
    return pytestconfig.getoption("--longest")


@pytest.fixture(scope="session")
def _progress_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("progress")


@pytest.fixture(autouse=True)
def _fresh(_progress_folder, request):
    """For each test a file for a learner's progress, in one folder: a folder for each would cost more than most tests.

    And few objects. What was there before a file of tests (all collected tests, most of all) is not gone through in
    each of them: `tape.explain` looks through the living objects for who holds a tensor, and so does each
    `gc.collect()`. A long file leaves objects behind as well, such as reports and modules that were loaded late.
    """
    global _test_file, _test_count
    os.environ["MINITAPE_PROGRESS"] = f"{_progress_folder}/progress-{next(_file_numbers)}.json"
    if request.path != _test_file or _test_count == 50:
        _test_file, _test_count = request.path, 0
        gc.collect()
        gc.freeze()
    _test_count += 1
