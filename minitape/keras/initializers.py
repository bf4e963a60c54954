"""``tf.keras.initializers``: how a weight begins. Each is a function of (shape, dtype).

An initializer with a seed (also one drawn at its making) gives the same values each time it is called.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import random
from .base import standardize_dtype
from .seeds import make_default_seed
from .serial import lookup


class Initializer:
    """The base class: subclasses define ``__call__(shape, dtype=None)``."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """A tensor of this shape."""
        raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """The initializer with these arguments."""
        return cls(**config)


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
    """All ones."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Ones of this shape."""
        return _filled(shape, 1, dtype)


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: Any = 0.0) -> None:
        self.value = value

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """The value in this shape."""
        return _filled(shape, self.value, dtype)


class Identity(Initializer):
    """The identity matrix, times ``gain``."""

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
    from ..dtypes import as_dtype
    from ..tensor import wrap

    kind = as_dtype(standardize_dtype(dtype)).as_numpy_dtype
    return wrap(np.array(np.broadcast_to(np.asarray(value), tuple(shape)), kind))


class RandomInitializer(Initializer):
    """The base class of the random ones: keeps the seed, drawing one where none is given."""

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
    >>> init = tf.keras.initializers.RandomNormal(seed=1)
    >>> bool(tf.reduce_all(init((3,)) == init((3,))))
    True
    """

    def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
        self.mean, self.stddev = mean, stddev
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        return random.normal(shape, self.mean, self.stddev, dtype, self._seed)


class TruncatedNormal(RandomNormal):
    """Normally distributed numbers, none further than two standard deviations from the mean."""

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        return random.truncated_normal(shape, self.mean, self.stddev, dtype, self._seed)


class RandomUniform(RandomInitializer):
    """Numbers spread evenly over [minval, maxval)."""

    def __init__(self, minval: float = -0.05, maxval: float = 0.05, seed: Any = None) -> None:
        self.minval, self.maxval = minval, maxval
        super().__init__(seed)

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        """Numbers in this shape."""
        return random.uniform(shape, self.minval, self.maxval, dtype, self._seed)


class VarianceScaling(RandomInitializer):
    """Random numbers whose variance fits the number of inputs and outputs of the layer.

    ``mode`` is "fan_in", "fan_out" or "fan_avg"; ``distribution`` "truncated_normal", "untruncated_normal" or
    "uniform". Raises ValueError for another word or a scale that is not positive.
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
        modes, distributions = (
            ("fan_in", "fan_out", "fan_avg"),
            ("normal", "truncated_normal", "untruncated_normal", "uniform"),
        )
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
        if self.distribution == "truncated_normal":  # the constant is the deviation that truncation leaves of 1
            return random.truncated_normal(shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype, self._seed)
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


def _scaling(name: str, scale: float, mode: str, distribution: str) -> type[VarianceScaling]:
    def __init__(self: Any, seed: Any = None, input_axes: Any = None, output_axes: Any = None) -> None:
        VarianceScaling.__init__(self, scale, mode, distribution, seed, input_axes, output_axes)

    doc = f"Random numbers: {distribution.replace('_', ' ')}, scaled by {mode.replace('_', ' ')} (scale {scale:g})."
    return type(name, (VarianceScaling,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


GlorotUniform = _scaling("GlorotUniform", 1.0, "fan_avg", "uniform")
GlorotNormal = _scaling("GlorotNormal", 1.0, "fan_avg", "truncated_normal")
HeUniform = _scaling("HeUniform", 2.0, "fan_in", "uniform")
HeNormal = _scaling("HeNormal", 2.0, "fan_in", "truncated_normal")
LecunUniform = _scaling("LecunUniform", 1.0, "fan_in", "uniform")
LecunNormal = _scaling("LecunNormal", 1.0, "fan_in", "truncated_normal")


class Orthogonal(RandomInitializer):
    """A random matrix with orthogonal rows or columns, times ``gain``; ValueError below two axes."""

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
        q, r = np.linalg.qr(random.normal(flat, 0.0, 1.0, dtype, self._seed).numpy())
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
TABLE = {name: value for name, value in globals().items() if isinstance(value, type) and issubclass(value, Initializer)}
TABLE |= {"uniform": RandomUniform, "normal": RandomNormal, "one": Ones, "zero": Zeros}


def get(identifier: Any) -> Any:
    """The initializer of a name ("glorot_uniform", "zeros", ...), or ``identifier`` itself when it is callable."""
    return lookup("initializer", identifier, TABLE)


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.initializers", name, TABLE))
