"""A long tape has its gradient, whatever has happened to the stored machine code and whenever the user presses
Ctrl-C."""

import json
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from minitape.speed import kernels
from minitape.speed.code_cache import is_private_folder, write_source_if_changed
from minitape.speed.compilation import compile_function

pytest.importorskip("numba")
if not kernels.can_compile_kernels():
    pytest.skip("numba is switched off", allow_module_level=True)

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
# Whether file permissions apply to this user, or can be made to apply.
PERMISSIONS = os.name == "posix" and (not ROOT or sys.platform.startswith("linux"))
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
    from minitape.speed import kernels
    return bool(getattr(kernels.find_or_compile_kernel(numpy.float32), "signatures", ()))

def tell(*said):
    print(json.dumps([*said, gradient(), compiled()]))
"""
# Root may write everywhere, but without its capabilities, file permissions apply to root as well. (A different user
# might not be able to read the program.)
DROP = """
import ctypes
version, none = (ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None).capset(version, none) == 0
"""
NO_HOME = """
import os, tempfile, minitape.speed.code_cache as cache
tempfile.tempdir = {nowhere!r}
cache.get_shared_cache_folder = lambda: cache.Path({shared!r}, "__pycache__")
cache.collect_trusted_owner_ids = lambda: {{0, os.getuid(), 65534}}  # The additional id is the owner of the package.
"""
NO_COMPILER = """
import numba.core.dispatcher as dispatcher
def refuse(*args):
    raise RuntimeError("there is no compiler")
