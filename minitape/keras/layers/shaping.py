"""Layers that change the shape or join several inputs; none has weights, and the batch stays first."""

from __future__ import annotations

import functools
import math
from typing import Any

from ... import tf
from ..base import convert, result_type
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

    def _sizes(self, sizes: tuple) -> tuple:
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


class _Merge(Layer):
    """Combines a list of inputs element by element, two at a time by ``_combined``."""

    _combined: Any

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
        self._check_shapes(input_shape)

    def _check_shapes(self, shapes: Any) -> None:
        """ValueError unless the inputs are of one batch size and, without that axis, broadcast."""
        if len({shape[0] for shape in shapes if shape and shape[0] is not None}) > 1:
            raise ValueError(f"Cannot merge tensors with different batch sizes. Received tensors with shapes {shapes}")
        functools.reduce(_broadcast, (shape[1:] for shape in shapes))

    def call(self, inputs: Any) -> Any:
        """The merged inputs; one of fewer axes counts as one with axes of size 1 behind the batch."""
        rank = max(len(x.shape) for x in inputs)
        tensors = []
        for x in _of_one_type(inputs):
            for _ in range(rank - len(x.shape)):
                x = tf.expand_dims(x, 1)
            tensors.append(x)
        return functools.reduce(type(self)._combined, tensors)


def _of_one_type(inputs: Any) -> list:
    """The inputs as tensors of one type that holds them all."""
    tensors = [convert(x) for x in inputs]
    dtype = result_type(*(x.dtype.name for x in tensors))
    return [convert(x, dtype) for x in tensors]


def _broadcast(first: Any, second: Any) -> tuple[int | None, ...]:
    """The shape to which two shapes broadcast, None where it is not known; ValueError where there is none."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    sizes = list(longer[: len(longer) - len(shorter)])
    for m, n in zip(longer[len(sizes) :], shorter, strict=True):
        if None not in (m, n) and m != n and 1 not in (m, n):
            raise ValueError(f"Inputs have incompatible shapes. Received shapes {longer} and {shorter}")
        sizes.append(None if None in (m, n) else max(m, n) if 0 not in (m, n) else 0)
    return tuple(sizes)


class Add(_Merge):
    """The sum of the inputs.

    >>> import minitape as tf
    >>> tf.keras.layers.Add()([tf.constant([1.0]), tf.constant([2.0])]).numpy()
    array([3.], dtype=float32)
    """

    _combined = staticmethod(tf.add)


class Multiply(_Merge):
    """The product of the inputs.

    >>> import minitape as tf
    >>> tf.keras.layers.Multiply()([tf.constant([2.0, 3.0]), tf.constant([4.0, 5.0])]).numpy()
    array([ 8., 15.], dtype=float32)
    """

    _combined = staticmethod(tf.multiply)


class Concatenate(_Merge):
    """The inputs joined along ``axis``, the last one by default.

    They may differ in that axis only.

    >>> import minitape as tf
    >>> tf.keras.layers.Concatenate()([tf.constant([[1.0, 2.0]]), tf.constant([[3.0]])]).numpy()
    array([[1., 2., 3.]], dtype=float32)
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def _check_shapes(self, shapes: Any) -> None:
        axis = [self.axis + len(shape) if self.axis < 0 else self.axis for shape in shapes]
        others = [[n for at, n in enumerate(shape) if at != a] for shape, a in zip(shapes, axis, strict=True)]
        if len({len(other) for other in others}) > 1 or any(
            len({n for n in sizes if n is not None}) > 1 for sizes in zip(*others, strict=True)
        ):
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
                f"Received: input_shape={shapes}"
            )

    def call(self, inputs: Any) -> Any:
        """The joined inputs."""
        return tf.concat(_of_one_type(inputs), axis=self.axis)
