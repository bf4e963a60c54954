"""``tf.keras.initializers``: how a weight begins. Each is a function of (shape, dtype).

An initializer with a seed (also one drawn at its making) gives the same values each time it is called.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.tensor.tensor import new_tensor
from ..engine.values.dtypes import as_dtype
from ..tf.namespace import public
from . import random
from .base import define_from_table, lookup, standardize_dtype, to_snake_case

TRUNCATED = 0.87962566103423978  # the deviation that is left of 1 within two deviations


class Initializer:
    """The base class: subclasses define ``__call__(shape, dtype=None)``, which gives a tensor of that shape and type.

    Shapes are tuples or lists of ints; ``dtype`` is the floating type of Keras by default.

    >>> import minitape as tf
    >>> class Count(tf.keras.initializers.Initializer):
    ...     def __call__(self, shape, dtype=None):
    ...         return tf.reshape(tf.range(tf.reduce_prod(shape), dtype=dtype or "float32"), shape)
    >>> tf.keras.layers.Embedding(2, 2, embeddings_initializer=Count())(tf.constant([1])).numpy()
    array([[2., 3.]], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """A tensor of this shape."""
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")


class Constant(Initializer):
    """One value everywhere; an array is broadcast to the shape. Raises ValueError where it cannot be.

    >>> import minitape as tf
    >>> tf.keras.initializers.Constant(3.0)((2,)).numpy()
    array([3., 3.], dtype=float32)
    """

    def __init__(self, value: Any = 0.0) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """The value in this shape."""
        return _filled(shape, self.value, dtype)


class Zeros(Initializer):
    """All zeros.

    >>> import minitape as tf
    >>> tf.keras.initializers.Zeros()((2,)).numpy()
    array([0., 0.], dtype=float32)
    """

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Zeros of this shape."""
        return _filled(shape, 0, dtype)


class Ones(Initializer):
    """All ones.

    >>> import minitape as tf
    >>> tf.keras.initializers.Ones()((2,), dtype="int32").numpy()
    array([1, 1], dtype=int32)
    """

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Ones of this shape."""
        return _filled(shape, 1, dtype)


def _filled(shape: Any, value: Any, dtype: Any) -> Any:
    """One value, or an array that is broadcast, in this shape."""
    kind = as_dtype(standardize_dtype(dtype)).as_numpy_dtype
    return new_tensor(np.array(np.broadcast_to(np.asarray(value), tuple(shape)), kind))


class RandomInitializer(Initializer):
    """The base class of the random ones: keeps the ``seed``, drawing one where none is given; ValueError for no int."""

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            seed = random.make_default_seed()
        elif not isinstance(seed, int):
            raise ValueError(
                "`seed` argument should be an instance of `keras.random.SeedGenerator()` or an integer. "
                f"Received: seed={seed}"
            )
        self.seed = seed


RANDOM = """
name | arguments | function | numbers | sentence | given | result
RandomNormal | mean=0.0, stddev=0.05 | normal | self.mean, self.stddev | normally distributed numbers | stddev=1.0 | \
[ 0.1266503  -0.49301657]
RandomUniform | minval=-0.05, maxval=0.05 | uniform | self.minval, self.maxval | numbers spread evenly over [minval, \
maxval) \
| 0.0, 1.0 | [0.8784882  0.45998025]
TruncatedNormal | mean=0.0, stddev=0.05 | truncated_normal | self.mean, self.stddev \
| normally distributed numbers, none further than two standard deviations from the mean | stddev=1.0 | [ 0.1266503  \
-0.49301657]
"""

_RANDOM_TEXT = '''
class {name}(RandomInitializer):
    """Gives {sentence}: the same ones at each call.

    >>> import minitape as tf
    >>> print(tf.keras.initializers.{name}({given}, seed=1)((2,)).numpy())
    {result}
    """

    def __init__(self, {first}seed=None):
        super().__init__(seed)
        self.__dict__.update(dict({passed}))

    def __call__(self, shape, dtype=None):
        return random.{function}(shape, {numbers}, dtype, self.seed)
'''


class VarianceScaling(RandomInitializer):
    """Random numbers whose variance fits the number of inputs and outputs of the layer.

    ``mode`` is "fan_in", "fan_out" or "fan_avg"; ``distribution`` "truncated_normal", "untruncated_normal" or
    "uniform".
    Raises ValueError for another word or a scale that is not positive.

    >>> import minitape as tf
    >>> init = tf.keras.initializers.VarianceScaling(scale=2.0, mode="fan_in", distribution="uniform", seed=1)
    >>> float(tf.reduce_max(init((600, 100)))) <= 0.1  # the root of 3 * scale / 600
    True
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
    ) -> None:
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be positive float. Received: scale={scale}")
        modes = ("fan_in", "fan_out", "fan_avg")
        distributions = ("normal", "truncated_normal", "untruncated_normal", "uniform")
        if mode not in modes:
            raise ValueError(f"Invalid `mode` argument: {mode}. Please use one of {modes}")
        if distribution not in distributions:
            raise ValueError(f"Invalid `distribution` argument: {distribution}.Please use one of {distributions}")
        self.scale, self.mode = scale, mode
        self.distribution = "truncated_normal" if distribution == "normal" else distribution
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        fan_in, fan_out = fans(shape)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution == "truncated_normal":
            return random.truncated_normal(shape, 0.0, math.sqrt(scale) / TRUNCATED, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random.normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        limit = math.sqrt(3.0 * scale)
        return random.uniform(shape, -limit, limit, dtype, self.seed)


def fans(shape: Any) -> tuple[int, int]:
    """How many inputs and outputs a weight of this shape connects.

    >>> fans((3, 4)), fans((5, 5, 3, 8))
    ((3, 4), (75, 200))
    """
    shape = tuple(int(n) for n in shape)
    if len(shape) < 2:
        return (shape or (1,))[0], (shape or (1,))[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


# those that have names of their own
FAMILY = """
name | scale | mode | distribution | sentence
GlorotNormal | 1.0 | fan_avg | truncated_normal | truncated normally distributed numbers of variance 2 / (inputs + \
outputs)
GlorotUniform | 1.0 | fan_avg | uniform | numbers spread evenly within the root of 6 / (inputs + outputs): how Dense \
begins
HeNormal | 2.0 | fan_in | truncated_normal | truncated normally distributed numbers of variance 2 / inputs: for \
layers before a relu
HeUniform | 2.0 | fan_in | uniform | numbers spread evenly within the root of 6 / inputs: for layers before a relu
LecunNormal | 1.0 | fan_in | truncated_normal | truncated normally distributed numbers of variance 1 / inputs: for \
layers before a selu
LecunUniform | 1.0 | fan_in | uniform | numbers spread evenly within the root of 3 / inputs
"""

_TEXT = '''
class {name}(VarianceScaling):
    """Gives {sentence}.

    >>> import minitape as tf
    >>> tf.keras.initializers.{name}(seed=1)((2, 3)).shape
    TensorShape([2, 3])
    """

    def __init__(self, seed=None):
        super().__init__({scale}, "{mode}", "{distribution}", seed)
'''


class Orthogonal(RandomInitializer):
    """A random matrix with orthogonal rows or columns, times ``gain``; ValueError below two axes.

    >>> import minitape as tf
    >>> q = tf.keras.initializers.Orthogonal(seed=1)((2, 3))
    >>> abs((q @ tf.transpose(q)).numpy().round(3))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None) -> None:
        self.gain = gain
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """The matrix, reshaped to ``shape``."""
        if len(shape) < 2:
            raise ValueError(
                "The tensor to initialize must be at least two-dimensional. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        flat = (max(rows, columns), min(rows, columns))
        numbers = random.normal(flat, 0.0, 1.0, dtype, self.seed).numpy()
        q, r = np.linalg.qr(numbers if numbers.dtype.itemsize >= 4 else numbers.astype(np.float32))
        q = q * np.sign(np.diag(r))
        return _filled(shape, self.gain * (q.T if rows < columns else q).reshape(shape), dtype)


TABLE: dict[str, Any] = {cls.__name__: cls for cls in (Constant, Initializer, Ones, Orthogonal, VarianceScaling, Zeros)}
TABLE |= define_from_table(RANDOM, _RANDOM_TEXT, globals()) | define_from_table(FAMILY, _TEXT, globals())
__all__ = [*TABLE, "get"]
TABLE |= {to_snake_case(name): cls for name, cls in TABLE.items()}
TABLE |= {"uniform": TABLE["RandomUniform"], "normal": TABLE["RandomNormal"], "one": Ones, "zero": Zeros}


def get(identifier: Any) -> Any:
    """The initializer of a name or a class name; ``identifier`` itself when it is callable.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.initializers.get("ones")((2,)).numpy()
    array([1., 1.], dtype=float32)
    """
    return lookup("initializer", identifier, TABLE)


__getattr__, __dir__ = public("tf.keras.initializers", __all__)
