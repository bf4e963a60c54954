"""The public API: each name has an example, each argument an effect, and a namespace shows nothing but its names."""

import ast
import enum
import importlib.util
import inspect
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import minitape as tf
from minitape.tf.api import TOOLS

# names that TensorFlow does not have there: the programs that the lessons follow need them, or they are minitape's own
OWN = {
    "tf": "Session draw explain floordiv get_default_graph initialize_all_variables neg py_func python snapshot",
    "tf.explain": "Explanation explain warn",
    "tf.python": "framework",
    "tf.python.framework": "ops",
    "tf.python.framework.ops": "EagerTensor Graph NoGradient NotDifferentiable Operation RegisterGradient Tensor "
    "convert_to_tensor get_default_graph name_scope no_gradient op_scope reset_default_graph",
}


def api():
    """The module that writes the pages of the API, which walks the namespaces, too."""
    script = Path(__file__).parents[2] / "docs" / "site" / "api.py"
    specification = importlib.util.spec_from_file_location("api", script)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


API = api()
names, is_namespace, NAMESPACES = API.public, API.is_namespace, API.namespaces()
EVERY = pytest.mark.parametrize("path", sorted(NAMESPACES))


def tensorflow_names():
    text = (Path(tf.__file__).parent / "tf" / "tensorflow_names.txt").read_text(encoding="utf-8")
    lines = (line.split(": ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {path: set(listed.split()) for path, listed in lines}


TENSORFLOW = tensorflow_names()
CLASSES = {key.partition("(")[0]: key for key in TENSORFLOW if key.endswith(")")}


def tensorflow_methods(name):
    """What TensorFlow's class of this name has, from its public bases, too."""
    key = CLASSES.get(name, "()")
    return TENSORFLOW.get(key, set()).union(*map(tensorflow_methods, key.partition("(")[2][:-1].split()))


def test_the_walk_finds_the_namespaces():
    assert {"tf.math", "tf.python.framework.ops", "tf.compat.v1", "tf.keras.layers"} <= set(NAMESPACES)


@EVERY
def test_nothing_has_a_second_name_that_tensorflow_does_not_know(path):
    """Names that are not listed can be asked for as well, where a module holds them for itself."""
    namespace = NAMESPACES[path]
    known = TENSORFLOW.get(path, set()) | set(OWN.get(path, "").split())
    public = [value for name in names(namespace) if callable(value := getattr(namespace, name))]
    held = [name for name, value in vars(namespace).items() if any(value is p for p in public)]
    assert sorted(name for name in held if not name.startswith("_") and name not in known) == []


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


# the objects that these classes make are of another class; TensorFlow documents both as one
MADE = {tf.Tensor: type(tf.constant(0)), tf.Variable: type(tf.Variable(0))}
# of variables: other names of `shape`, `value` and a tensor's `ref`, and what eager mode refuses
WITHOUT_EXAMPLE = {f"tf.Variable.{name}" for name in "get_shape set_shape read_value ref eval".split()}


def methods(path, name):
    """(method, texts that may show it) of each method of a class that TensorFlow's class of this name has too.

    A method that several classes define is shown by any of them, or by the example of a class that calls or defines it.
    Those of callbacks that training calls are not meant: they say when that is.
    """
    value = getattr(NAMESPACES[path], name)
    kinds = [k for k in MADE.get(value, value).__mro__ if k.__module__.startswith(("minitape", "tensorflow"))]
    lines = [line.strip() for k in kinds for line in (k.__doc__ or "").splitlines()]
    examples = [line.replace("...", ">>>", 1) for line in lines if line.startswith((">>>", "..."))]
    for method in sorted(tensorflow_methods(f"{path}.{name}")):
        defined = [vars(k)[method].__doc__ or "" for k in kinds if method in vars(k)]
        if defined and not method.startswith("on_"):
            yield method, defined + [e for e in examples if f".{method}(" in e or f"def {method}(" in e]


@EVERY
def test_every_method_that_tensorflow_has_too_has_an_example(path):
    """In its own documentation or in that of its class."""
    classes = [name for name in names(NAMESPACES[path]) if inspect.isclass(getattr(NAMESPACES[path], name))]
    without = [
        f"{path}.{name}.{method}"
        for name in classes
        for method, texts in methods(path, name)
        if not any(">>>" in text for text in texts)
    ]
    assert sorted({*without} - WITHOUT_EXAMPLE) == []


def public_functions(namespace, methods=True):
    """(function, its documentation) of what a namespace offers: functions, and the public methods of classes."""
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


def unread(function):
    """The arguments that a function never reads; a function that only raises reads none."""
    try:
        node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except OSError:  # made of a formula, which reads its arguments
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
    """``name`` names operations of a graph, which is done elsewhere; every other argument is read or spoken about.

    Methods of Keras take what Keras calls them with, whether one class needs it or not.
    """
    silent = [
        f"{path}: {function.__qualname__}({argument})"
        for function, text in public_functions(NAMESPACES[path], methods=not path.startswith("tf.keras"))
        if (function.__module__ or "").startswith("minitape")
        for argument in unread(function)
        if f"``{argument}``" not in text
    ]
    assert silent == []


@pytest.mark.parametrize("path", sorted(p for p in NAMESPACES if not p.startswith("tf.keras")))
def test_nothing_else_can_be_asked_for(path):
    """No helper, no import of the file, no submodule of the package."""
    namespace = NAMESPACES[path]
    tools = [module.rpartition(".")[2] for module in TOOLS if path == "tf"]
    names = [n for n in vars(namespace) if n.isidentifier() and not n.startswith("_")]  # pytest adds some with an @
    assert [n for n in names if n not in [*dir(namespace), *tools]] == []
    for name in ("Any", "annotations", "np", "wrap"):
        with pytest.raises(AttributeError):
            getattr(namespace, name)


def test_modules_of_the_engine_can_be_imported():
    code = """if True:
        import minitape.engine.back.tape as tape
        from minitape.engine.recording import record
        import minitape.compat.v1 as v1, minitape.math, minitape.course
        from minitape.errors import OpError
        assert tape.GradientTape is minitape.GradientTape and v1 is minitape.compat.v1
        assert record.__name__ == "minitape.engine.recording.record" and minitape.course.__name__ == "minitape.course"
        assert not hasattr(minitape, "engine") and callable(minitape.shape)
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
    [tf.float32, tf.errors.OutOfRangeError(None, None, "end"), tf.Variable, tf.strings.lower],
    ids=["dtype", "error", "class", "function"],
)
def test_what_a_namespace_gives_can_be_pickled(value):
    again = pickle.loads(pickle.dumps(value))
    assert str(again) == str(value) and (again is value or type(again) is type(value))
