"""``tf.keras.activations``: elementwise functions between layers (and softmax)."""

from __future__ import annotations

from typing import Any

from .backend import convert
from .serial import lookup


def linear(x: Any) -> Any:
    """``x`` itself."""
    return x


def relu(x: Any, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0) -> Any:
    """``max(x, 0)``; or ``negative_slope * (x - threshold)`` below ``threshold``, cut at ``max_value``.

    >>> import minitape as tf
    >>> tf.keras.activations.relu(tf.constant([-1.0, 2.0])).numpy()
    array([0., 2.], dtype=float32)
    """
    import minitape as tf

    x = convert(x)
    if negative_slope == 0.0 and threshold == 0.0:
        if max_value is None:
            return tf.nn.relu(x)
        return tf.nn.relu6(x) if max_value == 6 else tf.clip_by_value(x, 0.0, max_value)
    below = negative_slope * (x - threshold) if negative_slope else tf.zeros_like(x)
    out = tf.where(x > threshold, x, below)
    return out if max_value is None else tf.minimum(out, max_value)


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """``x``, times ``negative_slope`` where it is negative."""
    import minitape as tf

    return tf.nn.leaky_relu(convert(x), alpha=negative_slope)


def softmax(x: Any, axis: int = -1) -> Any:
    """Exponentials over ``axis`` that sum to one.

    >>> import minitape as tf
    >>> tf.keras.activations.softmax(tf.constant([[0.0, 0.0]])).numpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    import minitape as tf

    return tf.nn.softmax(convert(x), axis=axis)


def log_softmax(x: Any, axis: int = -1) -> Any:
    """The logarithm of softmax."""
    import minitape as tf

    return tf.nn.log_softmax(convert(x), axis=axis)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere."""
    import minitape as tf

    x = convert(x)
    out = tf.nn.elu(x)
    return out if alpha == 1 else tf.where(x > 0, out, alpha * out)


def gelu(x: Any, approximate: bool = False) -> Any:
    """``x`` times the normal distribution function of ``x``."""
    import minitape as tf

    return tf.nn.gelu(convert(x), approximate=approximate)


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``."""
    import minitape as tf

    return tf.nn.silu(convert(x))


def hard_sigmoid(x: Any) -> Any:
    """``relu6(x + 3) / 6``."""
    import minitape as tf

    return tf.nn.relu6(convert(x) + 3.0) / 6.0


def hard_silu(x: Any) -> Any:
    """``x * hard_sigmoid(x)``."""
    return convert(x) * hard_sigmoid(x)


def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``."""
    import minitape as tf

    x = convert(x)
    return x * tf.tanh(tf.nn.softplus(x))


def _plain(name: str, doc: str, home: str = "nn", target: str | None = None) -> Any:
    def activation(x: Any) -> Any:
        import minitape as tf

        return getattr(getattr(tf, home), target or name)(convert(x))

    activation.__name__ = activation.__qualname__ = name
    activation.__doc__ = doc
    return activation


relu6 = _plain("relu6", "``min(max(x, 0), 6)``.")
selu = _plain("selu", "The scaled exponential linear unit.")
softplus = _plain("softplus", "``log(1 + exp(x))``.")
softsign = _plain("softsign", "``x / (1 + abs(x))``.")
sigmoid = _plain("sigmoid", "``1 / (1 + exp(-x))``.", "math")
tanh = _plain("tanh", "The hyperbolic tangent.", "math")
exponential = _plain("exponential", "``exp(x)``.", "math", "exp")
log_sigmoid = _plain("log_sigmoid", "``log(sigmoid(x))``.", "math")


def celu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` where positive, ``alpha * (exp(x / alpha) - 1)`` elsewhere."""
    import minitape as tf

    x = convert(x)
    return tf.maximum(x, 0.0) + alpha * tf.math.expm1(tf.minimum(x, 0.0) / alpha)


def hard_tanh(x: Any) -> Any:
    """``x`` within -1 and 1."""
    import minitape as tf

    return tf.clip_by_value(convert(x), -1.0, 1.0)


def threshold(x: Any, threshold: float, default_value: float) -> Any:
    """``x`` above the threshold, ``default_value`` elsewhere."""
    import minitape as tf

    x = convert(x)
    return tf.where(x > threshold, x, convert(default_value, x.dtype.name))


def tanh_shrink(x: Any) -> Any:
    """``x - tanh(x)``."""
    import minitape as tf

    x = convert(x)
    return x - tf.tanh(x)


def squareplus(x: Any, b: float = 4) -> Any:
    """``(x + sqrt(x ** 2 + b)) / 2``."""
    import minitape as tf

    x = convert(x)
    return (x + tf.sqrt(x * x + b)) / 2


swish, hard_swish = silu, hard_silu
TABLE = {
    name: f
    for name, f in globals().items()
    if callable(f) and not name.startswith("_") and name not in ("Any", "convert", "lookup")
}


def get(identifier: Any) -> Any:
    """The activation of a name; None is ``linear``. ValueError for an unknown name."""
    if identifier is None:
        return linear
    return lookup("activation function", identifier, TABLE, instance=False)


def serialize(activation: Any) -> str:
    """The name of an activation."""
    return activation.__name__


def deserialize(config: Any) -> Any:
    """The activation of a name."""
    return get(config)


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.activations", name, TABLE))
