"""Layers of several inputs.

They take a list of tensors, the batch first, of shapes that broadcast; of two dtypes the one that holds both is taken.
They are differentiable in each input, and raise ValueError for what is not a list, for an empty one, and for shapes that do
not fit.
"""

from __future__ import annotations

import functools
from typing import Any

from ... import tf
from ..base import convert, result_type
from ..layer import Layer


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


def _of_one_type(inputs: Any) -> list[Any]:
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
