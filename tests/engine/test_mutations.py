"""Of small faults in the core (recording, sweep, reach, the table of primitives) tests notice nine of ten.

They were drawn at random, see `tests/mutations.py`; each is made once more here, and the test that noticed it runs.
"""

import os
import subprocess
import sys

import pytest

pytest.importorskip("minitape.speed", reason="one of the tests compares with the fast forms")


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")
def test_nine_of_ten_faults_are_noticed(repository):
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutations"], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    scores = [line for line in done.stdout.splitlines() if line.endswith(" noticed")]
    assert len(scores) == 4, done.stdout
    for line in scores:
        area, _, score = line.partition(": ")
        noticed, made = (int(word) for word in score.split() if word.isdigit())
        assert made >= 20, f"{area} is another program now: python -m tests.mutations {area} --keep"
        assert noticed >= 0.9 * made, done.stdout
