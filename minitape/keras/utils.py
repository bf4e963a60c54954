"""``tf.keras.utils``: seeds, one-hot labels, the progress bar."""

from __future__ import annotations

import random as python_random
from typing import Any

import numpy as np

from . import progress
from .base import clear_session, is_keras_tensor, standardize_dtype  # noqa: F401 - Keras offers them here too
from .progress import Progbar  # noqa: F401
from .serial import registered


def set_random_seed(seed: int) -> None:
    """Seeds Python's, NumPy's and minitape's random numbers, and with them all initializers.

    >>> import minitape as tf
    >>> tf.keras.utils.set_random_seed(1)
    """
    import minitape as tf

    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})")
    python_random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    from .base import current

    current.seeds = None


def to_categorical(x: Any, num_classes: int | None = None) -> Any:
    """Class numbers as rows with a single one; a last axis of size 1 is dropped. A float64 array for an array.

    >>> to_categorical([0, 2])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    from ..tensor import Tensor

    if isinstance(x, Tensor):
        import minitape as tf

        if x.ndim > 1 and x.shape[-1] == 1:
            x = tf.squeeze(x, -1)
        return tf.one_hot(x, int(np.max(x.array)) + 1 if num_classes is None else num_classes)
    x = np.array(x, dtype="int64")
    shape = x.shape[:-1] if x.ndim > 1 and x.shape[-1] == 1 else x.shape
    flat = x.reshape(-1)
    out = np.zeros((len(flat), num_classes or int(np.max(flat)) + 1))
    out[np.arange(len(flat)), flat] = 1
    return out.reshape((*shape, out.shape[-1]))


def normalize(x: Any, axis: int = -1, order: int = 2) -> Any:
    """An array divided by its norms along ``axis``."""
    x = np.asarray(x)
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, axis)


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Any:
    """A decorator: the class or function can be found by its name when a saved model is loaded."""

    def register(thing: Any) -> Any:
        registered[name or thing.__name__] = registered[f"{package}>{name or thing.__name__}"] = thing
        return thing

    return register


def disable_interactive_logging() -> None:
    """From now on no progress bar is printed."""
    progress._interactive[0] = False


def enable_interactive_logging() -> None:
    """The progress bar is printed again."""
    progress._interactive[0] = True


def is_interactive_logging_enabled() -> bool:
    """Whether the progress bar is printed."""
    return progress._interactive[0]


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: str = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Lists of numbers as the rows of one array, cut or filled up with ``value`` at the front (or at the end, "post").

    >>> pad_sequences([[1], [2, 3]])
    array([[0, 1],
           [2, 3]], dtype=int32)
    """
    width = max((len(s) for s in sequences), default=0) if maxlen is None else maxlen
    out = np.full((len(sequences), width), value, dtype)
    for row, sequence in zip(out, sequences, strict=True):
        kept = list(sequence[-width:] if truncating == "pre" else sequence[:width]) if width else []
        if kept:
            row[slice(-len(kept), None) if padding == "pre" else slice(len(kept))] = kept
    return out


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.utils", name, [n for n in globals() if not n.startswith("_")]))
