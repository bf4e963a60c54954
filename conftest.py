"""For every test and doctest: a learner's progress goes to a temporary file, and the collector has little to look through."""

import gc
import itertools

import pytest

_numbers = itertools.count()
_module, _tests = None, 0  # the file of the test that runs, and how many of its tests ran since objects were left aside


@pytest.fixture(scope="session")
def _progress_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("progress")


@pytest.fixture(autouse=True)
def _own_progress(_progress_folder, monkeypatch):
    """A file for each test, in one folder: a folder for each would cost more than most tests."""
    monkeypatch.setenv("MINITAPE_PROGRESS", str(_progress_folder / f"progress-{next(_numbers)}.json"))


@pytest.fixture(autouse=True)
def _few_objects(request):
    """What was there before a file of tests (all collected tests, most of all) is not gone through in each of them.

    `tape.explain` looks through the living objects for who holds a tensor, and so does each `gc.collect()`. A long file
    leaves objects behind as well, such as reports and modules that were loaded late.
    """
    global _module, _tests
    if request.path != _module or _tests == 50:
        _module, _tests = request.path, 0
        gc.collect()
        gc.freeze()
    _tests += 1
