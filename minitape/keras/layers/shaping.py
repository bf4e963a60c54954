"""Layers that change the shape; none has weights, and the batch stays first."""

from __future__ import annotations

import math
from typing import Any

from ... import tf
from ..base import standardize_data_format
from ..layer import InputSpec, Layer
from .common import length


class _Shaping(Layer):
    _keeps_dtype = True


class Flatten(_Shaping):
    """All axes but the batch become one; with data_format "channels_first" the second axis is moved to the end first.

    >>> import minitape as tf
    >>> tf.keras.layers.Flatten()(tf.ones([2, 3, 4])).shape
    TensorShape([2, 12])
    """

    _config = "data_format"

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = standardize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """The reshaped inputs."""
        rank = len(inputs.shape)
        if self.data_format == "channels_first" and rank > 1:
            inputs = tf.transpose(inputs, (0, *range(2, rank), 1))
        rest = tuple(inputs.shape)[1:]
        return tf.reshape(inputs, (length(inputs, 0), -1 if None in rest else math.prod(rest)))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """(batch, number of elements)."""
        rest = tuple(input_shape)[1:]
        return (input_shape[0], None if None in rest else math.prod(rest))


class Reshape(_Shaping):
    """Each example in the shape ``target_shape``; one size may be -1. Raises ValueError when the sizes do not fit.

    >>> import minitape as tf
    >>> tf.keras.layers.Reshape((3, -1))(tf.ones([2, 12])).shape
    TensorShape([2, 3, 4])
    """

    _config = "target_shape"

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


class Permute(_Shaping):
    """The axes behind the batch in another order; ``dims`` counts from 1. Raises ValueError for no permutation.

    >>> import minitape as tf
    >>> tf.keras.layers.Permute((2, 1))(tf.ones([2, 3, 4])).shape
    TensorShape([2, 4, 3])
    """

    _config = "dims"

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in `dims` must be "
                f"consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Any) -> Any:
        """The transposed inputs."""
        return tf.transpose(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The sizes in the other order."""
        return tuple(input_shape[d] for d in (0, *self.dims))


class RepeatVector(_Shaping):
    """Each vector ``n`` times: (batch, k) becomes (batch, n, k).

    Raises TypeError when ``n`` is no int, ValueError when it is below 1.

    >>> import minitape as tf
    >>> tf.keras.layers.RepeatVector(2)(tf.constant([[1.0, 2.0]])).numpy()
    array([[[1., 2.],
            [1., 2.]]], dtype=float32)
    """

    _config = "n"

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        if n < 1:
            raise ValueError(f"Argument `n` should be a positive integer. Received: n={n}")
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """The repeated inputs."""
        return tf.tile(tf.expand_dims(inputs, 1), (1, self.n, 1))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """(batch, n, k)."""
        return (input_shape[0], self.n, input_shape[1])
