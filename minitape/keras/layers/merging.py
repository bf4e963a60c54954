"""Layers of several inputs.

They take a list of tensors, the batch first, of shapes that broadcast; of two dtypes the one that holds both is taken.
All raise ValueError for what is not a list, or is an empty one.
"""

from __future__ import annotations

import functools
from string import ascii_lowercase
from typing import Any

from ... import tf
from ...engine.tensor import Tensor
from .. import ops
from ..layer import Layer
from ..operations.common import alike


class _Merge(Layer):
    """Combines a list of inputs element by element; ``_operation`` is the function of ``tf`` for two of them."""

    _operation = ""

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
        for x in alike(*inputs):
            for _ in range(rank - len(x.shape)):
                x = ops.expand_dims(x, 1)
            tensors.append(x)
        return functools.reduce(getattr(tf, self._operation), tensors)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """What one of the inputs' masks keeps; None where an input has none."""
        if previous_mask is None or any(mask is None for mask in previous_mask):
            return None
        return functools.reduce(ops.logical_or, previous_mask)


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

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in each. Raises
    ValueError for what is not a list and for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Add()([tf.constant([1.0]), tf.constant([2.0])]).numpy()
    array([3.], dtype=float32)
    """

    _operation = "add"


class Subtract(_Merge):
    """The first input minus the second.

    They are a list of two tensors of shapes that broadcast; the result has that shape. Differentiable in both. Raises
    ValueError unless there are two.

    >>> import minitape as tf
    >>> tf.keras.layers.Subtract()([tf.constant([5.0, 7.0]), tf.constant([1.0, 2.0])]).numpy()
    array([4., 5.], dtype=float32)
    """

    _operation = "subtract"

    def build(self, input_shape: Any) -> None:
        """Checks that there are two inputs."""
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError(
                f"A `Subtract` layer should be called on exactly 2 inputs. Received: input_shape={input_shape}"
            )


class Multiply(_Merge):
    """The product of the inputs.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in each. Raises
    ValueError for what is not a list and for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Multiply()([tf.constant([2.0, 3.0]), tf.constant([4.0, 5.0])]).numpy()
    array([ 8., 15.], dtype=float32)
    """

    _operation = "multiply"


class Average(_Merge):
    """The mean of the inputs, element by element.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in each. Raises
    ValueError for what is not a list and for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Average()([tf.constant([1.0, 2.0]), tf.constant([3.0, 6.0])]).numpy()
    array([2., 4.], dtype=float32)
    """

    _operation = "add"

    def call(self, inputs: Any) -> Any:
        """The merged inputs."""
        return super().call(inputs) / len(inputs)


class Maximum(_Merge):
    """The largest of the inputs, element by element.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in the one that is
    taken. Raises ValueError for what is not a list and for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Maximum()([tf.constant([1.0, 5.0]), tf.constant([4.0, 2.0])]).numpy()
    array([4., 5.], dtype=float32)
    """

    _operation = "maximum"


class Minimum(_Merge):
    """The smallest of the inputs, element by element.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in the one that is
    taken. Raises ValueError for what is not a list and for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Minimum()([tf.constant([1.0, 5.0]), tf.constant([4.0, 2.0])]).numpy()
    array([1., 2.], dtype=float32)
    """

    _operation = "minimum"


class Concatenate(_Merge):
    """The inputs joined along ``axis``, the last one by default.

    They are a list of tensors of shapes that differ in that axis only. Differentiable in each. Raises ValueError for what
    is not a list and for shapes that do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Concatenate()([tf.constant([[1.0, 2.0]]), tf.constant([[3.0]])]).numpy()
    array([[1., 2., 3.]], dtype=float32)
    """

    _config = "axis"

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def _check_shapes(self, shapes: Any) -> None:
        axis = [self.axis + len(shape) if self.axis < 0 else self.axis for shape in shapes]
        others = [[n for at, n in enumerate(shape) if at != a] for shape, a in zip(shapes, axis, strict=True)]
        if len({len(other) for other in others}) > 1 or any(
            len({n for n in sizes if n is not None}) > 1 for sizes in zip(*others, strict=True)
        ):
            raise ValueError("A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
                             f"Received: input_shape={shapes}")  # fmt: skip

    def call(self, inputs: Any) -> Any:
        """The joined inputs."""
        return tf.concat(alike(*inputs), axis=self.axis)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The inputs' masks joined as the inputs are; an input without one is kept whole."""
        if previous_mask is None:
            return None
        masks = [_for_elements(mask, x) for x, mask in zip(inputs, previous_mask, strict=True)]
        return ops.any(ops.concatenate(masks, axis=self.axis), -1)


