"""What all of Keras uses: the float type, dtypes and shapes by name, name scopes, objects by name, parts of
layers.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import tf
from ..engine.recording.block import InterruptSafeExit
from ..engine.recording.state import state as _thread
from ..engine.table.code import define
from ..engine.tensor.tensor import EagerTensor, Tensor

ALLOWED_DTYPES = frozenset(
    "float16 float32 float64 uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 bool string complex64 "
    "complex128".split()
)


FLOAT = "float32"  # the default type
EPSILON = 1e-7  # keeps denominators and logarithms away from zero


class _Globals(threading.local):
    """What the layers of a thread share."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.uids: dict[str, int] = defaultdict(int)
        self.scopes: list[name_scope] = []
        self.call: tuple[Any] | None = None  # the ``training`` of the layer that is running


current = _Globals()


def standardize_dtype(dtype: Any) -> str:
    """The name of a dtype: None is the default float type.

    ``dtype`` is a dtype of TensorFlow or NumPy, a Python type, a name or None. Raises ValueError for an unknown one.

    >>> import numpy as np
    >>> standardize_dtype(np.int32), standardize_dtype(None)
    ('int32', 'float32')
    """
    if dtype is None:
        return FLOAT
    name = _PYTHON.get(dtype, dtype) if isinstance(dtype, (type, str)) else dtype
    name = getattr(name, "name", None) or getattr(name, "__name__", None) or name
    if name not in ALLOWED_DTYPES:
        raise ValueError(f"Invalid dtype: {name}")
    return str(name)


_PYTHON: dict[Any, str] = {
    bool: "bool",
    int: "int64",
    float: "float32",
    complex: "complex128",
    str: "string",
    "int": "int64",
}


def result_type(*dtypes: Any) -> str:
    """The dtype in which values of these dtypes are combined, as a name.

    A whole number never widens a float, and a Python number (``int``, ``float``) takes the dtype of what is next to
    it; complex128 and uint64 are narrowed, as Keras does. Without arguments it is the default float type. Raises
    ValueError for an unknown dtype.

    >>> result_type("int64", "float16"), result_type("uint8", "int8"), result_type("int8", float)
    ('float16', 'int16', 'float32')
    """
    return _combined(dtypes)


@functools.lru_cache(1024)
def _combined(dtypes: tuple) -> str:
    python = [d for d in dtypes if d is int or d is float]  # by identity: a dtype of NumPy equals the type of Python
    names = [standardize_dtype(d) for d in dtypes if d is not int and d is not float]
    if "string" in names and len({*names, *dtypes}) > 1:
        raise ValueError("dtype='string' is not a valid dtype for Keras type promotion.")
    if any(name.startswith("complex") for name in names):
        return "complex64"
    floats = {name for name in names if "float" in name}
    if floats:
        return floats.pop() if len(floats) == 1 else "float64" if "float64" in floats else "float32"
    whole = [name for name in names if name not in ("bool", "string")]
    if float in python or not dtypes or ("uint64" in whole and any(name.startswith("int") for name in whole)):
        return FLOAT
    if whole:
        return np.result_type(*whole).name.replace("uint64", "uint32")
    return "int32" if python else names[0]


def standardize_shape(shape: Any) -> tuple[int | None, ...]:
    """A shape as a tuple of ints and None; ValueError for anything else."""
    if shape is None:
        raise ValueError("Undefined shapes are not supported.")
    if not hasattr(shape, "__iter__"):
        raise ValueError(f"Cannot convert '{shape}' to a shape.")
    sizes: list[int | None] = []
    for size in shape:
        if size is None:
            sizes.append(None)
            continue
        if isinstance(size, (str, float)):
            raise ValueError(
                f"Cannot convert '{shape}' to a shape. Found invalid dimension '{size}' of type '{type(size)}'. "
            )
        if int(size) < 0:
            raise ValueError(f"Cannot convert '{shape}' to a shape. Negative dimensions are not allowed.")
        sizes.append(int(size))
    return tuple(sizes)


