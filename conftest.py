"""Define the options, markers and fixtures that apply to all tests and doctests."""

import collections
import functools
import gc
import importlib.util
import itertools
import os
import sys

import pytest

# This must be imported before nbformat, because it leaves out grammars that take a second to compile.
import minitape.cli  # noqa: F401

# nbval's plugin loads Jupyter, so only a run with --nbval loads the plugin. Workers inherit the environment variable.
if any(option.startswith("--nbval") for option in sys.argv):
    pytest_plugins = ["nbval.plugin"]
    os.environ["PYTEST_PLUGINS"] = "nbval.plugin"

# The tests start hundreds of processes, which would each compile the same files of Python.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The package that each of these files imports. If the package is not installed, the file's doctests are not collected.
NEEDS = {f"minitape/bridges/{name}*.py": name for name in "torch tensorflow jax lightning transformers".split()}
NEEDS["minitape/bridges/keras.py"] = "tensorflow"
NEEDS["minitape/cli/grading.py"] = "nbgrader"
NEEDS |= {f"minitape/cli/{name}.py": "sphinx" for name in ("chinese_search", "site_settings/conf")}
collect_ignore_glob = [files for files, package in NEEDS.items() if importlib.util.find_spec(package) is None]

_file_numbers = itertools.count()
# The file of the running test, and the number of its tests that have run since the last call of `gc.freeze`.
_test_file, _test_count = None, 0


def pytest_addoption(parser):
    parser.addoption(
        "--long",
        action="store_true",
        help="run all cases, as CI does. Without this option, a fixed sample of the cases of each test with the marker "
        "`long` is run, for example of the lessons, the programs of the oracle, and the lines at which Ctrl-C arrives",
    )
    parser.addoption(
        "--longest",
        action="store_true",
        help="with --long, also run the tests that take hours: each file format is fuzzed for ten minutes, Ctrl-C "
        "arrives at every instruction, and tests repeat what cheaper tests already show",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Return the number of workers: one more than the processors, but at most eight.

    Many tests wait for a browser or a kernel, so an additional worker pays off. But each worker takes six seconds to
    collect all tests.
    """
    return min((os.cpu_count() or 1) + 1, 8)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect the tests without garbage collection, which would take an eighth of the time and find nothing."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    """Freeze all objects, because pytest collects garbage ten times at the end of a session."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config, items):
    """Deselect the programs of frameworks that are not installed, and the tests that the options exclude."""
    deselect_programs_of_missing_frameworks(config, items)
    deselect_tests_that_options_exclude(config, items)


def deselect_programs_of_missing_frameworks(config, items):
    """Deselect the programs of frameworks that are not installed.

    If a framework is missing, the test file of its bridge is skipped, and the message says what to install.
    """
    if unsupported := [item for item in items if not is_framework_installed(item)]:
        config.hook.pytest_deselected(items=unsupported)
        items[:] = filter(is_framework_installed, items)


def deselect_tests_that_options_exclude(config, items):
    """Deselect the tests that the options exclude.

    Without `--long`, a test with the marker `long` runs only the first case and every n-th case after it. The number n
    is the marker's `sample`. If the marker has no `sample`, the test does not run. Tests with the marker `longest` run
    only with `--longest`. All tests run if the command names a test, as in `pytest FILE::TEST`.
    """
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
    """Return whether a test needs no framework, or the framework that it needs is installed."""
    framework = item.callspec.params.get("framework") if hasattr(item, "callspec") else None
    return framework is None or _is_installed(getattr(framework, "name", framework))


@functools.cache
def _is_installed(package):
    return importlib.util.find_spec(package) is not None


@pytest.fixture(scope="session")
def long(pytestconfig):
    """Return whether all cases run."""
    return pytestconfig.getoption("--long")


@pytest.fixture(scope="session")
def longest(pytestconfig):
    """Return whether the tests that take hours run."""
    return pytestconfig.getoption("--longest")


@pytest.fixture(scope="session")
def _progress_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("progress")


@pytest.fixture(autouse=True)
def _fresh(_progress_folder, request):
    """Give each test a new file for a learner's progress, and freeze the objects that earlier tests left behind.

    All progress files are in one folder, because creating a folder would take longer than most tests.

    `tape.explain` searches the living objects for those that hold a tensor, and `gc.collect()` visits all objects.
    Both skip frozen objects. Therefore, the start of each test file freezes the objects that exist by then, such as the
    collected tests. Every 50 tests, objects are frozen again, because a long file leaves reports and modules behind.
    """
    global _test_file, _test_count
    os.environ["MINITAPE_PROGRESS"] = f"{_progress_folder}/progress-{next(_file_numbers)}.json"
    if request.path != _test_file or _test_count == 50:
        _test_file, _test_count = request.path, 0
        gc.collect()
        gc.freeze()
    _test_count += 1
