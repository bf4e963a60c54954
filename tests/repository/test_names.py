"""The public names: each stands in surface.txt with its reason, and a name that is not there is answered well."""

import functools
import importlib
import subprocess
import sys
import types
from pathlib import Path

import pytest
from surface import listed

import minitape as tf

SENTENCE = (
    "{} is not in minitape, a tape to learn from. To see and explain a program that uses it, watch the program itself: "
    "minitape.bridges.tensorflow (docs/explain.md)."
)


def reached(path):
    """The namespace of this path: its first part is `minitape` itself."""
    return functools.reduce(getattr, path.split(".")[1:], tf)


def walk():
    """Path -> namespace, for `tf` and everything below it, each once, under its shortest path."""
    found, waiting = {}, [("tf.keras", tf.keras), ("tf", tf)]  # Keras first: tf.losses is tf.keras.losses
    while waiting:
        path, space = waiting.pop(0)
        if any(space is known for known in found.values()):
            continue
        found[path] = space
        below = ((name, getattr(space, name)) for name in dir(space))
        waiting += [(f"{path}.{name}", inner) for name, inner in below if isinstance(inner, types.ModuleType)]
    return found


SPACES = walk()
EVERY = pytest.mark.parametrize("path", sorted({*SPACES, *listed()}))


@EVERY
def test_a_namespace_has_the_names_of_the_list(path):
    have, wanted = {name for name in dir(SPACES[path]) if not name.startswith("_")}, listed()[path]
    if path == "tf.compat.v1":  # it shares names with tf
        have -= {name for name in listed()["tf"] - wanted if getattr(tf, name) is getattr(SPACES[path], name, None)}
    assert {"not listed": sorted(have - wanted), "gone": sorted(wanted - have)} == {"not listed": [], "gone": []}


@EVERY
def test_a_namespace_is_the_same_by_import_and_by_attribute(path):
    space = reached(path)
    if isinstance(space, types.ModuleType):
        assert importlib.import_module(path.replace("tf", "minitape", 1)) is space


def names_of_tensorflow():
    """The lines of the list of TensorFlow's names that are namespaces of minitape, too."""
    text = (Path(tf.__file__).parent / "tf" / "tensorflow_names.txt").read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {path: names.split() for path, _, names in lines if not path.endswith(")")}


TENSORFLOW = names_of_tensorflow()


@pytest.mark.parametrize("path", sorted(TENSORFLOW))
def test_a_name_of_tensorflow_is_here_or_the_message_says_where_to_go(path):
    space, have = reached(path), {*listed()[path], *(listed()["tf"] if path == "tf.compat.v1" else ())}
    for name in TENSORFLOW[path]:
        if name in have:
            continue
        with pytest.raises(AttributeError) as caught:
            getattr(space, name)
        assert str(caught.value) == SENTENCE.format(f"{path}.{name}")


def test_the_list_of_tensorflow_has_the_namespaces_of_minitape():
    assert {*TENSORFLOW} == {path for path in listed() if not path.startswith(("tf.python", "tf.explain"))}


@pytest.mark.parametrize("name", ["variable", "reduce_sums", "math.sine", "keras.losses.Hubr", "compat.v1.placehold"])
def test_a_name_that_nobody_has_gets_pythons_own_message(name):
    path, _, last = f"minitape.{name}".rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(reached(path), last)
    assert str(caught.value) == f"module {path!r} has no attribute {last!r}"
    assert (caught.value.name, caught.value.obj) == (last, reached(path))  # of which Python suggests the nearest


@pytest.mark.parametrize(
    ("program", "last"),
    [
        ("tf.math.sine(1.0)", "module 'minitape.math' has no attribute 'sine'. Did you mean: 'sin'?"),
        ("tf.nn.conv1d", SENTENCE.format("tf.nn.conv1d")),
        ("tf.data.Dataset.range(3).shufle(3)", "'Dataset' object has no attribute 'shufle'. Did you mean: 'shuffle'?"),
    ],
)
def test_what_python_prints_at_the_end_of_a_program(program, last):
    done = subprocess.run(
        [sys.executable, "-c", f"import minitape as tf; {program}"], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == f"AttributeError: {last}"  # said once


def test_a_module_inside_is_no_name():
    for name in ("engine", "graphs", "ops", "speed", "tape"):
        with pytest.raises(AttributeError, match=rf"^module 'minitape' has no attribute '{name}'$"):
            getattr(tf, name)


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("from minitape import image", "tf.image"),
        ("from minitape import CriticalSection", "tf.CriticalSection"),
        ("import minitape.image", "tf.image"),
        ("import minitape.image.experimental", "tf.image"),
        ("from minitape.image import resize", "tf.image"),
        ("from minitape.nn import conv1d", "tf.nn.conv1d"),
        ("from minitape.keras.layers import Conv3D", "tf.keras.layers.Conv3D"),
        ("import minitape.compat.v1.train", "tf.compat.v1.train"),
    ],
)
def test_an_import_of_a_name_of_tensorflow_says_where_to_go(statement, name):
    with pytest.raises(ImportError) as caught:
        exec(statement, {})
    assert str(caught.value) == SENTENCE.format(name)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from minitape import imag", "cannot import name 'imag' from 'minitape'"),
        ("import minitape.imag", "No module named 'minitape.imag'"),
        ("from minitape.nn import rleu", "cannot import name 'rleu' from 'minitape.tf.nn'"),
    ],
)
def test_an_import_of_a_name_that_nobody_has_gets_pythons_own_message(statement, message):
    with pytest.raises(ImportError, match=f"^{message}"):
        exec(statement, {})