dispatcher._FunctionCompiler.compile = refuse
"""


def run_python(code, options, drop, environment):
    if drop and not PERMISSIONS:
        pytest.skip("permissions do not apply to who runs the tests")
    if drop and ROOT:
        code = DROP + code
    return subprocess.run(
        [sys.executable, "-B", *options, "-c", code], env=environment, cwd=Path(__file__).parents[2],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def run_program(before="", after="tell()", options=(), drop=False, **environment):
    """Return a program's report and the lines of its other output. With ``drop``, file permissions apply even to
    root."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MINITAPE_CACHE", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    done = run_python(before + GRADIENT + after, options, drop, {**kept, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.splitlines()


def run_warmup(folder, drop=False):
    code = "import os, sys; os.umask(0o022); from minitape.cli import main; sys.argv[1:] = ['warmup']; main()"
    return run_python(code, (), drop, {**os.environ, "MINITAPE_CACHE": str(folder), "NO_COLOR": "1"})


@pytest.fixture(scope="module")
def right():
    """Return the gradient without numba."""
    (gradient, compiled), said = run_program(NUMBA_DISABLE_JIT="1")
    assert not compiled and not said
    return gradient


@pytest.fixture
def folder():
    """Yield a folder that can be removed, whatever its permissions have become."""
    made = Path(tempfile.mkdtemp())
    yield made
    for place in (made, *made.rglob("*")):
        if place.is_dir():
            place.chmod(0o755)
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def warm(right):
    """Return a cache that contains all kernels."""
    made = Path(tempfile.mkdtemp())
    done = run_warmup(made / "cache")
    assert done.stdout.startswith("the kernels are ready (") and done.stderr == ""
    yield made / "cache"
    shutil.rmtree(made)


@pytest.fixture
def cache(warm, folder):
    """Return a copy of the full cache, which a test may damage."""
    return shutil.copytree(warm, folder / "cache")


# -- damaged files ---------------------------------------------------------------------------------


def change_bits(path):
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
    "flipped bits": change_bits,
    "another pickle": lambda path: path.write_bytes(pickle.dumps({"not": "what was kept"})),
    "a folder": replace_by_folder,
    "unreadable": lambda path: path.chmod(0),
}


TEXTS = {"empty": b"", "no text": b"\xff\xfe\x00", "a program": b"raise SystemExit('what was written is not run')"}
# Each kind of damage applies to one of numba's two files in turn.
CASES = [(damage, ("nbi", "nbc")[number % 2]) for number, damage in enumerate(DAMAGES)]
CASES += [(text, "py") for text in TEXTS]

EACH = """
import tempfile, numba, numpy
from minitape.speed import kernels
from minitape.speed.code_cache import is_private_folder, write_source_if_changed
numba.njit(lambda: 0)()  # This loads the parts of numba that the test does not concern.
assert kernels.find_or_compile_kernel(numpy.float64)

def child(folder, program):
    told, said = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
    if not (number := os.fork()):
        os.dup2(told.fileno(), 1)
        os.dup2(said.fileno(), 2)
        os.environ["MINITAPE_CACHE"] = folder
        exec(program, globals())
        sys.stdout.flush()
        os._exit(0)
    status = os.waitpid(number, 0)[1]
    told.seek(0), said.seek(0)
    return [status, told.read(), said.read().splitlines()]

print(json.dumps([[child(folder, program) for program in {programs!r}] for folder in {folders!r}]))
"""


@pytest.fixture(scope="module")
def spoiled(warm, request):
    """Return, for each kind of damage, the folder, a gradient, and a gradient in a process that cannot compile."""
    if not hasattr(os, "fork"):
        pytest.skip("processes do not fork here")
    tests = [item for item in request.session.items if getattr(item, "function", None) is test_damaged_files]
    cases = [(item.callspec.params["damage"], item.callspec.params["suffix"]) for item in tests]
    with tempfile.TemporaryDirectory() as place:
        folders = [shutil.copytree(warm, Path(place) / str(number)) for number in range(len(cases))]
        for (damage, suffix), folder in zip(cases, folders, strict=True):
            paths = [*folder.rglob(f"*.{suffix}" if suffix == "py" else f"*float32*backward*.{suffix}")]
            assert paths
            for path in paths:
                if suffix == "py":
                    path.write_bytes(TEXTS[damage])
                else:
                    DAMAGES[damage](path)
        after = EACH.format(programs=["tell()", NO_COMPILER + "tell()"], folders=[*map(str, folders)])
        yield dict(zip(
            cases, zip(run_program(after=after, drop=PERMISSIONS, MINITAPE_CACHE=str(warm))[0], folders, strict=True),
            strict=True,
        ))  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(("damage", "suffix"), CASES)
def test_damaged_files(damage, suffix, spoiled, right):
    if damage == "unreadable" and not PERMISSIONS:
        pytest.skip("permissions do not apply to who runs the tests")
    ((status, told, said), (again_status, told_again, said_again)), folder = spoiled[damage, suffix]
    assert status == again_status == 0
    assert json.loads(told) == [right, True]
    if suffix == "py":  # The source file exists for readers of error messages.
        assert said == []
    else:
        assert len(said) == 1 and str(folder) in said[0] and "delete the folder" in said[0], said
    if damage == "a folder":  # Nothing has repaired the folder.
        assert json.loads(told_again) == [right, False] and len(said_again) == 2
    else:
        assert (json.loads(told_again), said_again) == ([right, True], [])


# -- folders ---------------------------------------------------------------------------------------


def is_advice_given(said):
    return len(said) == 1 and "cannot be saved" in said[0] and "Set MINITAPE_CACHE" in said[0]


def lock_folder(folder):
    for place in (folder, folder / "__pycache__"):
        place.chmod(0o555)


@pytest.mark.long
@POSIX
def test_a_folder_that_can_not_be_written(cache, right):
    for path in cache.rglob("*backward*"):
        path.unlink()
    lock_folder(cache)
    told, said = run_program(drop=True, MINITAPE_CACHE=str(cache))
    assert told == [right, True]
    assert is_advice_given(said) and str(cache) in said[0], said


@pytest.mark.long
@POSIX
def test_a_full_disk(folder, right):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    told, said = run_program(full, options=["-W", "error"], MINITAPE_CACHE=str(folder))
    assert told == [right, True] and is_advice_given(said), said
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.mark.long
@POSIX
def test_a_home_that_can_not_be_written(folder, right):
    before = NO_HOME.format(nowhere=str(folder / "nowhere"), shared=str(folder))
    folder.chmod(0o555)
    told, said = run_program(before, drop=True, HOME=str(folder))
    assert told == [right, True] and is_advice_given(said), said


@pytest.mark.long
@POSIX
def test_what_the_administrator_warmed_for_all(folder, warm, right):
    """Nothing can be written, and nothing has to be written."""
    shared = shutil.copytree(warm, folder / "__pycache__")
    lock_folder(shared)
    folder.chmod(0o555)
    if ROOT:  # Root may change the owner.
        for path in (shared, *shared.rglob("*")):
            os.chown(path, 65534, 65534)
    before = NO_HOME.format(nowhere=str(folder / "nowhere"), shared=str(folder)) + NO_COMPILER
    assert run_program(before, drop=True, HOME=str(folder)) == ([right, True], [])


@pytest.mark.long
@POSIX
def test_what_was_warmed_for_another_machine(folder, warm, right):
    """The code that is compiled for this folder is stored in the next folder, and found there."""
    shutil.copytree(warm, folder / "__pycache__")
    for path in (folder / "__pycache__").rglob("*backward*"):
        path.unlink()
    home = folder / "home"
    home.mkdir()
    lock_folder(folder / "__pycache__")
    before = NO_HOME.format(nowhere=str(folder / "nowhere"), shared=str(folder))
    for _ in range(2):
        assert run_program(before, drop=True, HOME=str(home)) == ([right, True], [])
        before += NO_COMPILER


class Evil:
    """An object whose pickle runs code."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def build_mode_change(bits, *parts):
    return lambda cache: Path(cache, *parts).chmod(bits)


def build_owner_change(*parts):
    return pytest.param(
        lambda cache: os.chown(Path(cache, *parts), 65534, 65534),
        marks=pytest.mark.skipif(not ROOT, reason="only root gives folders away"),
    )


LOOSE = [
    build_mode_change(0o777, "__pycache__"),
    build_mode_change(0o775, "__pycache__"),
    build_mode_change(0o775),
    build_mode_change(0o777, ".."),
]
LOOSE += [build_owner_change("__pycache__"), build_owner_change(), build_owner_change("..")]


@POSIX
@pytest.mark.parametrize("loosen", LOOSE)
def test_a_folder_that_others_can_change_is_not_private(folder, loosen):
    kept = folder / "cache"
    (kept / "__pycache__").mkdir(mode=0o755, parents=True)
    kept.chmod(0o755)
    (folder / "link").symlink_to(kept)
    assert (
        is_private_folder(kept) and is_private_folder(folder / "link") and is_private_folder(folder / "not there yet")
    )
    loosen(kept)
    assert not is_private_folder(kept) and not is_private_folder(folder / "link")


@POSIX
@pytest.mark.skipif(not ROOT, reason="only root gives links away")
def test_a_link_of_others_is_not_private(folder):
    (folder / "link").symlink_to(folder)
    os.chown(folder / "link", 65534, 65534, follow_symlinks=False)
    assert is_private_folder(folder) and not is_private_folder(folder / "link")


@POSIX
def test_a_folder_that_is_made_is_private(folder):
    before = os.umask(0o002)
    try:
        write_source_if_changed(folder / "a" / "b", "minitape_kernels_x", "")
    finally:
        os.umask(before)
    assert is_private_folder(folder / "a" / "b")


@pytest.mark.long
@POSIX
@pytest.mark.parametrize("loosen", [build_mode_change(0o777, "__pycache__"), build_owner_change()])
def test_a_folder_that_others_can_write_is_not_read(warm, folder, loosen, right):
    cache = shutil.copytree(warm, folder / "cache")
    for path in cache.rglob("*.nb?"):
        path.write_bytes(pickle.dumps(Evil(str(cache / "evil"))))
    loosen(cache)
    told, said = run_program(MINITAPE_CACHE=str(cache))
    assert told == [right, True] and is_advice_given(said) and "other users own" in said[0], said
    assert not (cache / "evil").exists()


# -- numba -----------------------------------------------------------------------------------------


IN_A_FUNCTION = """
@tf.function
def long(x):
    y = x
    for i in range(400):
        y = tf.sin(y) * 0.5 + x
    return y
print(json.dumps([float(long(tf.constant(0.75))), gradient(), compiled()]))
"""


@pytest.mark.parametrize("how", [pytest.param("compile", marks=pytest.mark.long), "import"])
def test_numba_that_fails(how, folder, right):
    if how == "import":
        (folder / "numba").mkdir()
        (folder / "numba" / "__init__.py").write_text("raise ImportError('Numba needs NumPy 2.2 or less')")
    before = NO_COMPILER if how == "compile" else f"import sys; sys.path.insert(0, {str(folder)!r})\n"
    told, said = run_program(before, IN_A_FUNCTION, MINITAPE_CACHE=str(folder / "cache"))
    assert told[1:] == [right, False]
    assert told == run_program(after=IN_A_FUNCTION, NUMBA_DISABLE_JIT="1")[0]
    assert len(said) == 1 and "numba" in said[0] and "NUMBA_DISABLE_JIT=1" in said[0], said


# -- the command -----------------------------------------------------------------------------------


@pytest.mark.long
def test_the_command_mends_what_is_damaged(cache):
    for path in cache.rglob("*backward*"):
        path.write_bytes(b"")
    done = run_warmup(cache)
    assert done.returncode == 0 and done.stdout.startswith("the kernels are ready ("), done
    assert len(done.stderr.splitlines()) == 1 and "cannot be read" in done.stderr
    assert run_warmup(cache).stderr == ""


@pytest.mark.long
@POSIX
def test_the_command_says_what_is_wrong(cache):
    for path in cache.rglob("*backward*"):
        path.unlink()
    lock_folder(cache)
    done = run_warmup(cache, drop=True)
    said, error = done.stderr.splitlines()
    assert done.returncode == 1 and is_advice_given([said])
    assert error.startswith("Error: the kernels are not ready: the kernels could not be saved for the next process.")


# -- Ctrl-C ----------------------------------------------------------------------------------------

INTERRUPTED = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # Background jobs ignore SIGINT.
at, seen = {at}, 0

def trace(frame, event, arg):
    global seen
    file = frame.f_code.co_filename.replace(os.sep, "/")
    if any(part in file for part in ("/numba/", "/llvmlite/", "importlib", "minitape/speed")):
        seen += 1
        if seen == at:
            sys.settrace(None)
            threading.settrace(None)
            os.kill(os.getpid(), signal.SIGINT)

threading.settrace(trace)
sys.settrace(trace)
try:
    compiled()
    outcome = "not interrupted"
except KeyboardInterrupt:
    outcome = "interrupted"
tell(outcome)
"""


@POSIX
@pytest.mark.long
@pytest.mark.parametrize("at", [20_000, *(pytest.param(at, marks=pytest.mark.longest) for at in (300, 202_000))])
def test_an_interrupt_while_the_kernels_are_compiled(at, folder, right):
    """The signal arrives at a given function call of the compilation, which begins with the import of numba."""
    assert run_program(after=INTERRUPTED.format(at=at), MINITAPE_CACHE=str(folder)) == (
        ["interrupted", right, True],
        [],
    )


def test_all_is_compiled_in_a_thread_of_its_own(tmp_path, monkeypatch):
    """This includes later compilations for other types, and for array layouts that were not tried."""
    from numba.core.dispatcher import _FunctionCompiler

    monkeypatch.setenv("MINITAPE_CACHE", str(tmp_path))
    threads, step = [], _FunctionCompiler.compile
    monkeypatch.setattr(
        _FunctionCompiler, "compile", lambda *args: threads.append(threading.current_thread()) or step(*args)
    )
    text = "def double(x):\n    return x * 2\n"
    double = compile_function(text, "test", "double", [np.ones(4)])
    assert double(np.ones(4)[::2]).tolist() == [2.0, 2.0] and double(3) == 6
    assert compile_function(text, "test", "double", [1.5])(1.5) == 3.0
    assert len(threads) >= 4 and threading.current_thread() not in threads
