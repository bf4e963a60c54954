"""Whatever has become of the kept machine code, and whenever the user presses Ctrl-C: a long tape has its gradient."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("numba")

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
POSIX = pytest.mark.skipif(os.name != "posix", reason="there are no such permissions here")

GRADIENT = """
import json, os, sys
import minitape as tf

def gradient():
    x, w = tf.Variable(0.5), tf.Variable(1.25)
    with tf.GradientTape() as tape:
        y = x
        for i in range(300):
            y = tf.sin(y * w) + x / (2.0 + y * y) - float(i % 5)
    return [float(g) for g in tape.gradient(y, [x, w])]

def compiled():
    import numpy
    from minitape import kernels
    loaded = kernels.load(numpy.float32)
    return all(getattr(getattr(loaded, name), "signatures", ()) for name in ("forward", "backward"))

def tell(*said):
    print(json.dumps([*said, gradient(), compiled()]))
"""
# Root may write everywhere; without its capabilities permissions apply to it. (Another user might not reach the program.)
DROP = """
import ctypes
version, none = (ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(version, none) == 0
"""
NO_HOME = """
import tempfile, minitape.kernels.cache as cache
tempfile.tempdir = {nowhere!r}
cache.__file__ = {package!r} + "/cache.py"
"""
NO_COMPILER = """
import numba.core.dispatcher as dispatcher
def refuse(*args):
    raise RuntimeError("there is no compiler")
dispatcher._FunctionCompiler.compile = refuse
"""


def python(code, options, drop, environment):
    if drop and ROOT:
        if not sys.platform.startswith("linux"):
            pytest.skip("root runs the tests, to whom permissions do not apply")
        code = DROP + code
    return subprocess.run([sys.executable, "-B", *options, "-c", code], env=environment, cwd=Path(__file__).parents[2],
                          capture_output=True, text=True, check=False)  # fmt: skip


def run(before="", after="tell()", options=(), drop=False, **environment):
    """What a program told, and what else it said, line by line. ``drop``: permissions apply to it, also as root."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MINITAPE_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    done = python(before + GRADIENT + after, options, drop, {**kept, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.splitlines()


@pytest.fixture(scope="session")
def right():
    """The gradient as it is without numba."""
    (gradient, compiled), said = run(NUMBA_DISABLE_JIT="1")
    assert not compiled and not said
    return gradient


@pytest.fixture
def folder():
    """A folder that can be removed whatever its permissions have become."""
    made = Path(tempfile.mkdtemp())
    yield made
    for place in (made, *made.rglob("*")):
        if place.is_dir():
            place.chmod(0o755)
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def warm(right):
    """A cache with the kernels in it."""
    made = Path(tempfile.mkdtemp())
    assert run(MINITAPE_CACHE=str(made / "cache")) == ([right, True], [])
    yield made / "cache"
    shutil.rmtree(made)


@pytest.fixture
def cache(warm, folder):
    """A copy of it, to be spoiled."""
    return shutil.copytree(warm, folder / "cache")


# -- damaged files ----------------------------------------------------------------------------------------------------


def flip(path):
    content = bytearray(path.read_bytes())
    for place in random.Random(3).sample(range(len(content)), 20):
        content[place] ^= 1 << place % 8
    path.write_bytes(content)


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "random bytes": lambda path: path.write_bytes(random.Random(1).randbytes(2000)),
    "flipped bits": flip,
    "the last bit": lambda path: path.write_bytes(path.read_bytes()[:-1] + bytes([path.read_bytes()[-1] ^ 1])),
    "another pickle": lambda path: path.write_bytes(pickle.dumps({"not": "what was kept"})),
    "text": lambda path: path.write_text("\ufeffthis was edited\n"),
    "a folder": replace_by_folder,
    "unreadable": lambda path: path.chmod(0),
}


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files(damage, suffix, cache, right):
    if damage == "unreadable" and os.name != "posix":
        pytest.skip("there are no such permissions here")
    files = [*cache.rglob(f"*forward*.{suffix}")]
    assert files
    for path in files:
        DAMAGES[damage](path)
    told, said = run(drop=damage == "unreadable", MINITAPE_CACHE=str(cache))
    assert told == [right, True]
    assert len(said) == 1 and str(cache) in said[0] and "delete that folder" in said[0], said


