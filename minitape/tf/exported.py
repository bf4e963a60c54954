"""What ``tf.saved_model`` gives: objects with their variables and their traced functions, in files that need no Python code to be read.

The files are minitape's own, not those of TensorFlow: ``saved_model.npz`` in the folder, an archive of the arrays and of one
text, which tells of the objects, the functions and their operations (see :mod:`minitape.tf.graphdata`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..engine.invalid import unsupported
from ..engine.tensor import Tensor
from ..engine.variable import ResourceVariable
from ..graphs.concrete import ConcreteFunction
from ..graphs.function import Function
from ..graphs.scopes import init_scope
from ..graphs.spec import TensorSpec
from .archive import arrays_in, write
from .checkpoint import is_variable, nodes_of
from .graphdata import Reader, Writer
from .module import Module

_LISTS = "variables", "trainable_variables"
_FILE, _VERSION = "saved_model.npz", 1
_NO_SIGNATURE = ("Expected a TensorFlow function for which to generate a signature, but got {}. Only `tf.functions` with an input "
                 "signature or concrete functions can be used as a signature.")  # fmt: skip
_OUTPUTS = "Outputs for functions used as signatures must be a single Tensor, a sequence of Tensors, or a dictionary from string to Tensor."


# -- saving -----------------------------------------------------------------------------------------------------------


def save(obj: Any, export_dir: Any, signatures: Any = None, options: Any = None) -> None:
    """Writes a ``tf.Module``, a layer or a model into a folder: its variables, and the traces of each ``tf.function`` that it has.

    What is written is what was traced: call each function with every kind of arguments that is wanted, or give it an
    ``input_signature``. ``load`` needs neither the class nor any other Python code. ``signatures`` is a function or a dictionary of
    them, by default the only one of ``obj`` with an input signature; theirs are tensors by name, and a dictionary of results.
    A named tuple comes back as a tuple. TensorFlow cannot read the folder, nor can minitape read TensorFlow's. ValueError where a function runs Python code
    (``py_function``, ``custom_gradient``), draws random numbers, prints, asserts, or waits for sizes in a way that no file can tell, with the
    operation and the line; AssertionError where it uses a variable that ``obj`` does not hold.

    >>> import minitape as tf, tempfile
    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tf.Variable(3.0)
    ...     @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    ...     def __call__(self, x):
    ...         return self.factor * x
    >>> folder = tempfile.mkdtemp()
    >>> tf.saved_model.save(Scale(), folder)
    >>> loaded = tf.saved_model.load(folder)
    >>> loaded(tf.constant([1.0, 2.0])).numpy(), loaded.signatures["serving_default"](x=tf.constant([1.0]))["output_0"].numpy()
    (array([3., 6.], dtype=float32), array([3.], dtype=float32))
    """
    unsupported("saved_model.save", options=options)
    if not isinstance(getattr(obj, "_checkpointed", None), frozenset):
        raise ValueError("Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for export. "
                         f"Got {obj} with type {type(obj)}.")  # fmt: skip
    for value, _, _ in nodes_of(obj):  # what is traced now may make variables
        for function in [*_methods(value).values(), value]:
            if isinstance(function, Function) and function.input_signature is not None:
                function.get_concrete_function()
    nodes = [(value, below) for value, _, below in nodes_of(obj)]
    numbers = {id(value): i for i, (value, _) in enumerate(nodes)}
    for value, below in nodes:  # which grows meanwhile
        for name, function in _methods(value).items():
            below[name] = numbers.setdefault(id(function), len(nodes))
            if below[name] == len(nodes):
                nodes.append((function, {}))
    known = numbers | {id(value.value): i for i, (value, _) in enumerate(nodes) if is_variable(value) and not isinstance(value, ResourceVariable)}
    writer = Writer(known)
    named = _signatures({name: nodes[i][0] for name, i in nodes[0][1].items()}, signatures, obj)
    about: dict[str, Any] = {"version": _VERSION, "nodes": [_node(writer, value, below) for value, below in nodes]}
    about["signatures"] = {name: writer.concrete(concrete) for name, concrete in named.items()}
    about["bodies"] = writer.bodies
    folder = Path(os.fspath(export_dir))
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / _FILE, {"about": np.array(json.dumps(about)), **writer.arrays})


def _methods(value: Any) -> dict[str, Function]:
    """The functions that the class of an object has."""
    kinds = type(value).__mro__ if isinstance(getattr(value, "_checkpointed", None), frozenset) else ()
    return {name: getattr(value, name) for kind in kinds for name, f in vars(kind).items() if isinstance(f, Function)}


def _node(writer: Writer, value: Any, below: dict[str, int]) -> list[Any]:
    """(kind, children by number, more) of one object; of a kind that is not kept, None."""
    if is_variable(value):
        variable = value if isinstance(value, ResourceVariable) else value.value
        about = [variable._name, bool(variable.trainable), writer.value(variable.dtype), writer.value(variable.shape)]
        return ["variable", {}, [*about, writer.array(np.asarray(variable.numpy()))]]
    if isinstance(value, Function):
        return ["function", {}, writer.function(value)]
    if isinstance(value, ConcreteFunction):
        return ["concrete", {}, writer.concrete(value)]
    if isinstance(value, (Mapping, list, tuple)):
        return ["dict" if isinstance(value, Mapping) else "list", below, None]
    if getattr(value, "_checkpointed", None) is None:  # a dataset, say: nothing of it is kept
        return [None, {}, None]
    found = [[writer.variables[id(v)] for v in getattr(value, name, ()) if id(v) in writer.variables] for name in _LISTS]
    return ["object", below, found]


def _signatures(functions: dict[str, Any], wanted: Any, obj: Any) -> dict[str, ConcreteFunction]:
    """The signatures that are wanted, or the one that needs no choice."""
    if wanted is None:
        able = [f for f in functions.values() if isinstance(f, ConcreteFunction) or getattr(f, "input_signature", None) is not None]
        serving = getattr(type(obj), "_serving_function", None)  # of Keras' models
        if not able and serving is not None:
            able = [f for f in [serving(obj, "inputs")] if f is not None]
        if len(able) != 1:
            return {}
        wanted = _concrete(able[0])
        if wanted._composite or _by_name(wanted.structured_outputs) is None:
            return {}
    wanted = wanted if isinstance(wanted, Mapping) else {"serving_default": wanted}
    return {str(name): _signature(str(name), _concrete(function)) for name, function in wanted.items()}


def _concrete(function: Any) -> ConcreteFunction:
    if isinstance(function, Function) and function.input_signature is not None:
        function = function.get_concrete_function()
    if not isinstance(function, ConcreteFunction):
        raise ValueError(_NO_SIGNATURE.format(function))
    return function


def _signature(name: str, concrete: ConcreteFunction) -> ConcreteFunction:
    """A function of tensors by name that returns a dictionary of tensors."""
    names = [t.op.name for t in concrete.inputs]

    def signature_wrapper(**tensors: Any) -> Any:
        found = concrete.call_flat([tensors[name] for name in names])
        by_name = _by_name(found)
        if by_name is None:
            raise ValueError(f"Got {found} as the output of the function {concrete.label} used to generate the SavedModel signature {name!r}. {_OUTPUTS}")
        return by_name

    specs = {t.op.name: TensorSpec(t.shape, t.dtype, t.op.name) for t in concrete.inputs}
    return Function(signature_wrapper, autograph=False).get_concrete_function(**specs)


def _by_name(found: Any) -> dict[str, Any] | None:
    """What a signature returns; None for a result that has no names."""
    found = [] if found is None else found if isinstance(found, (list, tuple, Mapping)) else [found]
    named = found if isinstance(found, Mapping) else {f"output_{i}": t for i, t in enumerate(found)}
    return dict(named) if all(isinstance(t, Tensor) for t in named.values()) else None


# -- loading ----------------------------------------------------------------------------------------------------------


class LoadedModel(Module):
    """What ``tf.saved_model.load`` gives: the variables, functions and parts of what was saved, under their names.

    >>> import minitape as tf, tempfile
    >>> module, folder = tf.Module(), tempfile.mkdtemp()
    >>> module.v = tf.Variable(1.0)
    >>> tf.saved_model.save(module, folder)
    >>> loaded = tf.saved_model.load(folder)
    >>> loaded.v.numpy(), len(loaded.variables)
    (np.float32(1.0), 1)
    """

    def __init__(self) -> None:
        super().__init__("loaded_model")
        self._parts: dict[str, Any] = {}  # names of a file are keys, no attributes
        self._lists: dict[str, tuple[Any, ...]] = {}

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables, in the order of the object that was saved."""
        return self._lists["variables"]

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable ones among them."""
        return self._lists["trainable_variables"]

    def _tracked_children(self) -> dict[str, Any]:
        """What a checkpoint keeps, or another saved model."""
        return {name: part for name, part in self._parts.items() if name != "signatures"}

    def __getattr__(self, name: str) -> Any:
        if name not in vars(self).get("_parts", ()):
            raise AttributeError(f"the saved model has no {name!r}", name=name, obj=self)
        return self._parts[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parts]


class CallableModel(LoadedModel):
    """A loaded model whose ``__call__`` is a traced function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._parts["__call__"](*args, **kwargs)


