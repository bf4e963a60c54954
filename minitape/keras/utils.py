"""``tf.keras.utils``: seeds, one-hot labels, sequences of one length, the progress bar."""

from __future__ import annotations

import inspect
import random as python_random
from typing import Any

import numpy as np

from .. import tf
from ..engine.namespace import public
from . import progress
from .base import clear_session, is_keras_tensor, standardize_dtype  # noqa: F401 - Keras offers them here too
from .downloads import get_file  # noqa: F401
from .feeding import pack_x_y_sample_weight, unpack_x_y_sample_weight  # noqa: F401
from .folders import text_dataset_from_directory  # noqa: F401
from .progress import Progbar  # noqa: F401
from .serial import deserialize as deserialize_keras_object  # noqa: F401
from .serial import known, registered
from .serial import serialize as serialize_keras_object  # noqa: F401
from .windows import timeseries_dataset_from_array  # noqa: F401


def set_random_seed(seed: int) -> None:
    """Seeds Python's, NumPy's and minitape's random numbers, and with them all initializers; ValueError for no int.

    >>> import minitape as tf
    >>> tf.keras.utils.set_random_seed(1)
    >>> first = tf.keras.initializers.RandomNormal()((2,))
    >>> tf.keras.utils.set_random_seed(1)
    >>> bool(tf.reduce_all(first == tf.keras.initializers.RandomNormal()((2,))))
    True
    """
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})")
    python_random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    from .base import current

    current.seeds = None


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions of the user by name, that models in files are made of; a name may be added.

    >>> import minitape as tf
    >>> isinstance(tf.keras.utils.get_custom_objects(), dict)
    True
    """
    return registered


class custom_object_scope(known):
    """In the block these classes and functions of the user are found by their names.

    >>> import minitape as tf
    >>> class Twice(tf.keras.layers.Layer):
    ...     def call(self, x):
    ...         return 2.0 * x
    >>> config = tf.keras.layers.serialize(Twice())
    >>> with tf.keras.utils.custom_object_scope({"Twice": Twice}):
    ...     type(tf.keras.layers.deserialize(config)) is Twice
    True
    """


CustomObjectScope = custom_object_scope


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Class numbers as rows with a single one; a last axis of size 1 is dropped. A float64 array for an array.

    A tensor gives a float32 tensor. ``num_classes`` is one more than the largest number by default.

    >>> import minitape as tf
    >>> tf.keras.utils.to_categorical([0, 2])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    from ..engine.tensor import Tensor

    if isinstance(x, Tensor):
        if x.ndim > 1 and x.shape[-1] == 1:
            x = tf.squeeze(x, -1)
        return tf.one_hot(x, int(np.max(x.array)) + 1 if num_classes is None else num_classes)
    x = np.array(x, dtype="int64")
    shape = x.shape[:-1] if x.ndim > 1 and x.shape[-1] == 1 else x.shape
    flat = x.reshape(-1)
    out = np.zeros((len(flat), num_classes or int(np.max(flat)) + 1))
    out[np.arange(len(flat)), flat] = 1
    return out.reshape((*shape, out.shape[-1]))


def normalize(x: Any, axis: int | None = -1, order: int = 2) -> Any:
    """Vectors along ``axis`` divided by their norms of this order; zeros stay. An array for an array, else a tensor.

    >>> import minitape as tf, numpy as np
    >>> tf.keras.utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    if not isinstance(x, np.ndarray):
        from . import ops

        return ops.normalize(x, axis, order)
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, -1 if axis is None else axis)


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Any:
    """A decorator: the class or function can be found by its name when a saved model is loaded.

    It is known as ``name`` (its own by default) and as ``package>name``. Raises ValueError for a class without
    ``get_config``.

    >>> import minitape as tf
    >>> @tf.keras.utils.register_keras_serializable("mine")
    ... def half(x):
    ...     return x / 2
    >>> half(4.0)
    2.0
    """

    def register(thing: Any) -> Any:
        if inspect.isclass(thing) and not hasattr(thing, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        registered[name or thing.__name__] = registered[f"{package}>{name or thing.__name__}"] = thing
        return thing

    return register


def disable_interactive_logging() -> None:
    """From now on no progress bar is printed.

    >>> import minitape as tf
    >>> tf.keras.utils.disable_interactive_logging()
    >>> tf.keras.utils.is_interactive_logging_enabled()
    False
    >>> tf.keras.utils.enable_interactive_logging()
    """
    progress._interactive[0] = False


def enable_interactive_logging() -> None:
    """The progress bar is printed (again).

    >>> import minitape as tf
    >>> tf.keras.utils.enable_interactive_logging()
    >>> tf.keras.utils.is_interactive_logging_enabled()
    True
    """
    progress._interactive[0] = True


def is_interactive_logging_enabled() -> bool:
    """Whether the progress bar is printed: True unless ``disable_interactive_logging`` was called.

    >>> import minitape as tf
    >>> tf.keras.utils.is_interactive_logging_enabled()
    True
    """
    return progress._interactive[0]


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Sequences as the rows of one array, cut to ``maxlen`` or filled up with ``value``, in front or behind ("post").

    ``maxlen`` is the longest length by default. Elements may be arrays, all of one shape. Raises ValueError for
    sequences without a length, for elements of different shapes, and for another word than "pre" and "post".

    >>> import minitape as tf
    >>> tf.keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2)
    array([[0, 1],
           [3, 4]], dtype=int32)
    >>> tf.keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2, padding="post", truncating="post", value=9)
    array([[1, 9],
           [2, 3]], dtype=int32)
    """
    for what, word in (("Truncating", truncating), ("Padding", padding)):
        if word not in ("pre", "post"):
            raise ValueError(f'{what} type "{word}" not understood')
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for sequence in sequences:
        if not hasattr(sequence, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {sequence}")
    _check_fill(dtype, value)
    width = max(map(len, sequences), default=0) if maxlen is None else maxlen
    inner = next((np.asarray(s).shape[1:] for s in sequences if len(s)), ())
    out = np.full((len(sequences), width, *inner), value, dtype)
    for i, sequence in enumerate(sequences):
        kept = np.asarray(sequence[-width:] if truncating == "pre" else sequence[:width], dtype)
        if len(sequence) and kept.shape[1:] != inner:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {i} is different from expected shape {inner}"
            )
        if len(kept) and width:
            out[i, slice(-len(kept), None) if padding == "pre" else slice(len(kept))] = kept
    return out


def _check_fill(dtype: Any, value: Any) -> None:
    text = np.issubdtype(dtype, np.str_) or np.issubdtype(dtype, np.bytes_)
    if isinstance(value, str) and dtype is not object and not text:
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set `dtype=object` for "
            "variable length strings."
        )


__all__ = """CustomObjectScope Progbar clear_session custom_object_scope deserialize_keras_object get_custom_objects
serialize_keras_object disable_interactive_logging enable_interactive_logging
is_interactive_logging_enabled is_keras_tensor normalize pack_x_y_sample_weight pad_sequences
register_keras_serializable set_random_seed standardize_dtype text_dataset_from_directory
timeseries_dataset_from_array to_categorical unpack_x_y_sample_weight""".split()
__getattr__, __dir__ = public("tf.keras.utils", __all__)
