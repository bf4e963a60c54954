"""``tf.keras.metrics``: numbers gathered over batches: ``update_state``, ``result``, ``reset_state``.

The mean of a function of labels and predictions is a line of ``METRICS``.
"""

from __future__ import annotations

from typing import Any

from ..tf.namespace import public
from . import lossfunctions
from . import metric as metric_module
from .base import define_from_table, lookup, to_snake_case
from .metric import Mean, MeanMetricWrapper, Metric, binary_accuracy, categorical_accuracy, sparse_categorical_accuracy

METRICS = """
name | function | arguments | sentence | given | result
Accuracy | accuracy | | 1 where the label is the prediction, else 0 | [[1], [2], [3], [4]], [[0], [2], [3], [4]] | 0.75
BinaryAccuracy | binary_accuracy | threshold=0.5 \
| 1 where the prediction lies on the label's side of ``threshold``, else 0 | [[1], [1], [0], [0]], [[0.98], [1], [0], \
[0.6]] | 0.75
BinaryCrossentropy | binary_crossentropy | from_logits=False, label_smoothing=0 \
| ``-log`` of the probability given to each label (0 or 1) | [[1.0], [0.0]], [[0.5], [0.5]] | 0.6931
CategoricalAccuracy | categorical_accuracy | \
| 1 where the largest prediction is that of the label (one-hot), else 0 | [[0, 1], [1, 0]], [[0.1, 0.9], [0.3, 0.7]] \
| 0.5
CategoricalCrossentropy | categorical_crossentropy | from_logits=False, label_smoothing=0, axis=-1 \
| ``-sum(y_true * log(y_pred))`` for one-hot labels | [[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]] | 0.3466
MeanAbsoluteError | mean_absolute_error | | ``abs(y_true - y_pred)`` | [[0.0], [0.0]], [[1.0], [3.0]] | 2.0
MeanSquaredError | mean_squared_error | | ``(y_true - y_pred) ** 2`` | [[0.0], [0.0]], [[1.0], [3.0]] | 5.0
SparseCategoricalAccuracy | sparse_categorical_accuracy | \
| 1 where the largest prediction is that of the label (a number), else 0 | [1, 0], [[0.1, 0.9], [0.3, 0.7]], [3.0, \
1.0] | 0.75
SparseCategoricalCrossentropy | sparse_categorical_crossentropy | from_logits=False, axis=-1 \
| ``-log`` of the probability given to the right class, whose number is the label | [0, 1], [[0.5, 0.5], [0.5, 0.5]] \
| 0.6931
"""

_TEXT = '''
class {name}(MeanMetricWrapper):
    """The mean over all examples so far of {sentence}; the arguments are those of the function of this name.

    >>> import minitape as tf
    >>> round(float(tf.keras.metrics.{name}()({given})), 4)
    {result}
    """

    def __init__(self, name="{function}", dtype=None{more}):
        super().__init__(_FUNCTIONS["{function}"], name, dtype, {passed})
'''

_FUNCTIONS = {**vars(metric_module), **vars(lossfunctions)}
_NAMED = {
    "Mean": Mean,
    "MeanMetricWrapper": MeanMetricWrapper,
    "Metric": Metric,
    **define_from_table(METRICS, _TEXT, globals()),
}
# the names that `get` and `compile` know
TABLE: dict[str, Any] = {**_NAMED, **{to_snake_case(name): cls for name, cls in _NAMED.items()}}
for _name in ("BinaryCrossentropy", "bce"), ("MeanSquaredError", "mse"), ("MeanAbsoluteError", "mae"):
    TABLE[_name[1]] = TABLE[_name[1].upper()] = TABLE[_name[0]]


def get(identifier: Any) -> Any:
    """The metric of a name or a class name; ``identifier`` itself when it is callable, None for None.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.metrics.get("mse").name
    'mean_squared_error'
    """
    return lookup("metric", identifier, TABLE)


__all__ = [*_NAMED, "binary_accuracy", "categorical_accuracy", "get", "sparse_categorical_accuracy"]
__getattr__, __dir__ = public("tf.keras.metrics", __all__)
