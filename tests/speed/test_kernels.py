"""The compiled kernels affect only the speed, even if numba is off or missing, or two processes share a cache."""

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import minitape as tf

cache = import_module("minitape.speed.code_cache")

PROGRAM = """
import sys
{before}
import minitape as tf
x, w = tf.Variable(0.5), tf.Variable(1.25)
with tf.GradientTape() as tape:
    y = x
    for i in range(400):
        y = tf.sin(y * w) + x / (2.0 + y * y) - float(i % 5)
    v = tf.reduce_sum(tf.stack([y, w]) * tf.constant([2.0, 3.0]))
print([float(g) for g in tape.gradient(v, [x, w])], "numba" in sys.modules and sys.modules["numba"] is not None)
"""

# A long program does the same.
KERNELS = """
import numpy
from minitape.speed.kernels import find_or_compile_kernel
find_or_compile_kernel(numpy.float32)
"""


def run_program(before=KERNELS, lines=0, **environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(before=before)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0 and len(done.stderr.splitlines()) == lines, done.stderr
    numbers, _, used = done.stdout.strip().rpartition(" ")
    return numbers, used == "True"


@pytest.fixture(scope="module")
def usual():
    return run_program()


def test_numba_switched_off_gives_the_same_numbers(usual):
    assert usual[1]
    assert run_program(NUMBA_DISABLE_JIT="1") == (usual[0], False)


def test_without_numba_the_same_numbers(usual):
    assert run_program("sys.modules['numba'] = None\n" + KERNELS) == (usual[0], False)


def test_a_short_program_does_not_wait_for_numba(usual):
    assert run_program("") == (usual[0], False)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owners here")
def test_a_temporary_folder_that_others_can_write_is_not_used(tmp_path, monkeypatch):
    """numba unpickles whatever it finds next to the generated code."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"minitape-{os.getuid()}"
    assert [*cache.iter_temporary_folders()] == [folder]
    folder.chmod(0o777)
    assert [*cache.iter_temporary_folders()] == []
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert [*cache.iter_temporary_folders()] == []


def test_modules_that_were_used_last_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("MINITAPE_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "MAX_MODULES", 2)
    beside = tmp_path / "__pycache__"
    beside.mkdir()
    for number in range(4):
        path = Path(str(cache.load_generated_module(f"number = {number}", "test").__file__))
        (beside / f"{path.stem}.numbers-1.nbi").touch()
        os.utime(path, (number, number))
        first = cache.load_generated_module("number = 0", "test")  # Every call uses this module.
    kept = {path.stem for path in tmp_path.glob("*.py")}
    assert kept == {first.__name__, path.stem}
    assert {file.name.split(".")[0] for file in beside.iterdir()} == kept


@pytest.mark.long
def test_two_processes_fill_an_empty_cache_at_once(usual, tmp_path):
    environment = {**os.environ, "MINITAPE_CACHE": str(tmp_path / "cache")}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(before=KERNELS)], stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    outputs = [p.communicate()[0].strip() for p in both]
    assert [p.returncode for p in both] == [0, 0]
    assert outputs == [f"{usual[0]} True"] * 2
    assert any(name.suffix == ".py" for name in (tmp_path / "cache").iterdir())


def test_warmup_reports_its_progress():
    from minitape.speed import kernels

    seen = []
    kernels.warm_up(lambda name, done, total: seen.append((name, done, total)))
    assert seen == [("float32", 0, 2), ("float64", 1, 2), ("done", 2, 2)]


@pytest.mark.parametrize("rows", [1_000, 40_000])
def test_kernel_calls_of_a_gradient(rows, monkeypatch):
    """A sweep makes one call per block of rows, however long the tape is, and no kernel is called while recording."""
    x = tf.Variable(0.5)
    kernels = import_module("minitape.speed.kernels")
    kernel, calls = kernels.find_or_compile_kernel(np.float32), []
    if kernel is None:
        pytest.skip("numba is switched off")
    monkeypatch.setitem(kernels._kernels, np.float32, lambda *a: calls.append(a) or kernel(*a))
    with tf.GradientTape() as tape:
        y = x
        for _ in range(rows):
            y = y * x
        assert calls == []
    tape.gradient(y, x)
    blocks = len(tape._record.blocks)
    assert blocks == rows // 16384 + 1
    assert 0 < len(calls) <= blocks
