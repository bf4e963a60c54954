"""``tf.keras.callbacks``: what is told of each epoch and batch while a model is trained: the base class, and
``History``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..tf.namespace import public


class Callback:
    """The base class: subclasses define those of the methods ``on_...`` that they need; ``self.model`` is the model.

    ``logs`` holds the metrics by name; ``self.params`` the verbosity and the numbers of epochs and steps. Before
    training it is told them by ``set_model`` and ``set_params``.

    >>> import minitape as tf
    >>> class Shout(tf.keras.callbacks.Callback):
    ...     def set_params(self, params):
    ...         super().set_params(params)
    ...         print("steps:", params["steps"])
    ...     def set_model(self, model):
    ...         super().set_model(model)
    ...         print("model:", model.name)
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print("epoch", epoch, sorted(logs))
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")], name="line")
    >>> model.compile("sgd", "mse")
    >>> _ = model.fit(tf.ones([2, 1]), tf.ones([2, 1]), epochs=1, verbose=0, callbacks=[Shout()])
    model: line
    steps: 1
    epoch 0 ['loss']
    """

    params: Any = None
    model: Any = None

    def set_params(self, params: Any) -> None:
        """Is told the verbosity and the numbers of epochs and steps."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is told the model."""
        self.model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Is called before training; the others before evaluation and after both. None of them does anything here."""

    on_train_end = on_test_begin = on_test_end = on_train_begin

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Is called before each epoch, ``on_epoch_end`` after it."""

    on_epoch_end = on_epoch_begin

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Is called before each batch; the others after it, and before and after one of evaluation.

        Of training they are called by ``on_train_batch_begin`` and ``on_train_batch_end``.
        """

    on_batch_end = on_test_batch_begin = on_test_batch_end = on_batch_begin

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Is called before each batch of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Is called after each batch of training."""
        self.on_batch_end(batch, logs=logs)


class Listeners:
    """The callbacks of one run, called in their order."""

    def __init__(self, callbacks: Iterable[Callback], model: Any, params: dict[str, Any]) -> None:
        self._callbacks = list(callbacks)
        for callback in self._callbacks:
            callback.set_model(model)
            callback.set_params(params)

    def tell(self, what: str, *number: int, logs: Any = None) -> None:
        """``tell("epoch_end", 3)`` calls ``on_epoch_end(3, logs)`` of each; of a batch Keras gives the logs by name."""
        logs = {} if logs is None else logs
        for callback in self._callbacks:
            method = getattr(callback, f"on_{what}")
            method(*number, logs=logs) if "batch" in what else method(*number, logs)


class History(Callback):
    """What ``fit`` returns: ``history`` holds a list for each metric, ``epoch`` the numbers of the epochs.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros", use_bias=False)])
    >>> model.compile(tf.keras.optimizers.SGD(0.25), "mse")
    >>> history = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), epochs=2, verbose=0)
    >>> history.epoch, history.history
    ([0, 1], {'loss': [1.0, 0.25]})
    """

    def __init__(self) -> None:
        self.history: dict[str, list[float]] = {}

    def set_model(self, model: Any) -> None:
        """Is told the model, whose ``history`` it becomes."""
        super().set_model(model)
        model.history = self

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins the list of epochs."""
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keeps the metrics."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


__all__ = ["Callback", "History"]
__getattr__, __dir__ = public("tf.keras.callbacks", __all__)
