"""Layers that change the shape; none has weights, and the batch stays first."""

from __future__ import annotations

import math
from typing import Any

from ... import tf
from ..calls import InputSpec
from ..layer import Layer
from .common import channels_last, length


class Flatten(Layer):
    """All axes but the batch become one.

    >>> import minitape as tf
    >>> tf.keras.layers.Flatten()(tf.ones([2, 3, 4])).shape
    TensorShape([2, 12])
    """

    _keeps_dtype = True

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = channels_last(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """The reshaped inputs."""
        rest = tuple(inputs.shape)[1:]
        return tf.reshape(inputs, (length(inputs, 0), -1 if None in rest else math.prod(rest)))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """(batch, number of elements)."""
        rest = tuple(input_shape)[1:]
        return (input_shape[0], None if None in rest else math.prod(rest))


class Reshape(Layer):
    """Each example in the shape ``target_shape``; one size may be -1. Raises ValueError when the sizes do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Reshape((3, -1))(tf.ones([2, 12])).shape
    TensorShape([2, 3, 4])
    """

    _keeps_dtype = True

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)
        if self.target_shape.count(-1) > 1:
            raise ValueError(
                "There must be at most one unknown dimension (-1) in `target_shape`. Received: "
                f"target_shape={self.target_shape}."
            )
        self.built = True

    def _sizes(self, sizes: tuple[Any, ...]) -> tuple[Any, ...]:
        """The target shape without a -1, None in its place while a size of the example is unknown."""
        if None in sizes:
            return tuple(None if n == -1 else n for n in self.target_shape)
        mine, known = math.prod(sizes), math.prod(n for n in self.target_shape if n != -1)
        shapes = f"Received: input_shape={sizes}, target_shape={self.target_shape}"
        if -1 not in self.target_shape and known != mine:
            raise ValueError(f"The total size of the tensor must be unchanged. {shapes}")
        if -1 in self.target_shape and (not known or mine % known):
            raise ValueError(
                "The total size of the tensor must be unchanged, however, the input size cannot by divided by the "
                f"specified dimensions in target_shape. {shapes}"
            )
        return tuple(mine // known if n == -1 else n for n in self.target_shape)

    def call(self, inputs: Any) -> Any:
        """The reshaped inputs."""
        sizes = self._sizes(tuple(inputs.shape)[1:])
        return tf.reshape(inputs, (length(inputs, 0), *(-1 if n is None else n for n in sizes)))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch and the target shape."""
        return (input_shape[0], *self._sizes(tuple(input_shape)[1:]))
