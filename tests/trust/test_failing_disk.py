"""If one call fails on a disk, files remain complete, users see an error, and the next run works.

`failing_disk.py` contains the scenarios and the conditions that must hold. `failing_calls.c`, which is built here,
makes the calls fail.
"""

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="LD_PRELOAD needs glibc's names of the calls")


@functools.cache
def find_compiler():
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


@pytest.fixture(scope="module")
def failing_calls(tmp_path_factory):
    """Return the path of the compiled `failing_calls.c`."""
    if not (compiler := find_compiler()):
        pytest.skip("no C compiler (cc, gcc or clang) on PATH, with which the failing calls are built")
    library = tmp_path_factory.mktemp("calls") / "failing_calls.so"
    command = [
        compiler,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        HERE / "failing_calls.c",
        "-o",
        library,
        "-ldl",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return library


def run_scenarios(library, folder, *arguments):
    command = [sys.executable, HERE / "failing_disk.py", *arguments]
    environment = {**os.environ, "LD_PRELOAD": str(library), "MINITAPE_LANGUAGE": "en", "TMPDIR": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    violations = [f"{result['scenario']}: {text}" for result in results for text in result["violations"]]
    runs = sum(result["runs"] for result in results)
    print(f"{runs} runs, {len(violations)} violations", {result["scenario"]: result["calls"] for result in results})
    assert not violations, "\n".join(violations)
    return runs


@pytest.mark.long
def test_a_call_that_fails_leaves_the_old_file_or_the_new_one_and_is_told(failing_calls, tmp_path, long):
    assert run_scenarios(failing_calls, tmp_path, "--sample", "4" if long else "13") > 50


@pytest.mark.longest
def test_each_call_fails_with_each_error(failing_calls, tmp_path):
    assert run_scenarios(failing_calls, tmp_path) > 1000
