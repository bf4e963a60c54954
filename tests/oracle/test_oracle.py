"""In every case of the oracle, minitape does what TensorFlow 2.21 did when the goldens were made.

Cases listed in `known.txt` (area/name and the reason) are expected to differ, strictly:
once one passes, the test says so and its line goes.
"""

import importlib
import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from corpus import get_goldens, list_areas, load_cases  # noqa: E402
from observe import compare_records, observe_case  # noqa: E402

KNOWN = dict(
    line.split(None, 1)
    for line in (HERE / "known.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
)


def _build_param(case):
    name = f"{case.area}/{case.name}"
    marks = [pytest.mark.xfail(reason=KNOWN[name], strict=True)] if name in KNOWN else []
    return pytest.param(case, id=name, marks=marks)


pytestmark = pytest.mark.usefixtures("nothing_has_left_yet")

CASES = [_build_param(case) for area in list_areas() for case in load_cases(area)]


@pytest.fixture(scope="session")
def module():
    """The module under test: minitape, or the one named by MINITAPE_ORACLE_MODULE."""
    return importlib.import_module(os.environ.get("MINITAPE_ORACLE_MODULE", "minitape"))


@pytest.fixture(scope="session")
def stored():
    """Return the goldens of all areas, keyed by area."""
    return {area: get_goldens(area) for area in list_areas()}


@pytest.fixture(autouse=True)
def nothing_logged_or_registered_yet(monkeypatch):
    """Forget which warnings other tests have logged and which gradients they have registered, because both happen only
    a few times.
    """
    monkeypatch.setattr(importlib.import_module("minitape.engine.record.log_warnings"), "_log_counts", {})
    gradients = importlib.import_module("minitape.functions.tf1_graph").REGISTERED_GRADIENTS
    before = dict(gradients)
    yield
    gradients.clear()
    gradients.update(before)


def check_case(case, module, stored):
    """Run a case, and assert that its record equals its golden."""
    want = stored[case.area].get(case.name)
    assert want is not None and want["code"] == case.digest, "no golden for this code: run make_goldens.py"
    misses = compare_records(case, json.loads(json.dumps(observe_case(module, case))), want)
    assert not misses, f"\n{case.code}\n" + "\n".join(misses)


@pytest.mark.parametrize("case", CASES)
def test_case(case, module, stored):
    check_case(case, module, stored)


SWEPT = ("tape/", "programs/")


@pytest.mark.long(sample=12)
@pytest.mark.parametrize(
    "case", [_build_param(case) for area in list_areas() if area.startswith(SWEPT) for case in load_cases(area)]
)
def test_case_where_no_array_is_kept_that_no_rule_reads(case, module, stored, monkeypatch):
    """Keep arrays as if they were large, so that a rule that reads a value not listed by its primitive raises an
    error."""
    monkeypatch.setattr(importlib.import_module("minitape.engine.record.record"), "MAX_SMALL_SIZE", 1)
    check_case(case, module, stored)
