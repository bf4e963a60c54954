"""What several kinds of layers share: a kernel with a bias, sizes of windows and of axes, the order of an image's
axes.
"""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import activations, initializers, regularizers
from ..layer import Layer


class SameShape(Layer):
    """A layer whose output has the shape of its input."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape."""
        return input_shape


class Affine(Layer):
    """A layer with a ``kernel``, a ``bias`` unless ``use_bias`` is False, and an activation."""

    bias: Any

    def __init__(
        self,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)

    def _add_weights(self, *shape: Any) -> Any:
        """Creates the kernel, which is returned, and the bias, which has its last size."""
        kernel = self._add_kernel(*shape)
        self._add_bias(shape[-1], self.bias_initializer)
        return kernel

    def _add_kernel(self, *shape: Any) -> Any:
        return self.add_weight(shape, self.kernel_initializer, regularizer=self.kernel_regularizer, name="kernel")

    def _add_bias(self, size: int, initializer: Any) -> None:
        shape = (size,)
        self.bias = (
            self.add_weight(shape, initializer, regularizer=self.bias_regularizer, name="bias")
            if self.use_bias
            else None
        )

    def _finished(self, product: Any) -> Any:
        """The product of inputs and kernel with the bias and the activation."""
        out = product if self.bias is None else product + self.bias
        return out if self.activation is None else self.activation(out)


def length(x: Any, axis: int) -> Any:
    """How long an axis is: a number, or a tensor where only a run of the graph knows it."""
    return tf.shape(x)[axis] if x.shape[axis] is None else x.shape[axis]


def channels_last(data_format: Any) -> str:
    """The one order of an image's axes that layers take: the channels come last. ValueError for another."""
    if data_format is None or str(data_format).lower() == "channels_last":
        return "channels_last"
    if str(data_format).lower() == "channels_first":
        raise ValueError(
            "minitape's layers take images as (batch, height, width, channels) only, which is "
            f"data_format='channels_last'. Received: data_format={data_format}"
        )
    raise ValueError(
        "The `data_format` argument must be one of {'channels_first', 'channels_last'}. "
        f"Received: data_format={data_format}"
    )


def pair(value: Any, name: str) -> tuple[int, ...]:
    """An int or a sequence of two ints as a tuple, for height and width; ValueError unless both are positive."""
    text = f"The `{name}` argument must be a tuple of 2 integers. Received {name}={value}"
    sizes = (value, value) if isinstance(value, int) else tuple(value) if hasattr(value, "__iter__") else ()
    if len(sizes) != 2:
        raise ValueError(text)
    bad = {size for size in sizes if size <= 0}
    if bad:
        raise ValueError(f"{text}, including values {bad} that do not satisfy `value > 0`")
    return sizes


def windows(n: int | None, size: int, step: int, padding: str, rate: int = 1) -> int | None:
    """How many windows of a size fit on an axis of length ``n``, 0 or less where none fits; None of an unknown
    length.
    """
    if n is None:
        return None
    return (n - (rate * (size - 1) if padding == "valid" else 0) - 1) // step + 1
