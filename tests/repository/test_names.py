"""The public names are the names in surface.txt, and any other name raises an error with one sentence."""

import importlib
import operator
import re
import subprocess
import sys
import types

import pytest
from surface import read_names_by_namespace

import minitape as tf
from minitape.common import api_suggestions
from minitape.explain import error_texts
from minitape.explain.causes import CAUSES
from minitape.tf.api import describe_missing_name

CLASSES = {
    "tf.Tensor": type(tf.constant(1.0)),
    "tf.Variable": type(tf.Variable(1.0)),
    "tf.GradientTape": tf.GradientTape,
    "tf.Module": tf.Module,
}


def import_namespace(path):
    """Return the namespace with this path, whose first part is `minitape` itself."""
    return importlib.import_module(path.replace("tf", "minitape", 1))


def collect_names_by_path():
    """Return the names of `tf` and each namespace below it, keyed by path, without repetitions in `tf.compat.v1`."""
    found, waiting = {}, ["tf"]
    while waiting:
        path = waiting.pop()
        space = import_namespace(path)
        names = {name for name in dir(space) if not name.startswith("_")}
        inner = {name for name in names if isinstance(getattr(space, name), types.ModuleType)}
        if path == "tf.compat.v1":
            names, inner = names - found["tf"], set()
        found[path] = names
        waiting += [f"{path}.{name}" for name in inner]
    return found


FOUND = collect_names_by_path()


@pytest.mark.parametrize("path", sorted({*FOUND, *read_names_by_namespace()} - CLASSES.keys()))
def test_a_namespace_has_the_names_of_the_list_and_no_others(path):
    assert FOUND.get(path) == read_names_by_namespace().get(path)


@pytest.mark.parametrize("path", CLASSES)
def test_an_object_has_the_attributes_of_the_list(path):
    assert {name for name in read_names_by_namespace()[path] if not hasattr(CLASSES[path], name)} == set()


def test_tensorflow_1_has_the_names_of_tf_too():
    v1 = import_namespace("tf.compat.v1")
    assert v1.sin(0.5).numpy() == tf.sin(0.5).numpy() and v1.Graph is tf.Graph and v1.nn is tf.nn
    assert not hasattr(v1, "explain") and not hasattr(v1, "draw")


@pytest.mark.parametrize("path", sorted(FOUND.keys() - {"tf"}))
def test_a_namespace_is_the_same_by_import_and_by_attribute(path):
    outer, _, name = path.rpartition(".")
    assert getattr(import_namespace(outer), name) is import_namespace(path)


@pytest.mark.parametrize("name", ["image", "signal", "keras.layers.Conv3D", "compat.v1.train", "nn.pool"])
def test_a_name_that_is_not_there_gets_the_sentence(name):
    outer, _, last = f"tf.{name}".rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(import_namespace(outer), last)
    assert str(caught.value) == describe_missing_name(name)
    assert "minitape.bridges.tensorflow" in str(caught.value) and f"tf.{name}" in str(caught.value)


@pytest.mark.parametrize(("name", "ending"), [
    ("math.sine", "minitape has no tf.math.sine. Did you mean: 'sin'?"),
    ("matmull", "minitape has no tf.matmull. Did you mean: 'matmul'?"),
    ("image", "record it with minitape.bridges.tensorflow"),
])  # fmt: skip
def test_python_suggests_a_name_only_for_one_that_is_misspelled(name, ending):
    done = subprocess.run(
        [sys.executable, "-c", f"import minitape as tf; tf.{name}(1.0)"], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1].endswith(ending), done.stderr


def test_a_notebook_is_told_the_nearest_name(monkeypatch):  # Notebooks do not show Python's suggestions.
    monkeypatch.setattr(api_suggestions, "find_ipython_shell", object)
    with pytest.raises(AttributeError) as caught:
        tf.math.sine(1.0)
    assert caught.value.__notes__ == ["Did you mean tf.math.sin?"]


@pytest.mark.parametrize(("statement", "instead"), [
    ("tf.sum(x)", "tf.reduce_sum(x)"),
    ("tf.tensor(1.0)", "tf.constant(value)"),
    ("tf.math.mean(x)", "tf.reduce_mean(x)"),
    ("tf.keras.Sequential().fit(x)", "optimizer.apply_gradients"),
])  # fmt: skip
def test_habits_of_other_tools_hear_what_is_written_here(statement, instead):
    with pytest.raises(AttributeError) as caught:
        eval(statement, {"tf": tf, "x": 1.0})
    assert instead in caught.value.__notes__[0], (statement, caught.value.__notes__)


def test_what_people_are_told_to_write_exists():
    said = [
        text
        for cause in CAUSES.values()
        for (framework, _), sentences in cause.text_by_variant.items()
        if framework == "tape"
        for text in sentences
    ]
    said += error_texts.ADVICE.values()
    said += api_suggestions.REPLACEMENTS.values()
    named = {name for text in said for name in re.findall(r"\btf\.([\w.]*\w)(?![\w{])", text)} - {"Variables"}
    assert len(named) > 40 and [operator.attrgetter(name)(tf) for name in named]  # This raises for missing names.


@pytest.mark.parametrize(("statement", "name"), [
    ("from minitape import image", "image"),
    ("import minitape.image.experimental", "image"),
    ("from minitape.nn import conv1d", "nn.conv1d"),
    ("from minitape.keras.layers import Conv3D", "keras.layers.Conv3D"),
    ("import minitape.compat.v1.train", "compat.v1.train"),
])  # fmt: skip
def test_an_import_of_a_name_that_is_not_there_gets_the_sentence(statement, name):
    with pytest.raises(ImportError) as caught:
        exec(statement, {})
    assert str(caught.value) == describe_missing_name(name)


@pytest.mark.parametrize("statement", [
    "from minitape.keras.layers import Dense", "from minitape import nn, math, keras",
    "import minitape.compat.v1 as tf; tf.placeholder", "from minitape.python.framework import ops; ops.op_scope",
    "from minitape.keras import layers, callbacks", "from minitape.math import *; assert sin and log",
    "import minitape.linalg; minitape.linalg.solve", "import minitape; minitape.bridges.Recording",
])  # fmt: skip
def test_public_paths_are_imported_in_a_new_process(statement):
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
