"""``tf.keras.initializers``: how a weight begins. Each is a function of (shape, dtype).

An initializer with a seed (also one drawn at its making) gives the same values each time it is called.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.namespace import public
from . import random
from .base import standardize_dtype
from .seeds import make_default_seed
from .serial import Configured, lookup, plain

TRUNCATED = 0.87962566103423978  # the deviation that is left of 1 within two deviations


class Initializer(Configured):
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

    def clone(self) -> Any:
        """Another one with the same arguments.

        >>> import minitape as tf
        >>> again = tf.keras.initializers.Constant(2.0).clone()
        >>> again(()).numpy()
        np.float32(2.0)
        """
        return self.from_config(self.get_config())


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


class Identity(Initializer):
    """The identity matrix, times ``gain``. Raises ValueError for a shape of another rank than 2.

    >>> import minitape as tf
    >>> tf.keras.initializers.Identity(gain=2.0)((2, 3)).numpy()
    array([[2., 0., 0.],
           [0., 2., 0.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """The identity of this two-dimensional shape."""
        if len(shape) != 2:
            raise ValueError(
                "Identity matrix initializer can only be used for 2D matrices. Received: "
                f"shape={shape} of rank {len(shape)}."
            )
        return _filled(shape, self.gain * np.eye(*shape), dtype)


def _filled(shape: Any, value: Any, dtype: Any) -> Any:
    from ..engine.dtypes import as_dtype
    from ..engine.tensor import wrap

    kind = as_dtype(standardize_dtype(dtype)).as_numpy_dtype
    return wrap(np.array(np.broadcast_to(np.asarray(value), tuple(shape)), kind))


class RandomInitializer(Initializer):
    """The base class of the random ones: keeps the seed, drawing one where none is given.

    ``seed`` is an int or a ``tf.keras.random.SeedGenerator``, which moves on at each call; ValueError for another.
    """

    def __init__(self, seed: Any = None) -> None:
        self._init_seed = seed
        if seed is None:
            seed = make_default_seed()
        elif not isinstance(seed, (int, random.SeedGenerator)):
            raise ValueError(
                "`seed` argument should be an instance of `keras.random.SeedGenerator()` or an integer. "
                f"Received: seed={seed}"
            )
        self._seed = seed

    @property
    def seed(self) -> Any:
        """The seed in use."""
        return self._seed

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {"seed": self._init_seed, **super().get_config()}


class RandomNormal(RandomInitializer):
    """Normally distributed numbers.

    >>> import minitape as tf
    >>> init = tf.keras.initializers.RandomNormal(stddev=1.0, seed=1)
    >>> init((2,)).numpy()
    array([ 0.1266503 , -0.49301657], dtype=float32)
    >>> bool(tf.reduce_all(init((2,)) == init((2,))))
    True
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev = mean, stddev
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        return random.normal(shape, self.mean, self.stddev, dtype, self._seed)


class TruncatedNormal(RandomInitializer):
    """Normally distributed numbers, none further than two standard deviations from the mean.

    >>> import minitape as tf
    >>> tf.keras.initializers.TruncatedNormal(stddev=1.0, seed=1)((2,)).numpy()
    array([ 0.1266503 , -0.49301657], dtype=float32)
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev = mean, stddev
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        return random.truncated_normal(shape, self.mean, self.stddev, dtype, self._seed)


class RandomUniform(RandomInitializer):
    """Numbers spread evenly over [minval, maxval).

    >>> import minitape as tf
    >>> tf.keras.initializers.RandomUniform(0.0, 1.0, seed=1)((2,)).numpy()
    array([0.8784882 , 0.45998025], dtype=float32)
    """

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval = minval, maxval
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        return random.uniform(shape, self.minval, self.maxval, dtype, self._seed)


class VarianceScaling(RandomInitializer):
    """Random numbers whose variance fits the number of inputs and outputs of the layer.

    ``mode`` is "fan_in", "fan_out" or "fan_avg"; ``distribution`` "truncated_normal", "untruncated_normal" or
    "uniform". ``input_axes`` and ``output_axes`` name the axes of the weight that count as inputs and outputs.
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
        seed: Any = None,
        input_axes: Any = None,
        output_axes: Any = None,
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
        self.input_axes, self.output_axes = input_axes, output_axes
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        fan_in, fan_out = fans(shape, self.input_axes, self.output_axes)
        fan = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution == "truncated_normal":
            return random.truncated_normal(shape, 0.0, math.sqrt(scale) / TRUNCATED, dtype, self._seed)
        if self.distribution == "untruncated_normal":
            return random.normal(shape, 0.0, math.sqrt(scale), dtype, self._seed)
        limit = math.sqrt(3.0 * scale)
        return random.uniform(shape, -limit, limit, dtype, self._seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        if type(self) is not VarianceScaling:
            return {"seed": self._init_seed, "input_axes": self.input_axes, "output_axes": self.output_axes}
        return super().get_config()


def fans(shape: Any, input_axes: Any = None, output_axes: Any = None) -> tuple[int, int]:
    """How many inputs and outputs a weight of this shape connects; the axes of both may be named.

    >>> fans((3, 4)), fans((5, 5, 3, 8))
    ((3, 4), (75, 200))
    """
    shape = tuple(int(n) for n in shape)
    if input_axes is not None and output_axes is not None:
        return math.prod(shape[a] for a in input_axes), math.prod(shape[a] for a in output_axes)
    if len(shape) < 2:
        return (shape or (1,))[0], (shape or (1,))[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class GlorotUniform(VarianceScaling):
    """Numbers spread evenly within the root of 6 / (inputs + outputs): how Dense and Conv2D begin.

    >>> import minitape as tf
    >>> tf.keras.initializers.GlorotUniform(seed=1)((2, 2)).numpy()
    array([[ 0.9271029 , -0.09802794],
           [ 0.24566245, -0.2630809 ]], dtype=float32)
    """

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, input_axes, output_axes)


class GlorotNormal(VarianceScaling):
    """Normally distributed numbers, truncated, of variance 2 / (inputs + outputs).

    >>> import minitape as tf
    >>> tf.keras.initializers.GlorotNormal(seed=1)((2, 2)).numpy()
    array([[ 0.10181069, -0.39632243],
           [ 0.5073968 , -0.63413197]], dtype=float32)
    """

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, input_axes, output_axes)


class HeUniform(VarianceScaling):
    """Numbers spread evenly within the root of 6 / inputs: for layers before a relu.

    >>> import minitape as tf
    >>> tf.keras.initializers.HeUniform(seed=1)((2, 2)).numpy()
    array([[ 1.3111216 , -0.13863254],
           [ 0.34741914, -0.37205255]], dtype=float32)
    """

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None) -> None:
        super().__init__(2.0, "fan_in", "uniform", seed, input_axes, output_axes)


class HeNormal(VarianceScaling):
    """Normally distributed numbers, truncated, of variance 2 / inputs: for layers before a relu.

    >>> import minitape as tf
    >>> tf.keras.initializers.HeNormal(seed=1)((2, 2)).numpy()
    array([[ 0.14398205, -0.5604845 ],
           [ 0.71756744, -0.896798  ]], dtype=float32)
    """

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None) -> None:
        super().__init__(2.0, "fan_in", "truncated_normal", seed, input_axes, output_axes)


class LecunUniform(VarianceScaling):
    """Numbers spread evenly within the root of 3 / inputs.

    >>> import minitape as tf
    >>> tf.keras.initializers.LecunUniform(seed=1)((2, 2)).numpy()
    array([[ 0.9271029 , -0.09802794],
           [ 0.24566245, -0.2630809 ]], dtype=float32)
    """

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None) -> None:
        super().__init__(1.0, "fan_in", "uniform", seed, input_axes, output_axes)


class LecunNormal(VarianceScaling):
    """Normally distributed numbers, truncated, of variance 1 / inputs: for layers before a selu.

    >>> import minitape as tf
    >>> tf.keras.initializers.LecunNormal(seed=1)((2, 2)).numpy()
    array([[ 0.10181069, -0.39632243],
           [ 0.5073968 , -0.63413197]], dtype=float32)
    """

    def __init__(self, seed: Any = None, input_axes: Any = None, output_axes: Any = None) -> None:
        super().__init__(1.0, "fan_in", "truncated_normal", seed, input_axes, output_axes)


class Orthogonal(RandomInitializer):
    """A random matrix with orthogonal rows or columns, times ``gain``; ValueError below two axes.

    >>> import minitape as tf
    >>> q = tf.keras.initializers.Orthogonal(seed=1)((2, 3))
    >>> abs((q @ tf.transpose(q)).numpy().round(3))
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(self, gain: float = 1.0, seed: Any = None) -> None:
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
        numbers = random.normal(flat, 0.0, 1.0, dtype, self._seed).numpy()
        q, r = np.linalg.qr(numbers if numbers.dtype.itemsize >= 4 else numbers.astype(np.float32))
        q = q * np.sign(np.diag(r))
        return _filled(shape, self.gain * (q.T if rows < columns else q).reshape(shape), dtype)


zeros, ones, constant, identity, IdentityInitializer = Zeros, Ones, Constant, Identity, Identity
random_normal, random_uniform, truncated_normal, variance_scaling = (
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    VarianceScaling,
)
glorot_uniform, glorot_normal, he_uniform, he_normal = GlorotUniform, GlorotNormal, HeUniform, HeNormal
lecun_uniform, lecun_normal, orthogonal, OrthogonalInitializer = LecunUniform, LecunNormal, Orthogonal, Orthogonal
TABLE = {
    name: value
    for name, value in globals().items()
    if isinstance(value, type) and issubclass(value, Initializer) and not name.startswith("_")
}
del TABLE["RandomInitializer"]
__all__ = [*TABLE, "deserialize", "get", "serialize"]
TABLE |= {"uniform": RandomUniform, "normal": RandomNormal, "one": Ones, "zero": Zeros}


def get(identifier: Any) -> Any:
    """The initializer of a name, a class name or a dictionary; ``identifier`` itself when it is callable.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.initializers.get("ones")((2,)).numpy()
    array([1., 1.], dtype=float32)
    """
    return lookup("initializer", identifier, TABLE)


def serialize(initializer: Any) -> Any:
    """The class and the arguments of an initializer as a dictionary that JSON can hold; a function's name.

    >>> import minitape as tf
    >>> tf.keras.initializers.serialize(tf.keras.initializers.Ones())["class_name"]
    'Ones'
    """
    return plain(initializer)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The initializer that ``serialize`` wrote down; classes of one's own are looked for in ``custom_objects``.

    Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> config = tf.keras.initializers.serialize(tf.keras.initializers.Ones())
    >>> type(tf.keras.initializers.deserialize(config)).__name__
    'Ones'
    """
    return lookup("initializer", config, {**TABLE, **(custom_objects or {})})


__getattr__, __dir__ = public("tf.keras.initializers", __all__)
