"""In the public API, each name has an example, each argument has an effect, and a namespace shows only its names."""

import ast
import enum
import importlib.util
import inspect
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from surface import read_names_by_namespace

import minitape as tf


def api():
    """Return the module that writes the pages of the API, which also walks the namespaces."""
    script = Path(__file__).parents[2] / "docs" / "site" / "api.py"
    specification = importlib.util.spec_from_file_location("api", script)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


API = api()
names, is_namespace, NAMESPACES = API.list_public_names, API.is_namespace, API.collect_namespaces()
EVERY = pytest.mark.parametrize("path", sorted(NAMESPACES))


def test_the_walk_finds_the_namespaces():
    assert {"tf.math", "tf.python.framework.ops", "tf.compat.v1", "tf.keras.layers"} <= set(NAMESPACES)


@EVERY
def test_every_public_callable_has_an_example(path):
    without = []
    for name in names(NAMESPACES[path]):
        value = getattr(NAMESPACES[path], name)
        if is_namespace(value) or not callable(value) or not getattr(value, "__module__", "").startswith("minitape"):
            continue
        if ">>>" not in (inspect.getdoc(value) or ""):
            without.append(f"{path}.{name}")
    assert without == []


# Objects of these classes have a different class.
MADE = {"tf.Tensor": type(tf.constant(0)), "tf.Variable": type(tf.Variable(0)), "tf.GradientTape": tf.GradientTape}


@pytest.mark.parametrize("path", MADE)
def test_every_listed_method_has_an_example(path):
    """Return whether an example is in the documentation of the function, of its class, or of a method that calls it."""
    kinds = [k for k in MADE[path].__mro__ if k.__module__.startswith(("minitape", "tensorflow"))]
    texts = [k.__doc__ or "" for k in kinds] + [
        getattr(m, "__doc__", "") or "" for k in kinds for m in vars(k).values()
    ]
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip().startswith((">>>", "..."))]
    listed_methods = [name for name in read_names_by_namespace()[path] if inspect.isfunction(getattr(MADE[path], name))]
    assert [name for name in sorted(listed_methods) if not any(f".{name}(" in line for line in lines)] == []


def iter_public_functions(namespace, methods=True):
    """Yield (function, documentation) for the functions of a namespace and the public methods of its classes."""
    for name in names(namespace):
        value = getattr(namespace, name)
        if inspect.isfunction(value):
            value = inspect.unwrap(value)
            yield value, inspect.getdoc(value) or ""
        elif methods and inspect.isclass(value) and not issubclass(value, enum.Enum):
            for kind in value.__mro__[:-1]:
                for method, member in vars(kind).items():
                    function = getattr(member, "__func__", member)
                    if inspect.isfunction(function) and (method == "__init__" or not method.startswith("_")):
                        yield function, f"{inspect.getdoc(function)} {kind.__doc__}"


def list_unread_arguments(function):
    """Return the arguments that a function never reads. A function that only raises an error reads none."""
    try:
        node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except OSError:  # The function was generated from a formula, which reads its arguments.
        return []
    if not isinstance(node, ast.FunctionDef):
        return []
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if body and isinstance(body[0], ast.Raise):
        return []
    read = {part.id for statement in node.body for part in ast.walk(statement) if isinstance(part, ast.Name)}
    return [name for name in inspect.signature(function).parameters if name not in {*read, "self", "cls", "name"}]


@EVERY
def test_an_argument_without_effect_is_documented(path):
    """``name`` names operations in graphs, which happens elsewhere. Every other argument is read or documented.

    Keras methods accept all arguments that Keras passes, even if a class does not need them.
    """
    silent = [
        f"{path}: {function.__qualname__}({argument})"
        for function, text in iter_public_functions(NAMESPACES[path], methods=not path.startswith("tf.keras"))
        if (function.__module__ or "").startswith("minitape")
        for argument in list_unread_arguments(function)
        if f"``{argument}``" not in text and not re.search(rf"^\s+{argument}: ", text, re.MULTILINE)
    ]
    assert silent == []


@EVERY
def test_nothing_else_is_shown(path):
    """The namespace shows no helpers, no imports of the file, and no submodules of the package."""
    namespace = NAMESPACES[path]
    assert dir(namespace) == sorted(namespace.__all__)
    for name in ("Any", "annotations", "np", "wrap"):
        with pytest.raises(AttributeError):
            getattr(namespace, name)


def test_modules_of_the_engine_can_be_imported():
    code = """if True:
        import minitape.engine.backward.tape as tape
        from minitape.engine.record import record
        import minitape.compat.v1 as v1, minitape.math, minitape.course
        from minitape.errors import OpError
        assert tape.GradientTape is minitape.GradientTape and v1 is minitape.compat.v1
        assert record.__name__ == "minitape.engine.record.record" and minitape.course.__name__ == "minitape.course"
        assert "engine" not in dir(minitape) and callable(minitape.shape)
        print("all well")
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "all well\n"


def test_import_star_takes_the_public_names():
    space = {}
    exec("from minitape.math import *", space)
    assert set(space) - {"__builtins__"} == set(dir(tf.math))
    assert tf.__all__ == dir(tf)


@pytest.mark.parametrize(
    "value",
    [tf.float32, tf.errors.UnknownError(None, None, "end"), tf.Variable, tf.norm, tf.sin],
    ids=["dtype", "error", "class", "function", "formula"],
)
def test_what_a_namespace_gives_can_be_pickled(value):
    again = pickle.loads(pickle.dumps(value))
    assert str(again) == str(value) and (again is value or type(again) is type(value))
