"""Every case of the oracle: minitape does what TensorFlow 2.21 did when the goldens were made."""

import importlib
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from corpus import areas, load  # noqa: E402
from run import check, goldens  # noqa: E402

CASES = [case for area in areas() for case in load(area)]


@pytest.fixture(scope="session")
def module():
    """The module under test: minitape, or the one named by MINITAPE_ORACLE_MODULE."""
    return importlib.import_module(os.environ.get("MINITAPE_ORACLE_MODULE", "minitape"))


@pytest.fixture(scope="session")
def stored():
    """Goldens of all areas, by area."""
    return {area: goldens(area) for area in areas()}


@pytest.mark.parametrize("case", CASES, ids=[f"{case.area}/{case.name}" for case in CASES])
def test_case(case, module, stored):
    misses = check(module, case, stored[case.area].get(case.name), seconds=20)
    assert not misses, f"\n{case.code}\n" + "\n".join(misses)
