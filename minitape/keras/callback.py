"""Callbacks: the base class, several as one, and the two that ``fit`` always has."""

from __future__ import annotations

from typing import Any

from .progress import Progbar, say


class Callback:
    """The base class: subclasses define those of the methods ``on_...`` that they need; ``self.model`` is the model.

    ``logs`` holds the metrics by name; ``self.params`` the verbosity and the numbers of epochs and steps.

    >>> import minitape as tf
    >>> class Shout(tf.keras.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print("epoch", epoch, sorted(logs))
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    >>> model.compile("sgd", "mse")
    >>> _ = model.fit(tf.ones([2, 1]), tf.ones([2, 1]), epochs=1, verbose=0, callbacks=[Shout()])
    epoch 0 ['loss']
    """

    def __init__(self) -> None:
        self.params: Any = None
        self._model: Any = None

    model = property(lambda self: self._model, doc="The model that is trained.")

    def set_params(self, params: Any) -> None:
        """Is told the verbosity and the numbers of epochs and steps.

        >>> import minitape as tf
        >>> class Told(tf.keras.callbacks.Callback):
        ...     def on_train_begin(self, logs=None):
        ...         print(self.params["epochs"], self.params["steps"], self.model.name)
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)], name="line")
        >>> model.compile("sgd", "mse")
        >>> _ = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), batch_size=2, epochs=3, verbose=0, callbacks=[Told()])
        3 2 line
        """
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is told the model.

        >>> import minitape as tf
        >>> callback = tf.keras.callbacks.Callback()
        >>> callback.set_model(tf.keras.Sequential(name="line"))
        >>> callback.model.name
        'line'
        """
        self._model = model

    def on_train_begin(self, logs: Any = None) -> None:
        """Is called before training."""

    def on_train_end(self, logs: Any = None) -> None:
        """Is called after training."""

    def on_test_begin(self, logs: Any = None) -> None:
        """Is called before evaluation."""

    def on_test_end(self, logs: Any = None) -> None:
        """Is called after evaluation."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Is called before prediction."""

    def on_predict_end(self, logs: Any = None) -> None:
        """Is called after prediction."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Is called before each epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Is called after each epoch."""

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Is called before each batch of training, by ``on_train_batch_begin``."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Is called after each batch of training, by ``on_train_batch_end``."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Is called before each batch of training."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Is called after each batch of training."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Is called before each batch of evaluation."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Is called after each batch of evaluation."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Is called before each batch of prediction."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """Is called after each batch of prediction."""


HOOKS = [name for name in vars(Callback) if name.startswith("on_")]


class CallbackList(Callback):
    """Several callbacks as one: what it is told it tells all of them, in their order.

    ``add_history`` and ``add_progbar`` add the two that ``fit`` wants; ``params`` go to ``set_params``.

    >>> import minitape as tf
    >>> shout = tf.keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: print("epoch", epoch))
    >>> tf.keras.callbacks.CallbackList([shout, shout]).on_epoch_begin(3)
    epoch 3
    epoch 3
    """

    def __init__(
        self,
        callbacks: Any = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ) -> None:
        super().__init__()
        self.callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
        if add_history and not any(isinstance(c, History) for c in self.callbacks):
            self.callbacks.append(History())
        if add_progbar and not any(isinstance(c, ProgbarLogger) for c in self.callbacks):
            self.callbacks.append(ProgbarLogger())
        if model is not None:
            self.set_model(model)
        if params:
            self.set_params(params)

    def append(self, callback: Callback) -> None:
        """Adds one at the end."""
        self.callbacks.append(callback)

    def set_params(self, params: Any) -> None:
        """Tells all of them the verbosity and the numbers of epochs and steps."""
        self.params = params
        for c in self.callbacks:
            c.set_params(params)

    def set_model(self, model: Any) -> None:
        """Tells all of them the model."""
        self._model = model
        for c in self.callbacks:
            c.set_model(model)


def _install_telling() -> None:
    for name in HOOKS:
        what = name[3:].rsplit("_", 1)[0]
        if what in ("train", "test", "predict"):

            def tell(self: Any, logs: Any = None, *, name: str = name) -> None:
                for c in self.callbacks:
                    getattr(c, name)(logs or {})
        elif what == "epoch":

            def tell(self: Any, epoch: int, logs: Any = None, *, name: str = name) -> None:
                for c in self.callbacks:
                    getattr(c, name)(epoch, {} if logs is None else logs)
        else:

            def tell(self: Any, batch: int, logs: Any = None, *, name: str = name) -> None:
                for c in self.callbacks:
                    getattr(c, name)(batch, logs=logs or {})

        tell.__name__, tell.__qualname__ = name, f"CallbackList.{name}"
        tell.__doc__ = getattr(Callback, name).__doc__
        setattr(CallbackList, name, tell)


_install_telling()


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
        super().__init__()
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


class ProgbarLogger(Callback):
    """Prints the progress bar; ``fit``, ``evaluate`` and ``predict`` add one unless ``verbose`` is 0.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    >>> model.compile("sgd", "mse")
    >>> model.evaluate(tf.ones([2, 1]), tf.ones([2, 1]), verbose=2)
    1/1 - ...s - ... - loss: 1.0000
    1.0
    """

    def __init__(self) -> None:
        super().__init__()
        self.bar: Progbar | None = None
        self._in_fit = False
        self._seen = 0

    def set_params(self, params: Any) -> None:
        """Is told the verbosity and the numbers of epochs and steps."""
        self.verbose = 1 if params["verbose"] == "auto" else int(params["verbose"])
        self.epochs, self.target = params["epochs"], params["steps"]

    def _begin(self) -> None:
        self._seen = 0
        self.bar = Progbar(self.target, verbose=self.verbose, stateless_metrics=())

    def _step(self, batch: int, logs: Any) -> None:
        self._seen = batch + 1
        if self.verbose == 1:
            self.bar.update(self._seen, list((logs or {}).items()), finalize=False)

    def _finish(self, logs: Any) -> None:
        if self.target is None:
            self.target = self.bar.target = self._seen
        self.bar.update(self.target, list((logs or {}).items()), finalize=True)

    def on_train_begin(self, logs: Any = None) -> None:
        """The bar of the epochs is not disturbed by validation."""
        self._in_fit = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begins a bar."""
        self._begin()
        if self.verbose and self.epochs > 1:
            say(f"Epoch {epoch + 1}/{self.epochs}")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar."""
        self._step(batch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Ends the bar."""
        self._finish(logs)

    def on_test_begin(self, logs: Any = None) -> None:
        """Begins a bar, outside training."""
        if not self._in_fit:
            self._begin()

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar, outside training."""
        if not self._in_fit:
            self._step(batch, logs)

    def on_test_end(self, logs: Any = None) -> None:
        """Ends the bar, outside training."""
        if not self._in_fit:
            self._finish(logs)

    def on_predict_begin(self, logs: Any = None) -> None:
        """Begins a bar."""
        self._begin()

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """Moves the bar."""
        self._step(batch, None)

    def on_predict_end(self, logs: Any = None) -> None:
        """Ends the bar."""
        self._finish(logs)
