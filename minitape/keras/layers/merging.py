"""Layers of several inputs."""

from __future__ import annotations

import functools
from typing import Any

from ..layer import Layer


class _Merge(Layer):
    """Combines a list of inputs element by element."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = False

    def build(self, input_shape: Any) -> None:
        """Checks that there are inputs to merge."""
        if not isinstance(input_shape, (list, tuple)) or (
            input_shape and not isinstance(input_shape[0], (list, tuple))
        ):
            raise ValueError(
                "A merge layer should be called on a list of inputs. Received: "
                f"input_shape={input_shape} (not a list of shapes)"
            )
        if len(input_shape) < 1:
            raise ValueError(
                "A merge layer should be called on a list of at least 1 input. Received "
                f"{len(input_shape)} inputs. Full input_shape received: {input_shape}"
            )

    def call(self, inputs: Any) -> Any:
        """The merged inputs."""
        return functools.reduce(self._merge, inputs)

    def _merge(self, a: Any, b: Any) -> Any:
        raise NotImplementedError


class Add(_Merge):
    """The sum of the inputs.

    >>> import minitape as tf
    >>> tf.keras.layers.Add()([tf.constant([1.0]), tf.constant([2.0])]).numpy()
    array([3.], dtype=float32)
    """

    def _merge(self, a: Any, b: Any) -> Any:
        return a + b


class Subtract(_Merge):
    """The first input minus the second; ValueError unless there are two."""

    def build(self, input_shape: Any) -> None:
        """Checks that there are two inputs."""
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError(
                f"A `Subtract` layer should be called on exactly 2 inputs. Received: input_shape={input_shape}"
            )

    def _merge(self, a: Any, b: Any) -> Any:
        return a - b


class Multiply(_Merge):
    """The product of the inputs."""

    def _merge(self, a: Any, b: Any) -> Any:
        return a * b


class Average(_Merge):
    """The mean of the inputs."""

    def call(self, inputs: Any) -> Any:
        """The merged inputs."""
        return functools.reduce(lambda a, b: a + b, inputs) / float(len(inputs))


class Maximum(_Merge):
    """The largest of the inputs."""

    def _merge(self, a: Any, b: Any) -> Any:
        import minitape as tf

        return tf.maximum(a, b)


class Minimum(_Merge):
    """The smallest of the inputs."""

    def _merge(self, a: Any, b: Any) -> Any:
        import minitape as tf

        return tf.minimum(a, b)


class Concatenate(_Merge):
    """The inputs joined along ``axis``."""

    _config = "axis"

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        """The joined inputs."""
        import minitape as tf

        return tf.concat(inputs, axis=self.axis)


def _function(layer: type[Layer]) -> Any:
    def merge(inputs: Any, **kwargs: Any) -> Any:
        return layer(**kwargs)(inputs)

    merge.__name__ = merge.__qualname__ = layer.__name__.lower()
    merge.__doc__ = f"``{layer.__name__}(...)(inputs)``: {(layer.__doc__ or '').splitlines()[0].lower()}"
    return merge


add, subtract, multiply, average = map(_function, (Add, Subtract, Multiply, Average))
maximum, minimum, concatenate = map(_function, (Maximum, Minimum, Concatenate))