def test_a_damaged_cache_is_mended(cache, right):
    for path in cache.rglob("*.nb?"):
        flip(path)
    told, said = run(options=["-W", "error"], MINITAPE_CACHE=str(cache))
    assert told == [right, True] and len(said) == 1
    assert run(NO_COMPILER, MINITAPE_CACHE=str(cache)) == ([right, True], [])


@pytest.mark.parametrize("text", [b"", b"\xff\xfe\x00", b"raise SystemExit('what was written is not run')"])
def test_damaged_text(text, cache, right):
    """The generated text is there for who reads an error: it is written again."""
    for path in cache.glob("*.py"):
        path.write_bytes(text)
    assert run(NO_COMPILER, MINITAPE_CACHE=str(cache)) == ([right, True], [])


# -- folders ----------------------------------------------------------------------------------------------------------


def is_told_how(said):
    return len(said) == 1 and "can not be kept" in said[0] and "Set MINITAPE_CACHE" in said[0]


@POSIX
def test_a_folder_that_can_not_be_written(folder, right):
    folder.chmod(0o555)
    for chosen in (folder, folder / "below"):
        told, said = run(drop=True, MINITAPE_CACHE=str(chosen))
        assert told == [right, True]
        assert is_told_how(said) and str(folder) in said[0], said


def test_a_file_in_place_of_the_folder(folder, right):
    (folder / "file").touch()
    told, said = run(MINITAPE_CACHE=str(folder / "file" / "below"))
    assert told == [right, True] and is_told_how(said), said


@POSIX
def test_a_full_disk(folder, right):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    told, said = run(full, MINITAPE_CACHE=str(folder))
    assert told == [right, True] and is_told_how(said), said
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@POSIX
def test_a_package_and_a_home_that_can_not_be_written(folder, right):
    before = NO_HOME.format(nowhere=str(folder / "nowhere"), package=str(folder))
    folder.chmod(0o555)
    told, said = run(before, drop=True, HOME=str(folder))
    assert told == [right, True] and is_told_how(said), said


@POSIX
def test_a_package_that_the_administrator_warmed(folder, warm, right):
    """Nothing can be written, and nothing must be."""
    shutil.copytree(warm, folder / "__pycache__")
    (folder / "__pycache__").chmod(0o555)
    folder.chmod(0o555)
    before = NO_HOME.format(nowhere=str(folder / "nowhere"), package=str(folder)) + NO_COMPILER
    assert run(before, drop=True, HOME=str(folder)) == ([right, True], [])


@POSIX
def test_a_package_that_was_warmed_for_another_machine(folder, warm, right):
    """What is compiled for this one goes to the next folder, and is found there."""
    shutil.copytree(warm, folder / "__pycache__")
    for path in (folder / "__pycache__").rglob("*.nb?"):
        path.unlink()
    home = folder / "home"
    home.mkdir()
    (folder / "__pycache__").chmod(0o555)
    before = NO_HOME.format(nowhere=str(folder / "nowhere"), package=str(folder))
    for _ in range(2):
        assert run(before, drop=True, HOME=str(home)) == ([right, True], [])
        before += NO_COMPILER


class Evil:
    """A pickle that runs something."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@POSIX
@pytest.mark.parametrize("beside", [False, True])
def test_a_folder_that_others_can_write_is_not_read(beside, cache, right):
    for path in cache.rglob("*.nb?"):
        path.write_bytes(pickle.dumps(Evil(str(cache / "evil"))))
    (cache / "__pycache__" if beside else cache).chmod(0o777)
    told, said = run(MINITAPE_CACHE=str(cache))
    assert told == [right, True] and is_told_how(said) and "others" in said[0], said
    assert not (cache / "evil").exists()


# -- numba ------------------------------------------------------------------------------------------------------------


IN_A_FUNCTION = """
@tf.function
def long(x):
    y = x
    for i in range(400):
        y = tf.sin(y) * 0.5 + x
    return y
