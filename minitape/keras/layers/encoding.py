"""``CategoryEncoding``: small integers as rows of ones and zeros."""

from __future__ import annotations

from typing import Any

from ... import tf
from .lookup import OfText

_MODES = ("count", "one_hot", "multi_hot")


class CategoryEncoding(OfText):
    """Integers below ``num_tokens`` as rows: a one for each ("one_hot"), for all of a row ("multi_hot"), or how often ("count").

    The last axis is that of the tokens of one example, for "one_hot" it may be left out, and is dropped where it has size 1. With "count" the layer is also
    given ``count_weights``, what each integer counts. Others than 0 to ``num_tokens - 1`` are left out, negative ones
    refused with InvalidArgumentError. Not differentiable. Raises ValueError for another mode, for no or too few tokens, for
    weights of other modes, and for ``sparse``.

    >>> import minitape as tf
    >>> tf.keras.layers.CategoryEncoding(3, "count")([[0, 2], [1, 1]]).numpy()
    array([[1., 0., 1.],
           [0., 2., 0.]], dtype=float32)
    """

    _config = "num_tokens output_mode"
    _keeps_dtype = False

    def __init__(
        self, num_tokens: int | None = None, output_mode: str = "multi_hot", sparse: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if output_mode == "binary":
            output_mode = "multi_hot"
        if output_mode not in _MODES:
            raise ValueError(f"Unknown arg for output_mode: {output_mode}")
        if num_tokens is None:
            raise ValueError(
                "num_tokens must be set to use this layer. If the number of tokens is not known beforehand, use the "
                "IntegerLookup layer instead."
            )
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        if sparse:
            raise ValueError(f"minitape's CategoryEncoding gives dense tensors only. Received: sparse={sparse}")
        self.num_tokens, self.output_mode, self.sparse = num_tokens, output_mode, sparse
        self.built = True

    def call(self, inputs: Any, count_weights: Any = None) -> Any:
        """The rows, floats."""
        if count_weights is not None and self.output_mode != "count":
            raise ValueError(
                "`count_weights` is not used when `output_mode` is not `'count'`. Received "
                f"`count_weights={count_weights}`."
            )
        if hasattr(inputs, "to_tensor"):
            x = inputs.to_tensor(-1)  # which stands for nothing
        else:
            x = tf.convert_to_tensor(inputs)
            tf.debugging.assert_non_negative(x, "Input 'in' must be non-negative!")
        ones = tf.one_hot(tf.cast(x, tf.int64), self.num_tokens, dtype=self.compute_dtype)
        if self.output_mode == "one_hot":
            return tf.squeeze(ones, -2) if x.ndim and x.shape[-1] == 1 else ones if x.ndim else ones[tf.newaxis]
        if count_weights is not None:
            ones = ones * tf.cast(tf.convert_to_tensor(count_weights), ones.dtype)[..., tf.newaxis]
        axis = min(x.ndim, 2) - 1  # Keras sums over the second axis where there are more
        if axis < 0:
            return ones
        return tf.reduce_sum(ones, axis) if self.output_mode == "count" else tf.reduce_max(ones, axis)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the rows for integers of this shape."""
        shape = tuple(input_shape)
        kept = shape if self.output_mode == "one_hot" and shape[-1:] != (1,) else shape[:-1]
        return (*kept, self.num_tokens)