def convert(x: Any, dtype: Any = None) -> Any:
    """``x`` as a tensor, cast to ``dtype`` (a name) where one is given."""
    if type(x) is EagerTensor and (dtype is None or x.dtype.name == dtype):
        return x
    dtype = None if dtype is None else standardize_dtype(dtype)
    if isinstance(x, Tensor) or hasattr(x, "_to_tensor"):
        x = tf.convert_to_tensor(x)
    elif dtype is not None and "float" in dtype:
        return tf.convert_to_tensor(x, dtype) if not hasattr(x, "dtype") else tf.cast(tf.convert_to_tensor(x), dtype)
    else:
        x = tf.convert_to_tensor(x)
    return x if dtype is None or x.dtype.name == dtype else tf.cast(x, dtype)


# -- names -----------------------------------------------------------------------------------------


def to_snake_case(name: str) -> str:
    """``MyLayer`` as ``my_layer``.

    >>> to_snake_case("Conv2D")
    'conv2d'
    """
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def auto_name(class_name: str) -> str:
    """``dense``, then ``dense_1``, ``dense_2``, ..."""
    name = to_snake_case(class_name)
    number = current.uids[name]
    current.uids[name] += 1
    return f"{name}_{number}" if number else name


def clear_session(free_memory: bool = True) -> None:
    """Forgets all names given out: the next Dense layer is called "dense" again.

    Python frees memory by itself, so ``free_memory`` has no effect.

    >>> import minitape as tf
    >>> tf.keras.utils.clear_session()
    >>> tf.keras.layers.Dense(1).name, tf.keras.layers.Dense(1).name
    ('dense', 'dense_1')
    """
    current.reset()


class name_scope:
    """A context in which the paths of variables begin with ``name/``; one of the same ``caller`` inside is the same
    scope.

    A call of a layer is over with its scope.

    >>> import minitape as tf
    >>> with name_scope("encoder"):
    ...     weight = tf.keras.Variable([1.0, 2.0], name="weight")
    >>> weight.path
    'encoder/weight'
    """

    def __init__(self, name: str, caller: Any = None) -> None:
        self.name, self.caller = name, caller
        self._before: list = []  # what was open around each block of it

    def __enter__(self) -> name_scope:
        scopes, path = current.scopes, _thread.scope
        self._before.append((scopes, path, current.call))
        if not scopes or self.caller is None or scopes[-1].caller is not self.caller:
            current.scopes, _thread.scope = [*scopes, self], (*path, self.name)
        return self

    def _leave(self, *error: Any) -> None:
        current.scopes, _thread.scope, current.call = self._before[-1]
        self._before.pop()
        self._held = None

    __exit__: Any = InterruptSafeExit(_leave, lambda scope: scope._before)


def current_path() -> str:
    """The names of the open scopes, joined."""
    return "/".join(scope.name for scope in current.scopes)


def as_float(x: Any) -> Any:
    """``x`` as a tensor; whole numbers and bools become floats of the default type. ValueError for strings."""
    x = convert(x)
    return x if x.dtype.is_floating else convert(x, result_type(x.dtype.name, float))


def is_keras_tensor(x: Any) -> bool:
    """True for the symbolic tensors that ``tf.keras.Input`` and layers called on them give."""
    return getattr(type(x), "_is_keras_tensor", False)


def lookup(kind: str, identifier: Any, table: Mapping[str, Any], instance: bool = True) -> Any:
    """The object meant by ``identifier``: itself if callable, else what ``table`` holds under that name.

    Classes are instantiated when ``instance`` is set. Raises ValueError for an unknown name.
    """
    if identifier is None:
        return None
    found = table.get(identifier) if isinstance(identifier, str) else identifier
    if not callable(found):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return found() if instance and inspect.isclass(found) else found


