"""Layers of several inputs.

They take a list of tensors, the batch first, of shapes that broadcast; whole numbers become the dtype of the layer. All
raise ValueError for what is not a list, or is an empty one.
"""

from __future__ import annotations

import functools
from typing import Any

from ..layer import Layer


class _Merge(Layer):
    """Combines a list of inputs element by element."""

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

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """What one of the inputs' masks keeps; None where an input has none."""
        import minitape as tf

        if previous_mask is None or any(mask is None for mask in previous_mask):
            return None
        return functools.reduce(tf.logical_or, previous_mask)


class Add(_Merge):
    """The sum of the inputs.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in each. Raises
    ValueError for what is not a list.

    >>> import minitape as tf
    >>> tf.keras.layers.Add()([tf.constant([1.0]), tf.constant([2.0])]).numpy()
    array([3.], dtype=float32)
    """

    def _merge(self, a: Any, b: Any) -> Any:
        return a + b


class Subtract(_Merge):
    """The first input minus the second.

    They are a list of two tensors of shapes that broadcast; the result has that shape. Differentiable in both. Raises
    ValueError unless there are two.

    >>> import minitape as tf
    >>> tf.keras.layers.Subtract()([tf.constant([5.0, 7.0]), tf.constant([1.0, 2.0])]).numpy()
    array([4., 5.], dtype=float32)
    """

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
    """The product of the inputs.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in each. Raises
    ValueError for what is not a list.

    >>> import minitape as tf
    >>> tf.keras.layers.Multiply()([tf.constant([2.0, 3.0]), tf.constant([4.0, 5.0])]).numpy()
    array([ 8., 15.], dtype=float32)
    """

    def _merge(self, a: Any, b: Any) -> Any:
        return a * b


class Average(_Merge):
    """The mean of the inputs, element by element.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in each. Raises
    ValueError for what is not a list.

    >>> import minitape as tf
    >>> tf.keras.layers.Average()([tf.constant([1.0, 2.0]), tf.constant([3.0, 6.0])]).numpy()
    array([2., 4.], dtype=float32)
    """

    def call(self, inputs: Any) -> Any:
        """The merged inputs."""
        return functools.reduce(lambda a, b: a + b, inputs) / float(len(inputs))


class Maximum(_Merge):
    """The largest of the inputs, element by element.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in the one that is
    taken. Raises ValueError for what is not a list.

    >>> import minitape as tf
    >>> tf.keras.layers.Maximum()([tf.constant([1.0, 5.0]), tf.constant([4.0, 2.0])]).numpy()
    array([4., 5.], dtype=float32)
    """

    def _merge(self, a: Any, b: Any) -> Any:
        import minitape as tf

        return tf.maximum(a, b)


class Minimum(_Merge):
    """The smallest of the inputs, element by element.

    They are a list of tensors of shapes that broadcast; the result has that shape. Differentiable in the one that is
    taken. Raises ValueError for what is not a list.

    >>> import minitape as tf
    >>> tf.keras.layers.Minimum()([tf.constant([1.0, 5.0]), tf.constant([4.0, 2.0])]).numpy()
    array([1., 2.], dtype=float32)
    """

    def _merge(self, a: Any, b: Any) -> Any:
        import minitape as tf

        return tf.minimum(a, b)


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

    def call(self, inputs: Any) -> Any:
        """The joined inputs."""
        import minitape as tf

        return tf.concat(inputs, axis=self.axis)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The inputs' masks joined as the inputs are; an input without one is kept whole."""
        import minitape as tf

        if previous_mask is None:
            return None
        masks = [_for_elements(mask, x) for x, mask in zip(inputs, previous_mask, strict=True)]
        return tf.reduce_any(tf.concat(masks, axis=self.axis), -1)


def _for_elements(mask: Any, x: Any) -> Any:
    """A mask of the steps of ``x`` as one of its elements."""
    import minitape as tf

    if mask is not None and len(mask.shape) == len(x.shape):
        return mask
    return tf.broadcast_to(True if mask is None else tf.expand_dims(mask, -1), x.shape)


def _function(layer: type[Layer], result: str) -> Any:
    """The layer as a function; ``result`` is what it makes of the two rows of the example."""

    def merge(inputs: Any, **kwargs: Any) -> Any:
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
concatenate = _function(Concatenate, "array([[2., 8., 4., 2.]], dtype=float32)")
