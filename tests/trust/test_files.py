"""Files from others are read as data, so nothing in them is imported, run or opened.

`hostile.py` reads hundreds of files that were written to do harm, in a process in which every import, every compiled
text and every opened file is seen.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def seen(tmp_path_factory, long, longest):
    """Return what the process that reads hostile files saw, for each kind of file.

    With ``--longest``, the process reads new files of each kind for ten minutes.
    """
    script = Path(__file__).with_name("hostile.py")
    how = ["--minutes=10"] if longest else [] if long else ["--part=0.02"]
    done = subprocess.run(
        [sys.executable, script, *how], cwd=tmp_path_factory.mktemp("hostile"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", ["guard", "progress", "snapshots", "recordings", "hand_ins"])
def test_hostile_files_import_run_and_open_nothing(seen, kind):
    assert seen[kind] == [] and "outside" not in seen, f"read: {seen['read']}"
