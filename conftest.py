"""For every test and doctest: a learner's progress goes to a temporary file, and the collector has little to look through."""

import gc
import importlib.util
import itertools

import pytest

# A bridge imports its framework; its doctests are left out where that is not installed.
FRAMEWORKS = ("torch", "tensorflow")
collect_ignore_glob = [f"minitape/bridges/{name}*.py" for name in FRAMEWORKS if importlib.util.find_spec(name) is None]

_numbers = itertools.count()


@pytest.fixture(scope="session")
def _progress_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("progress")


@pytest.fixture(autouse=True)
def _own_progress(_progress_folder, monkeypatch):
    """A file for each test, in one folder: a folder for each would cost more than most tests."""
    monkeypatch.setenv("MINITAPE_PROGRESS", str(_progress_folder / f"progress-{next(_numbers)}.json"))


@pytest.fixture(scope="module", autouse=True)
def _only_objects_of_this_module():
    """What was there before a file of tests (all collected tests, most of all) is not gone through in each of them.

    `tape.explain` looks through the living objects for who holds a tensor, and so does each `gc.collect()`.
    """
    gc.collect()
    gc.freeze()