def define_from_table(table: str, text: str, space: dict[str, Any]) -> dict[str, Any]:
    """What the lines of a table define in ``space``, by name: ``text`` with the columns, which the first line names.

    Of a column ``arguments``, such as ``x=1, *, y=2``, a text also finds ``first`` and ``more``, with a comma behind it
    or before it where there are any, and ``passed``, which hands them on: ``x=x, y=y``.

    >>> text = "def {name}(x{more}): return dict(x=x, {passed})"
    >>> define_from_table("name | arguments \\n plus | y=1", text, {})["plus"](2)
    {'x': 2, 'y': 1}
    """
    head, *lines = table.strip().splitlines()
    found = {}
    for line in lines:
        row = dict(zip(_columns(head), _columns(line), strict=True))
        arguments = row.get("arguments", "")
        row["first"], row["more"] = (f"{arguments}, ", f", {arguments}") if arguments else ("", "")
        names = [argument.partition("=")[0] for argument in arguments.split(", ") if "=" in argument]
        row["passed"] = ", ".join(f"{name}={name}" for name in names)
        found[row["name"]] = define(text.format(**row), f"<tf.keras.{row['name']}>", space)[row["name"]]
    return found


def _columns(line: str) -> list[str]:
    return [column.strip() for column in line.split("|")]


LOCKED = (
    "You cannot add new elements of state (variables or sub-layers) to a layer that is already built. All state must "
    "be created in the `__init__()` method or in the `build()` method."
)
CONTAINERS = list, tuple, set, dict
now = itertools.count().__next__  # parts and assignments are numbered in their order


class Tracking:
    """An object with parts: variables, layers, metrics and generators of seeds, each marked by ``_tracked_as`` of its
    class.

    What is assigned to an attribute is noted. A part stays noted when the attribute gets another one, as in Keras; of a
    list, tuple, set or dictionary counts what it holds when the parts are asked for, each from when it was
    ``_made_at``.
    """

    _locked = False  # whether a new part is an error

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, CONTAINERS) or hasattr(type(value), "_tracked_as"):
            self._note(name, value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        value = self.__dict__.get(name)
        object.__delattr__(self, name)
        noted = self.__dict__.get("_noted", {})
        for key in [key for key, (_, known) in noted.items() if known is value]:
            del noted[key]
        self.__dict__["_found"] = None

    def _note(self, name: str, value: Any) -> None:
        """Notes a part, or something that may hold parts; ValueError for a new part once the layer is built."""
        noted = self.__dict__.setdefault("_noted", {})
        if any(known is value for _, known in noted.values()):
            return
        if self._locked:
            known_parts = set(map(id, self._all_parts()))
            if any(id(part) not in known_parts for part in parts_in(value)):
                raise ValueError(LOCKED)
        # another container takes the place of the first
        noted[name if isinstance(value, CONTAINERS) else object()] = now(), value
        self.__dict__["_found"] = None

    def _all_parts(self) -> list:
        """The parts of every kind, each once, in the order in which they came."""
        known = self.__dict__.get("_found")
        if known is not None:
            return known
        noted = self.__dict__.get("_noted", {}).values()
        found = [
            (at if part is value else max(at, getattr(part, "_made_at", 0)), part)
            for at, value in noted
            for part in parts_in(value)
        ]
        found.sort(key=lambda pair: pair[0])
        known = list({id(part): part for _, part in found}.values())
        inside = [inner for _, value in noted for inner in (value if isinstance(value, tuple) else [value])]
        if not any(isinstance(inner, CONTAINERS) for inner in inside):  # else it may hold another part later
            self.__dict__["_found"] = known
        return known

    def _parts(self, kind: str) -> list:
        """The parts of a kind: "variables", "layers", "metrics" or "seeds"."""
        return [part for part in self._all_parts() if part._tracked_as == kind]


def parts_in(value: Any) -> list:
    """The parts in a structure, in order; the value itself where it is one."""
    if isinstance(value, CONTAINERS):
        return [part for inner in (value.values() if isinstance(value, dict) else value) for part in parts_in(inner)]
    return [value] if hasattr(type(value), "_tracked_as") else []
