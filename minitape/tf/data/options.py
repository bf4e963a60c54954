"""``tf.data.Options``, and what ``tf.data.experimental`` has for datasets."""

from __future__ import annotations

from typing import Any

from ...engine.dtypes import int64
from ...engine.tensor import Tensor
from ...engine.updates import deprecated


class Options:
    """Settings for ``Dataset.with_options``: how TensorFlow runs a pipeline. Elements do not depend on them.

    >>> import minitape as tf
    >>> options = tf.data.Options()
    >>> options.deterministic = True
    >>> [int(n) for n in tf.data.Dataset.range(3).with_options(options)]
    [0, 1, 2]
    """


def dense_to_ragged_batch(batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64) -> Any:
    """A function for ``Dataset.apply``: elements of different lengths become the rows of ragged tensors.

    Each batch has up to ``batch_size`` rows (with ``drop_remainder`` never fewer); ``row_splits_dtype`` is int64 or
    int32. TensorFlow 2.21 says ``Dataset.ragged_batch`` instead.

    >>> import minitape as tf
    >>> dataset = tf.data.Dataset.range(3).map(lambda n: tf.range(n))
    >>> for batch in dataset.apply(tf.data.experimental.dense_to_ragged_batch(3)):
    ...     print(batch)
    <tf.RaggedTensor [[], [0], [0, 1]]>
    """
    deprecated("dense_to_ragged_batch (from tensorflow.python.data.experimental.ops.batching) is deprecated and will be removed "
               "in a future version.\nInstructions for updating:\nUse `tf.data.Dataset.ragged_batch` instead.")  # fmt: skip
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def cardinality(dataset: Any) -> Tensor:
    """How many elements a dataset has: an int64 scalar, INFINITE_CARDINALITY (-1) or UNKNOWN_CARDINALITY (-2).

    >>> import minitape as tf
    >>> tf.data.experimental.cardinality(tf.data.Dataset.range(5)).numpy()
    np.int64(5)
    """
    return dataset.cardinality()
