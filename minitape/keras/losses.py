"""``tf.keras.losses``: how far predictions are from what was wanted.

Each loss is a function that gives one number for each example (:mod:`minitape.keras.lossfunctions`), and a class that
also weighs and reduces them: a line of ``LOSSES``.
"""

from __future__ import annotations

from typing import Any

from ..tf.namespace import public
from . import lossfunctions as functions
from .base import define_from_table, lookup
from .lossfunctions import MEAN, FunctionLoss, Loss  # noqa: F401 - the classes of the table are made of these

# a loss is ``called`` by this name unless it is given one
LOSSES = """
name | function | called | arguments | sentence | given | result
BinaryCrossentropy | binary_crossentropy | binary_crossentropy | from_logits=False, label_smoothing=0.0, axis=-1 \
| ``-log`` of the probability given to each label (0 or 1) | [[1.0], [0.0]], [[0.5], [0.5]] | 0.6931
CategoricalCrossentropy | categorical_crossentropy | categorical_crossentropy \
| from_logits=False, label_smoothing=0.0, axis=-1 | ``-sum(y_true * log(y_pred))`` for one-hot labels \
| [[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]] | 0.3466
Hinge | hinge | hinge | | ``max(1 - y_true * y_pred, 0)``; labels are -1 and 1, or 0 and 1 | [[1.0], [0.0]], [[0.5], \
[0.5]] | 1.0
Huber | huber | huber_loss | delta=1.0 | half the squared error, linear beyond ``delta`` | [[0.0], [0.0]], [[1.0], \
[5.0]] | 2.5
KLDivergence | kl_divergence | kl_divergence | | ``sum(y_true * log(y_true / y_pred))`` | [[0.5, 0.5]], [[0.25, \
0.75]] | 0.1438
MeanAbsoluteError | mean_absolute_error | mean_absolute_error | | ``abs(y_true - y_pred)`` | [[0.0], [0.0]], [[1.0], \
[3.0]] | 2.0
MeanSquaredError | mean_squared_error | mean_squared_error | | ``(y_true - y_pred) ** 2`` | [[0.0], [0.0]], [[1.0], \
[3.0]] | 5.0
SparseCategoricalCrossentropy | sparse_categorical_crossentropy | sparse_categorical_crossentropy \
| from_logits=False, *, axis=-1 | ``-log`` of the probability given to the right class, whose number is the label \
| tf.constant([0, 1]), tf.constant([[0.5, 0.5], [0.5, 0.5]]) | 0.6931
"""

_TEXT = '''
class {name}(FunctionLoss):
    """The mean over the batch of {sentence}.

    ``reduction``, ``dtype`` and the weights of a call are as for ``Loss``. Raises ValueError for shapes that do not \
fit.

    >>> import minitape as tf
    >>> round(float(tf.keras.losses.{name}()({given})), 4)
    {result}
    """

    def __init__(self, {first}reduction=MEAN, name="{called}", dtype=None):
        super().__init__(functions.{function}, name, reduction, dtype, {passed})
'''

_NAMED = define_from_table(LOSSES, _TEXT, globals())
binary_crossentropy, categorical_crossentropy = functions.binary_crossentropy, functions.categorical_crossentropy
sparse_categorical_crossentropy = functions.sparse_categorical_crossentropy
hinge, huber = functions.hinge, functions.huber
mse = MSE = functions.mean_squared_error
mae = MAE = functions.mean_absolute_error
kld = KLD = kullback_leibler_divergence = functions.kl_divergence
_FUNCTIONS = {
    name: value
    for name, value in globals().items()
    if getattr(value, "__module__", "") == functions.__name__ and not isinstance(value, type)
}
# the names that `get` and `compile` know: a function has some more of its own
TABLE: dict[str, Any] = {**_NAMED, **_FUNCTIONS, **{f.__name__: f for f in _FUNCTIONS.values()}}
TABLE["bce"] = TABLE["BCE"] = binary_crossentropy


def get(identifier: Any) -> Any:
    """The loss of a name or a class name; ``identifier`` itself when it is callable, None for None.

    A class is instantiated. Raises ValueError for an unknown name.

    >>> import minitape as tf
    >>> tf.keras.losses.get("mse") is tf.keras.losses.MSE
    True
    """
    return lookup("loss", identifier, TABLE)


__all__ = [*_NAMED, *_FUNCTIONS, "Loss", "get"]
__getattr__, __dir__ = public("tf.keras.losses", __all__)
