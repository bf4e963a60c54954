"""``tf.keras.callbacks``: what is told of each epoch and batch while a model is trained."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .progress import Progbar, say


class Callback:
    """The base class: subclasses define those of the methods ``on_...`` that they need; ``self.model`` is the model.

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
        """Is told the verbosity and the numbers of epochs and steps."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Is told the model."""
        self._model = model


HOOKS = [
    f"on_{what}_{when}"
    for what in ("train", "test", "predict", "epoch", "batch", "train_batch", "test_batch", "predict_batch")
    for when in ("begin", "end")
]


def _install_hooks() -> None:
    for name in HOOKS:
        what, when = name[3:].rsplit("_", 1)
        if what in ("train", "test", "predict"):

            def hook(self: Any, logs: Any = None) -> None:
                pass
        elif what == "train_batch":

            def hook(self: Any, batch: Any, logs: Any = None, older: str = f"on_batch_{when}") -> None:  # type: ignore[misc]
                getattr(self, older)(batch, logs=logs)
        else:

            def hook(self: Any, index: Any, logs: Any = None) -> None:  # type: ignore[misc]
                pass

        hook.__name__, hook.__qualname__ = name, f"Callback.{name}"
        hook.__doc__ = f"Is called at the {when} of each {what.replace('_', ' ')}."
        setattr(Callback, name, hook)


_install_hooks()


class CallbackList:
    """Several callbacks as one."""

    def __init__(
        self,
        callbacks: Any = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ) -> None:
        self.callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
        if add_history and not any(isinstance(c, History) for c in self.callbacks):
            self.callbacks.append(History())
        if add_progbar and not any(isinstance(c, ProgbarLogger) for c in self.callbacks):
            self.callbacks.append(ProgbarLogger())
        for c in self.callbacks:
            c.set_model(model)
            c.set_params(params)

    def __getattr__(self, name: str) -> Any:
        if name not in HOOKS:
            raise AttributeError(f"'CallbackList' object has no attribute {name!r}")

        def tell(*args: Any, **kwargs: Any) -> None:
            for c in self.callbacks:
                getattr(c, name)(*args, **kwargs)

        return tell


class History(Callback):
    """What ``fit`` returns: ``history`` holds a list for each metric, ``epoch`` the numbers of the epochs."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[float]] = {}

    def on_train_begin(self, logs: Any = None) -> None:  # type: ignore[override]
        """Begins the list of epochs."""
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Keeps the metrics."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.history = self


class ProgbarLogger(Callback):
    """Prints the progress bar."""

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
            self.bar.update(self._seen, list((logs or {}).items()), finalize=False)  # type: ignore[union-attr]

    def _finish(self, logs: Any) -> None:
        if self.target is None:
            self.target = self.bar.target = self._seen  # type: ignore[union-attr]
        self.bar.update(self.target, list((logs or {}).items()), finalize=True)  # type: ignore[union-attr]

    def on_train_begin(self, logs: Any = None) -> None:  # type: ignore[override]
        """The bar of the epochs is not disturbed by validation."""
        self._in_fit = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Begins a bar."""
        self._begin()
        if self.verbose and self.epochs > 1:
            say(f"Epoch {epoch + 1}/{self.epochs}")

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Moves the bar."""
        self._step(batch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Ends the bar."""
        self._finish(logs)

    def on_test_begin(self, logs: Any = None) -> None:  # type: ignore[override]
        """Begins a bar, outside training."""
        if not self._in_fit:
            self._begin()

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Moves the bar, outside training."""
        if not self._in_fit:
            self._step(batch, logs)

    def on_test_end(self, logs: Any = None) -> None:  # type: ignore[override]
        """Ends the bar, outside training."""
        if not self._in_fit:
            self._finish(logs)

    def on_predict_begin(self, logs: Any = None) -> None:  # type: ignore[override]
        """Begins a bar."""
        self._begin()

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Moves the bar."""
        self._step(batch, None)

    def on_predict_end(self, logs: Any = None) -> None:  # type: ignore[override]
        """Ends the bar."""
        self._finish(logs)