def load(export_dir: Any, tags: Any = None, options: Any = None) -> Any:
    """What ``tf.saved_model.save`` wrote into a folder, without the classes it had: an object with the same variables and functions.

    Its functions have the traces that were saved, and gradients flow through them; ``signatures`` is a dictionary of the signatures. Nothing in
    the file is run while it is read, and its functions hold operations of minitape alone: no Python code, no files. Since the shapes in a file may
    be wrong, they run without minitape's compiled loops, which makes a difference on small arrays.
    OSError where there is no such file, ValueError for a folder that TensorFlow wrote and for a file that is damaged.

    >>> import minitape as tf
    >>> tf.saved_model.load("nowhere")
    Traceback (most recent call last):
    OSError: SavedModel file does not exist at: nowhere/saved_model.npz
    """
    unsupported("saved_model.load", tags=tags, options=options)
    folder = Path(os.fspath(export_dir))
    file = folder / _FILE
    if not file.exists():
        if any((folder / name).exists() for name in ("saved_model.pb", "saved_model.pbtxt")):
            raise ValueError(f"{folder} is a SavedModel of TensorFlow. minitape reads what its own tf.saved_model.save wrote, and no other.")
        raise OSError(f"SavedModel file does not exist at: {file}")
    arrays = arrays_in(file, "SavedModel that minitape wrote")
    try:
        about = json.loads(str(arrays["about"]))
        if about["version"] != _VERSION:
            raise ValueError(f"It has version {about['version']!r}.")
        with init_scope():
            return _loaded(about, arrays)
    except Exception as error:  # whatever a file of a stranger makes of the tables
        raise ValueError(f"{file} is no SavedModel that this minitape can read: {type(error).__name__}: {error}") from error


