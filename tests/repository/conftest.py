"""Define fixtures for the tests of the documentation."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def build():
    """Return the modules of the documentation's build."""
    pytest.importorskip("sphinx", reason='no sphinx: pip install -e ".[docs]"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "docs" / "site"), str(ROOT / "docs"), *sys.path])
        import build

        yield build
