"""10,000 random programs give what TensorFlow gives: with `--longest`, where TensorFlow is installed.

TENSORFLOW_PYTHON may name an interpreter that has it. The programs are those of `tests/oracle/wander.py`.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

NAMED = os.environ.get("TENSORFLOW_PYTHON")


@pytest.mark.skipif(not NAMED and importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_random_programs_agree_with_tensorflow(repository, longest):
    if not longest:
        pytest.skip("an hour: pytest --longest")
    command = [sys.executable, repository / "tests/oracle/wander.py", f"--python={NAMED or sys.executable}", "--seed=200001", "--count=10000"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\n0 differ: without an explanation" in done.stdout