def _for_elements(mask: Any, x: Any) -> Any:
    """A mask of the steps of ``x`` as one of its elements."""
    from .. import ops

    if mask is None:
        return ops.ones_like(x, dtype="bool")
    return mask if len(mask.shape) == len(x.shape) else ops.logical_or(ops.expand_dims(mask, -1), ops.zeros_like(x, dtype="bool"))


class Dot(_Merge):
    """The products of two inputs, summed over an axis of each.

    They are a list of two tensors (batch, ...); ``axes`` is one axis for both or a pair, never the batch. The outputs are
    (batch, the other axes of the first, those of the second), or (batch, 1) where there are none. With ``normalize`` the
    inputs have length 1 along their axis, so that the product is the cosine. Differentiable in both. Raises TypeError and
    ValueError for other axes, ValueError for what is not a list of two and for axes of different sizes.

    >>> import minitape as tf
    >>> x, y = tf.constant([[3.0, 4.0]]), tf.constant([[4.0, 3.0]])
    >>> tf.keras.layers.Dot(axes=1)([x, y]).numpy()
    array([[24.]], dtype=float32)
    >>> tf.keras.layers.Dot(axes=1, normalize=True)([x, y]).numpy().round(4)
    array([[0.96]], dtype=float32)
    """

    _config = "axes normalize"

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError(
                    f"Invalid type for argument `axes`: it should be a list or an int. Received: axes={axes}"
                )
            start = "Invalid format for argument `axes`: "
            if len(axes) != 2:
                raise ValueError(f"{start}it should contain two elements. Received: axes={axes}")
            if not all(isinstance(axis, int) for axis in axes):
                raise ValueError(f"{start}list elements should be integers. Received: axes={axes}")
        self.axes, self.normalize, self.supports_masking = axes, normalize, True

    def _axes_of(self, shapes: Any) -> list[int]:
        """The axis of each input, counted from the front."""
        axes = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        return [axis % len(shape) if axis < 0 else axis for axis, shape in zip(axes, shapes, strict=True)]

    def build(self, input_shape: Any) -> None:
        """Checks that there are two inputs that fit."""
        _check_two(input_shape)
        first, second = input_shape
        a, b = self._axes_of(input_shape)
        if first[a] != second[b]:
            shown = self._axes_of(input_shape) if isinstance(self.axes, int) else self.axes
            raise ValueError(
                f"Incompatible input shapes: axis values {first[a]} (at axis {shown[0]}) != {second[b]} (at axis "
                f"{shown[1]}). Full input shapes: {first}, {second}"
            )

    def call(self, inputs: Any) -> Any:
        """The products."""
        if len(inputs) != 2:
            raise ValueError(f"A `Dot` layer should be called on exactly 2 inputs. Received: inputs={inputs}")
        x, y = inputs
        axes = self._axes_of((x.shape, y.shape))
        if self.normalize:
            x, y = (ops.normalize(v, axis=axis) for v, axis in zip((x, y), axes, strict=True))
        _check_products(x.shape, y.shape, axes)
        first, second = list(ascii_lowercase[: x.ndim]), list("a" + ascii_lowercase[x.ndim :][: y.ndim - 1])
        second[axes[1]] = first[axes[0]]
        kept = [c for c in (*first, *second[1:]) if c != first[axes[0]]]
        out = tf.einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", x, y)
        return tf.expand_dims(out, 1) if len(kept) == 1 else out

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The batch, the other axes of the first input, then those of the second."""
        _check_two(input_shape)
        axes = self._axes_of(input_shape)
        first, second = ([n for i, n in enumerate(s) if i != a] for s, a in zip(input_shape, axes, strict=True))
        shape = (*first, *second[1:])
        return shape if len(shape) > 1 else (*shape, 1)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """None: the products have no steps."""
        return None


def _check_two(shapes: Any) -> None:
    pair = isinstance(shapes, (tuple, list)) and len(shapes) == 2
    if not pair or not isinstance(shapes[0], (tuple, list)):
        raise ValueError(f"A `Dot` layer should be called on a list of 2 inputs. Received: input_shape={shapes}")


def _check_products(x: Any, y: Any, axes: list[int]) -> None:
    """Raises ValueError for shapes whose products are not defined."""
    received = f"Received inputs with shapes {x} and {y}."
    if len(x) < 2 or len(y) < 2:
        raise ValueError(f"Cannot do batch_dot on inputs with rank < 2. {received}")
    if x[0] != y[0]:
        raise ValueError(f"Cannot do batch_dot on inputs with different batch sizes. {received}")
    if 0 in axes:
        raise ValueError(
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch dimension to your "
            "inputs using keras.ops.expand_dims(x, 0)"
        )
    if x[axes[0]] != y[axes[1]]:
        raise ValueError(
            f"Cannot do batch_dot on inputs with shapes {x} and {y} with axes={axes}. x.shape[{axes[0]}] != "
            f"y.shape[{axes[1]}] ({x[axes[0]]} != {y[axes[1]]})."
        )


def dot(inputs: Any, axes: Any = -1, **kwargs: Any) -> Tensor:
    """``Dot(axes, ...)(inputs)``: the products of two inputs, summed over an axis of each.

    Takes the arguments of the layer by name. Shapes, dtypes, the gradient and errors are those of the layer.

    >>> import minitape as tf
    >>> tf.keras.layers.dot([tf.constant([[2.0, 8.0]]), tf.constant([[4.0, 2.0]])]).numpy()
    array([[24.]], dtype=float32)
    """
    return Dot(axes=axes, **kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """``Concatenate(axis, ...)(inputs)``: the inputs joined along ``axis``.

    Takes the arguments of the layer by name. Shapes, dtypes, the gradient and errors are those of the layer.

    >>> import minitape as tf
    >>> tf.keras.layers.concatenate([tf.constant([[2.0, 8.0]]), tf.constant([[4.0, 2.0]])]).numpy()
    array([[2., 8., 4., 2.]], dtype=float32)
    """
    return Concatenate(axis=axis, **kwargs)(inputs)


def _function(layer: type[Layer], result: str) -> Any:
    """The layer as a function; ``result`` is what it makes of the two rows of the example."""

    def merge(inputs: Any, **kwargs: Any) -> Tensor:
        return layer(**kwargs)(inputs)

    merge.__name__ = merge.__qualname__ = name = layer.__name__.lower()
    merge.__doc__ = f"""``{layer.__name__}(...)(inputs)``: {(layer.__doc__ or "").splitlines()[0].lower()}

    Takes the arguments of the layer by name. Shapes, dtypes, the gradient and errors are those of the layer.

    >>> import minitape as tf
    >>> tf.keras.layers.{name}([tf.constant([[2.0, 8.0]]), tf.constant([[4.0, 2.0]])]).numpy()
    {result}
    """
    return merge


add = _function(Add, "array([[ 6., 10.]], dtype=float32)")
subtract = _function(Subtract, "array([[-2.,  6.]], dtype=float32)")
multiply = _function(Multiply, "array([[ 8., 16.]], dtype=float32)")
average = _function(Average, "array([[3., 5.]], dtype=float32)")
maximum = _function(Maximum, "array([[4., 8.]], dtype=float32)")
minimum = _function(Minimum, "array([[2., 2.]], dtype=float32)")