def _loaded(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    nodes: list[Any] = about["nodes"]
    variables: dict[int, Any] = {}
    reader = Reader(arrays, about["bodies"], variables)
    for number, (kind, _, more) in enumerate(nodes):
        if kind == "variable":
            name, trainable, dtype, shape, value = more
            array, shape = reader.array(value), reader.value(shape)
            variables[number] = ResourceVariable(array, bool(trainable), name=str(name), dtype=reader.value(dtype), shape=shape)
    makers = {"object": lambda below, _: CallableModel() if "__call__" in below else LoadedModel(), "list": lambda *_: [],
              "dict": lambda *_: {}, "function": lambda _, more: reader.function(more),
              "concrete": lambda _, more: reader.concrete(more)}  # fmt: skip
    made = {i: makers[kind](below, more) for i, (kind, below, more) in enumerate(nodes) if kind in makers} | variables
    for number, (kind, below, more) in enumerate(nodes):
        children = {str(name): made[i] for name, i in below.items() if i in made}
        if kind == "list":
            made[number] += children.values()
        elif kind == "dict":
            made[number].update(children)
        elif kind == "object":
            made[number]._parts.update(children)
            made[number]._lists = {name: tuple(variables[i] for i in found) for name, found in zip(_LISTS, more, strict=True)}
    made[0]._parts["signatures"] = {str(name): reader.concrete(data) for name, data in about["signatures"].items()}
    return made[0]