print(json.dumps([float(long(tf.constant(0.75))), gradient(), compiled()]))
"""


@pytest.mark.parametrize("how", ["compile", "import"])
def test_numba_that_fails(how, folder, right):
    if how == "import":
        (folder / "numba").mkdir()
        (folder / "numba" / "__init__.py").write_text("raise ImportError('Numba needs NumPy 2.2 or less')")
    before = NO_COMPILER if how == "compile" else f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    told, said = run(before, IN_A_FUNCTION, MINITAPE_CACHE=str(folder / "cache"))
    assert told[1:] == [right, False]
    assert told == run(after=IN_A_FUNCTION, NUMBA_DISABLE_JIT="1")[0]
    assert len(said) == 1 and "numba" in said[0] and "NUMBA_DISABLE_JIT=1" in said[0], said


# -- the command ------------------------------------------------------------------------------------------------------


def warmup(folder, drop=False):
    code = "import sys; from minitape.cli import main; sys.argv[1:] = ['warmup']; main()"
    return python(code, (), drop, {**os.environ, "MINITAPE_CACHE": str(folder), "NO_COLOR": "1"})


def test_the_command_mends_what_is_damaged(cache):
    for path in cache.rglob("*.nb?"):
        path.write_bytes(b"")
    done = warmup(cache)
    assert done.returncode == 0 and done.stdout.startswith("kernels are ready ("), done
    assert len(done.stderr.splitlines()) == 1 and "can not be read" in done.stderr
    assert warmup(cache).stderr == ""


@POSIX
def test_the_command_says_what_is_wrong(folder):
    folder.chmod(0o555)
    done = warmup(folder, drop=True)
    said, error = done.stderr.splitlines()
    assert done.returncode == 1 and is_told_how([said])
    assert error == "Error: the kernels are not ready: they could not be kept for the next process. Long tapes work, and take longer."


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------

INTERRUPTED = """
import signal, threading
at, seen = {at}, 0

def trace(frame, event, arg):
    global seen
    file = frame.f_code.co_filename.replace(os.sep, "/")
    if any(part in file for part in ("/numba/", "/llvmlite/", "importlib", "minitape/kernels")):
        seen += 1
        if seen == at:
            sys.settrace(None)
            threading.settrace(None)
            os.kill(os.getpid(), signal.SIGINT)

threading.settrace(trace)
sys.settrace(trace)
try:
    gradient()
    outcome = "not interrupted"
except KeyboardInterrupt:
    outcome = "interrupted"
tell(outcome)
"""


@POSIX
@pytest.mark.parametrize("at", [300, 5_000, 20_000, 101_000, 150_000, 202_000, 250_000, 600_000])
def test_an_interrupt_while_the_kernels_are_compiled(at, folder, right):
    """The signal comes at the so manieth call of a function that compiling takes, from the import of numba on."""
    assert run(after=INTERRUPTED.format(at=at), MINITAPE_CACHE=str(folder)) == (["interrupted", right, True], [])


@pytest.mark.parametrize("step", ["dispatcher._FunctionCompiler.compile", "dispatcher.Dispatcher.add_overload"])
def test_an_interrupt_inside_of_numba(step, folder, right):
    """Even there, where no signal is raised, nothing half-made is left."""
    owner, _, name = step.rpartition(".")
    after = f"""
import numba.core.dispatcher as dispatcher
step = {step}
def interrupted(*args):
    {step} = step
    raise KeyboardInterrupt
{step} = interrupted
try:
    gradient()
except KeyboardInterrupt:
    tell("interrupted")
"""
    assert run(after=after, MINITAPE_CACHE=str(folder)) == (["interrupted", right, True], [])