class EarlyStopping(Callback):
    """Ends training when ``monitor`` has not improved by ``min_delta`` for ``patience`` epochs.

    ``mode`` is "min", "max" or "auto". Raises ValueError when "auto" can not tell which way is better.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.", stacklevel=2)
            mode = "auto"
        self.monitor, self.mode, self.min_delta, self.patience = monitor, mode, abs(min_delta), patience
        self.verbose, self.baseline, self.restore_best_weights = verbose, baseline, restore_best_weights
        self.start_from_epoch = start_from_epoch
        self.on_train_begin()

    def on_train_begin(self, logs: Any = None) -> None:  # type: ignore[override]
        """Begins anew."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best: float | None = None
        self.best_weights: Any = None

    def _sign(self) -> int:
        name = self.monitor.removeprefix("val_")
        if self.mode != "auto":
            return 1 if self.mode == "max" else -1
        if name == "loss" or "error" in name or "entropy" in name or name in ("mse", "mae", "mape", "msle"):
            return -1
        if "acc" in name or name in ("precision", "recall", "auc"):
            return 1
        raise ValueError(
            f"{type(self).__name__} callback received monitor={self.monitor}, but Keras isn't able to automatically "
            "determine whether that metric should be maximized or minimized. Pass `mode='max'` in order to monitor "
            "based on "
            "the highest metric value, or pass `mode='min'` in order to use the lowest value."
        )

    def _better(self, value: float, than: float | None) -> bool:
        return than is None or self._sign() * (value - than) > self.min_delta

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Compares the epoch with the best so far."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            warnings.warn(
                f"Early stopping conditioned on metric `{self.monitor}` which is not available. Available metrics "
                f"are: {','.join(logs or {})}",
                stacklevel=2,
            )
        if value is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._better(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._better(value, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:  # type: ignore[override]
        """Says why, and restores the best weights."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            say(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                say(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(EarlyStopping):
    """Multiplies the learning rate by ``factor`` when ``monitor`` has not improved for ``patience`` epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(monitor, min_delta, patience, verbose, mode)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        self.factor, self.cooldown, self.min_lr, self.cooldown_counter = factor, cooldown, min_lr, 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.wait, self.cooldown_counter, self.best = 0, 0, None

    def on_train_end(self, logs: Any = None) -> None:
        """Nothing is left to do."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compares the epoch with the best so far."""
        logs = {} if logs is None else logs
        rate = logs["learning_rate"] = float(np.asarray(self.model.optimizer.learning_rate))
        value = logs.get(self.monitor)
        if value is None:
            warnings.warn(
                f"Learning rate reduction is conditioned on metric `{self.monitor}` which is not available. Available "
                f"metrics are: {','.join(logs)}.",
                stacklevel=2,
            )
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value, self.best):
            self.best, self.wait = value, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                rate = max(rate * self.factor, self.min_lr)
                self.model.optimizer.learning_rate = rate
                if self.verbose > 0:
                    say(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}.")
                self.cooldown_counter, self.wait = self.cooldown, 0


class LambdaCallback(Callback):
    """A callback made of functions: ``LambdaCallback(on_epoch_end=lambda epoch, logs: ...)``."""

    def __init__(self, **functions: Any) -> None:
        super().__init__()
        for name, function in functions.items():
            if name not in HOOKS:
                raise TypeError(f"LambdaCallback got an unexpected argument '{name}'. It takes: {', '.join(HOOKS)}")
            if function is not None:
                setattr(self, name, function)


class LearningRateScheduler(Callback):
    """Sets the learning rate at the beginning of each epoch to ``schedule(epoch, learning_rate)``."""

    def __init__(self, schedule: Any, verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Sets the rate."""
        optimizer = self.model.optimizer
        try:
            rate = self.schedule(epoch, float(np.asarray(optimizer.learning_rate)))
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError(f"The output of the `schedule` function should be a float. Got: {rate}")
        optimizer.learning_rate = rate
        if self.verbose > 0:
            say(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Adds the rate to the metrics."""
        if logs is not None:
            logs["learning_rate"] = float(np.asarray(self.model.optimizer.learning_rate))


class TerminateOnNaN(Callback):
    """Ends training when the loss is not finite."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Looks at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            say(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class CSVLogger(Callback):
    """Writes the metrics of each epoch to a file."""

    def __init__(self, filename: str, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.separator, self.append = filename, separator, append
        self._names: list[str] | None = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # type: ignore[override]
        """Writes a line."""
        logs = logs or {}
        first = self._names is None
        names = self._names = self._names or sorted(logs)
        with open(self.filename, "w" if first and not self.append else "a", encoding="utf-8") as file:
            if first and not self.append:
                file.write(self.separator.join(["epoch", *names]) + "\n")
            file.write(self.separator.join(str(v) for v in [epoch, *[logs.get(n, "NA") for n in names]]) + "\n")


def __getattr__(name: str) -> Any:
    from ..api import missing

    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(missing("tf.keras.callbacks", name, [n for n in globals() if not n.startswith("_")]))
