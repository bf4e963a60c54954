"""Layers that change the shape; none has weights, and the batch stays first."""

from __future__ import annotations

import math
from typing import Any

from ..base import standardize_data_format
from ..layer import InputSpec, Layer


class Flatten(Layer):
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
        import minitape as tf

        rank = inputs.ndim
        if self.data_format == "channels_first" and rank > 1:
            inputs = tf.transpose(inputs, (0, *range(2, rank), 1))
        return tf.reshape(inputs, (inputs.shape[0], math.prod(tuple(inputs.shape)[1:])))

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

    _config = "target_shape"

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The reshaped inputs."""
        import minitape as tf

        mine, known = math.prod(tuple(inputs.shape)[1:]), math.prod(n for n in self.target_shape if n != -1)
        if (known != mine) if -1 not in self.target_shape else (not known or mine % known):
            raise ValueError(
                "The total size of the tensor must be unchanged. Received: "
                f"input_shape={tuple(inputs.shape)[1:]}, target_shape={self.target_shape}"
            )
        return tf.reshape(inputs, (inputs.shape[0], *self.target_shape))


class Permute(Layer):
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
        import minitape as tf

        return tf.transpose(inputs, (0, *self.dims))


class RepeatVector(Layer):
    """Each vector ``n`` times: (batch, k) becomes (batch, n, k). Raises TypeError when ``n`` is no int.

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
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Any:
        """The repeated inputs."""
        import minitape as tf

        return tf.tile(tf.expand_dims(inputs, 1), (1, self.n, 1))
