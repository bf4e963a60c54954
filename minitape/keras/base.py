"""What all of Keras stands on: the float type, dtypes and shapes by name, name scopes, masks."""

from __future__ import annotations

import functools
import re
import threading
import weakref
from collections import defaultdict
from typing import Any

import numpy as np

from .. import tf
from ..engine import nest
from ..engine.block import Exit
from ..engine.state import state as _thread
from ..engine.tensor import EagerTensor, Tensor

ALLOWED_DTYPES = frozenset(
    "float16 float32 float64 uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 bool string complex64 "
    "complex128".split()
)


def version() -> str:
    """The version of Keras that this follows.

    >>> import minitape as tf
    >>> tf.keras.version()
    '3.15.1'
    """
    from . import __version__

    return __version__


class _Globals(threading.local):
    """What the layers of a thread share."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.uids: dict[str, int] = defaultdict(int)
        self.scopes: list[name_scope] = []
        self.call: Any = None  # the call of the outermost layer that is running
        self.masks: dict[int, tuple[Any, Any]] = {}
        self.seeds: Any = None  # the generator behind random functions without a seed


_SETTINGS: dict[str, Any] = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}
current = _Globals()


def backend() -> str:
    """The name of the engine under Keras: always "tensorflow", as its spelling is.

    >>> import minitape as tf
    >>> tf.keras.backend.backend()
    'tensorflow'
    """
    return "tensorflow"


def floatx() -> str:
    """The default float type, "float32" unless set otherwise.

    >>> import minitape as tf
    >>> tf.keras.backend.floatx()
    'float32'
    """
    return _SETTINGS["floatx"]


def set_floatx(value: str) -> None:
    """Sets the default float type: "bfloat16", "float16", "float32" or "float64".

    Tensors and variables made from now on have it where nothing else is said. Raises ValueError for another name.

    >>> import minitape as tf
    >>> tf.keras.backend.set_floatx("float64")
    >>> tf.keras.ops.zeros((2,)).dtype
    tf.float64
    >>> tf.keras.backend.set_floatx("float32")
    """
    accepted = {"bfloat16", "float16", "float32", "float64"}
    if value not in accepted:
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of {accepted}")
    _SETTINGS["floatx"] = str(value)


def epsilon() -> float:
    """The small number that keeps denominators and logarithms away from zero.

    >>> import minitape as tf
    >>> tf.keras.backend.epsilon()
    1e-07
    """
    return _SETTINGS["epsilon"]


def set_epsilon(value: float) -> None:
    """Sets the small number that keeps denominators and logarithms away from zero.

    >>> import minitape as tf
    >>> tf.keras.backend.set_epsilon(1e-5)
    >>> tf.keras.backend.epsilon()
    1e-05
    >>> tf.keras.backend.set_epsilon(1e-7)
    """
    _SETTINGS["epsilon"] = value


def image_data_format() -> str:
    """Where images have their channels: "channels_last" unless set otherwise.

    >>> import minitape as tf
    >>> tf.keras.backend.image_data_format()
    'channels_last'
    """
    return _SETTINGS["image_data_format"]


def set_image_data_format(data_format: str) -> None:
    """Sets where images have their channels: "channels_last" or "channels_first".

    Raises ValueError for another word.

    >>> import minitape as tf
    >>> tf.keras.backend.set_image_data_format("channels_first")
    >>> tf.keras.backend.image_data_format()
    'channels_first'
    >>> tf.keras.backend.set_image_data_format("channels_last")
    """
    _SETTINGS["image_data_format"] = standardize_data_format(data_format)


def standardize_data_format(data_format: Any) -> str:
    """The format that was asked for, or the default one for None; ValueError for another word."""
    if data_format is None:
        return image_data_format()
    name = str(data_format).lower()
    if name not in ("channels_first", "channels_last"):
        raise ValueError(
            "The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
            f"Received: data_format={data_format}"
        )
    return name


def standardize_dtype(dtype: Any) -> str:
    """The name of a dtype: None is the default float type.

    ``dtype`` is a dtype of TensorFlow or NumPy, a Python type, a name or None. Raises ValueError for an unknown one.

    >>> import minitape as tf
    >>> tf.keras.backend.standardize_dtype(tf.int32), tf.keras.backend.standardize_dtype(None)
    ('int32', 'float32')
    """
    if dtype is None:
        return floatx()
    name = _PYTHON.get(dtype, dtype) if isinstance(dtype, (type, str)) else dtype
    name = getattr(name, "name", None) or getattr(name, "__name__", None) or name
    if name not in ALLOWED_DTYPES:
        raise ValueError(f"Invalid dtype: {name}")
    return str(name)


_PYTHON: dict[Any, str] = {
    bool: "bool", int: "int64", float: "float32", complex: "complex128", str: "string", "int": "int64",
}  # fmt: skip


def is_float_dtype(dtype: Any) -> bool:
    """True for float16, bfloat16, float32 and float64, and for their names.

    Raises ValueError for what is no dtype.

    >>> import minitape as tf
    >>> tf.keras.backend.is_float_dtype("float16"), tf.keras.backend.is_float_dtype("int32")
    (True, False)
    """
    return "float" in standardize_dtype(dtype)


def is_int_dtype(dtype: Any) -> bool:
    """True for signed and unsigned integers, and for their names.

    Raises ValueError for what is no dtype.

    >>> import minitape as tf
    >>> tf.keras.backend.is_int_dtype("uint8"), tf.keras.backend.is_int_dtype("bool")
    (True, False)
    """
    return standardize_dtype(dtype).startswith(("int", "uint"))


def result_type(*dtypes: Any) -> str:
    """The dtype in which values of these dtypes are combined, as a name.

    A whole number never widens a float, and a Python number (``int``, ``float``) takes the dtype of what stands beside
    it; complex128 and uint64 are narrowed, as Keras does. Without arguments it is the default float type. Raises ValueError for an unknown dtype.

    >>> import minitape as tf
    >>> tf.keras.backend.result_type("int64", "float16"), tf.keras.backend.result_type("uint8", "int8")
    ('float16', 'int16')
    >>> tf.keras.backend.result_type("int8", int), tf.keras.backend.result_type("int8", float)
    ('int8', 'float32')
    """
    return _combined(dtypes, floatx())


@functools.lru_cache(1024)
def _combined(dtypes: tuple[Any, ...], default: str) -> str:
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
        return default
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
        try:
            size = int(size)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"Cannot convert '{shape}' to a shape. Found invalid dimension '{size}' of type '{type(size)}'. "
            ) from error
        if size < 0:
            raise ValueError(f"Cannot convert '{shape}' to a shape. Negative dimensions are not allowed.")
        sizes.append(size)
    return tuple(sizes)


def convert(x: Any, dtype: Any = None) -> Any:
    """``x`` as a tensor, cast to ``dtype`` (a name) where one is given."""
    dtype = None if dtype is None else standardize_dtype(dtype)
    if type(x) is EagerTensor and (dtype is None or x.dtype.name == dtype):
        return x
    if isinstance(x, Tensor) or hasattr(x, "_to_tensor"):
        x = tf.convert_to_tensor(x)
    elif dtype is not None and is_float_dtype(dtype):
        return tf.convert_to_tensor(x, dtype) if not hasattr(x, "dtype") else tf.cast(tf.convert_to_tensor(x), dtype)
    else:
        x = tf.convert_to_tensor(x)
    return x if dtype is None or x.dtype.name == dtype else tf.cast(x, dtype)


# -- names ------------------------------------------------------------------------------------------------------------


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


def get_uid(prefix: str = "") -> int:
    """How often a name was given out, counting this time.

    >>> import minitape as tf
    >>> tf.keras.backend.get_uid("experiment"), tf.keras.backend.get_uid("experiment")
    (1, 2)
    """
    current.uids[prefix] += 1
    return current.uids[prefix]


def clear_session(free_memory: bool = True) -> None:
    """Forgets all names given out: the next Dense layer is called "dense" again.

    Python frees memory by itself, so ``free_memory`` has no effect.

    >>> import minitape as tf
    >>> tf.keras.backend.clear_session()
    >>> tf.keras.layers.Dense(1).name, tf.keras.layers.Dense(1).name
    ('dense', 'dense_1')
    """
    current.reset()


class name_scope:
    """A context in which the paths of variables begin with ``name/``.

    A scope of the same ``caller`` and name inside is the same scope, unless ``deduplicate`` is False;
    ``override_parent`` is a path in the place of the scopes around.
    Raises ValueError for a name that is no string or contains "/".

    >>> import minitape as tf
    >>> with tf.keras.name_scope("encoder"):
    ...     weight = tf.keras.Variable([1.0, 2.0], name="weight")
    >>> weight.path
    'encoder/weight'
    """

    def __init__(
        self, name: str, caller: Any = None, deduplicate: bool = True, override_parent: str | None = None
    ) -> None:
        if not isinstance(name, str) or "/" in name:
            raise ValueError(
                f"Argument `name` must be a string and cannot contain character `/`. Received: name={name}"
            )
        self.name, self.caller, self.deduplicate, self.override_parent = name, caller, deduplicate, override_parent
        self._before: list[Any] = []  # what was open around each block of it

    def __enter__(self) -> name_scope:
        scopes, path = current.scopes, _thread.scope
        outer = scopes[-1] if scopes else None
        again = (
            self.deduplicate
            and outer is not None
            and self.caller is not None
            and outer.caller is self.caller
            and outer.name == self.name
        )
        self._before.append((scopes, path))
        if not again:
            current.scopes, _thread.scope = [*scopes, self], (*path, self.name)
        return self

    def _leave(self, *error: Any) -> None:
        current.scopes, _thread.scope = self._before[-1]
        self._before.pop()
        self._held = None

    __exit__: Any = Exit(_leave, lambda scope: scope._before)


def current_path() -> str:
    """The names of the open scopes, joined."""
    parts: list[str] = []
    for scope in current.scopes:
        if scope.override_parent is not None:
            parts = [part for part in scope.override_parent.split("/") if part]
        parts.append(scope.name)
    return "/".join(parts)


def as_float(x: Any) -> Any:
    """``x`` as a tensor; whole numbers and bools become floats of the default type. ValueError for strings."""
    x = convert(x)
    dtype = result_type(x.dtype.name, float)
    return x if x.dtype.name == dtype else convert(x, dtype)


def rounded(x: Any, decimals: int) -> Tensor:
    """The nearest number with so many decimals, halves to the even one, in the dtype of ``x``."""
    x = convert(x)
    if not decimals:
        return tf.round(x)
    if not x.dtype.is_floating:
        return convert(rounded(as_float(x), decimals), x.dtype.name)
    factor = convert(10.0**decimals, x.dtype.name)
    return tf.round(x * factor) / factor


def is_keras_tensor(x: Any) -> bool:
    """True for the symbolic tensors that ``tf.keras.Input`` and layers called on them give.

    >>> import minitape as tf
    >>> tf.keras.backend.is_keras_tensor(tf.keras.Input((3,))), tf.keras.backend.is_keras_tensor(tf.constant(1))
    (True, False)
    """
    return getattr(type(x), "_is_keras_tensor", False)


# -- masks ------------------------------------------------------------------------------------------------------------


def attach(notes: dict[int, tuple[Any, Any]], x: Any, value: Any) -> None:
    """Notes a value of a tensor, which can be no key itself, for as long as it lives."""
    key = id(x)
    notes[key] = (weakref.ref(x, lambda _: notes.pop(key, None)), value)


def attached(notes: dict[int, tuple[Any, Any]], x: Any) -> Any:
    """What was noted of a tensor, None if nothing was."""
    found = notes.get(id(x))
    return found[1] if found is not None and found[0]() is x else None


def get_keras_mask(x: Any) -> Any:
    """The mask that travels with a tensor, None if there is none."""
    return attached(current.masks, x)


def get_keras_masks(value: Any) -> Any:
    """The masks of a structure of tensors, None if no tensor in it has one."""
    if not current.masks:
        return None
    if not nest.is_nested(value):
        return get_keras_mask(value)
    masks = nest.map_structure(get_keras_mask, value)
    return masks if any(mask is not None for mask in nest.flatten(masks)) else None


def set_keras_mask(x: Any, mask: Any) -> None:
    """Attaches a mask to a tensor; None takes it away."""
    if mask is None:
        current.masks.pop(id(x), None)
    else:
        attach(current.masks, x, mask)


def mask_of(x: Any) -> Any:
    """The mask of a tensor; AttributeError if there is none."""
    mask = get_keras_mask(x)
    if mask is None:
        raise AttributeError("The tensor has no mask: no layer that masks, such as Embedding(mask_zero=True), made it.")
    return mask


# what Keras calls it
Tensor._keras_mask = property(mask_of, set_keras_mask)
