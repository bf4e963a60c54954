"""``tf.keras.utils``: seeds, and a fresh start for names."""

from __future__ import annotations

import random as python_random

import numpy as np

from .. import tf
from ..tf.namespace import public
from .base import clear_session


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


__all__ = ["clear_session", "set_random_seed"]
__getattr__, __dir__ = public("tf.keras.utils", __all__)
