"""``tf.keras.callbacks``: what is told of each epoch and batch while a model is trained."""

from __future__ import annotations

import csv
import os
import warnings
from typing import Any

import numpy as np

from ..engine.namespace import public
from .callback import HOOKS, Callback, CallbackList, History, ProgbarLogger  # noqa: F401 - part of tf.keras.callbacks
from .monitor import ModelCheckpoint, Monitor  # noqa: F401 - part of tf.keras.callbacks
from .progress import say
from .tensorboard import TensorBoard  # noqa: F401 - part of tf.keras.callbacks


class EarlyStopping(Monitor):
    """Ends training when ``monitor`` has not improved by ``min_delta`` for ``patience`` epochs.

    ``mode`` is "min", "max" or "auto"; ``baseline`` is what must be beaten as well; ``restore_best_weights`` puts the
    weights of the best epoch back at the end; the first ``start_from_epoch`` epochs do not count. Warns when there is
    no such metric. Raises ValueError when "auto" cannot tell which way is better.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile(tf.keras.optimizers.SGD(0.0), "mse")  # learns nothing
    >>> stop = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=2)
    >>> history = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), epochs=10, verbose=0, callbacks=[stop])
    >>> len(history.epoch), stop.stopped_epoch
    (3, 2)
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
        super().__init__(monitor, mode, min_delta)
        self.patience = patience
        self.verbose, self.baseline, self.restore_best_weights = verbose, baseline, restore_best_weights
        self.start_from_epoch = start_from_epoch
        self.on_train_begin()

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best: float | None = None
        self.best_weights: Any = None

    def get_monitor_value(self, logs: Any) -> Any:
        """The value that is monitored; warns and gives None when there is no such metric.

        >>> import minitape as tf
        >>> tf.keras.callbacks.EarlyStopping(monitor="loss").get_monitor_value({"loss": 0.5})
        0.5
        """
        value = (logs or {}).get(self.monitor)
        if value is None:
            warnings.warn(
                f"Early stopping conditioned on metric `{self.monitor}` which is not available. Available metrics "
                f"are: {','.join(logs or {})}",
                stacklevel=3,
            )
        return value

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compares the epoch with the best so far."""
        self._sign()
        value = self.get_monitor_value(logs)
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

    def on_train_end(self, logs: Any = None) -> None:
        """Says why, and restores the best weights."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            say(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                say(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(EarlyStopping):
    """Multiplies the learning rate by ``factor`` when ``monitor`` has not improved for ``patience`` epochs.

    Then it waits for ``cooldown`` epochs before it counts again; the rate does not fall below ``min_lr``. Other
    arguments are as of ``EarlyStopping``. Raises ValueError for a factor of 1 or more.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile(tf.keras.optimizers.SGD(0.5), "mse")
    >>> reduce = tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=100.0)
    >>> history = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), epochs=3, verbose=0, callbacks=[reduce])
    >>> history.history["learning_rate"]
    [0.5, 0.5, 0.25]
    """

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
    ) -> None:
        super().__init__(monitor, min_delta, patience, verbose, mode)
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}")
        self.factor, self.cooldown, self.min_lr, self.cooldown_counter = factor, cooldown, min_lr, 0

    def in_cooldown(self) -> bool:
        """Whether it does not count epochs now.

        >>> import minitape as tf
        >>> tf.keras.callbacks.ReduceLROnPlateau(cooldown=2).in_cooldown()
        False
        """
        return self.cooldown_counter > 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins anew."""
        self.wait, self.cooldown_counter, self.best = 0, 0, None

    def on_train_end(self, logs: Any = None) -> None:
        """Nothing is left to do."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Compares the epoch with the best so far."""
        self._sign()
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
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._better(value, self.best):
            self.best, self.wait = value, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                rate = max(rate * self.factor, self.min_lr)
                self.model.optimizer.learning_rate = rate
                if self.verbose > 0:
                    say(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}.")
                self.cooldown_counter, self.wait = self.cooldown, 0


class LambdaCallback(Callback):
    """A callback made of functions, with the arguments of the methods of ``Callback``.

    Raises TypeError for a name that is no such method.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    >>> model.compile("sgd", "mse")
    >>> tell = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs["loss"]))
    >>> _ = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), verbose=0, callbacks=[tell])
    0 1.0
    """

    def __init__(
        self,
        on_epoch_begin: Any = None,
        on_epoch_end: Any = None,
        on_train_begin: Any = None,
        on_train_end: Any = None,
        on_train_batch_begin: Any = None,
        on_train_batch_end: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
        }
        for name, function in {**given, **kwargs}.items():
            if name not in HOOKS:
                raise TypeError(f"LambdaCallback got an unexpected argument '{name}'. It takes: {', '.join(HOOKS)}")
            if function is not None:
                setattr(self, name, function)


class LearningRateScheduler(Callback):
    """Sets the learning rate at the beginning of each epoch to ``schedule(epoch, learning_rate)``.

    With ``verbose`` it says so. Raises ValueError when the schedule does not give a float.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile(tf.keras.optimizers.SGD(0.5), "mse")
    >>> halve = tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    >>> history = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), epochs=2, verbose=0, callbacks=[halve])
    >>> history.history["learning_rate"]
    [0.25, 0.125]
    """

    def __init__(self, schedule: Any, verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
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

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Adds the rate to the metrics."""
        if logs is not None:
            logs["learning_rate"] = float(np.asarray(self.model.optimizer.learning_rate))


class TerminateOnNaN(Callback):
    """Ends training when the loss is not finite; with ``raise_error`` by a RuntimeError.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> stop = tf.keras.callbacks.TerminateOnNaN()
    >>> history = model.fit(tf.ones([4, 1]), tf.fill([4, 1], float("nan")), epochs=9, verbose=0, callbacks=[stop])
    Batch 0: Invalid loss, terminating training
    >>> len(history.epoch)
    1
    """

    def __init__(self, raise_error: bool = False) -> None:
        super().__init__()
        self.raise_error = raise_error

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Looks at the loss."""
        loss = (logs or {}).get("loss")
        if loss is None or np.isfinite(loss):
            return
        if self.raise_error:
            raise RuntimeError(
                f"NaN or Inf loss encountered at batch {batch}. Loss value: {loss}. Terminating training immediately."
            )
        say(f"Batch {batch}: Invalid loss, terminating training")
        self.model.stop_training = True


class CSVLogger(Callback):
    """Writes the metrics of each epoch to a file, a line each; with ``append`` behind what is there.

    >>> import minitape as tf, pathlib, tempfile
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    >>> model.compile("sgd", "mse")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = tf.keras.callbacks.CSVLogger(pathlib.Path(folder, "log.csv"), separator=";")
    ...     _ = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), verbose=0, callbacks=[log])
    ...     print(pathlib.Path(log.filename).read_text().strip())
    epoch;loss;val_loss
    0;1.0;NA
    """

    def __init__(self, filename: Any, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.sep, self.append = os.fspath(filename), separator, append
        self._names: list[str] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Begins the file, or finds out whether it has a first line."""
        self._names = None
        if not self.append:
            open(self.filename, "w", encoding="utf-8").close()
        self._headed = os.path.exists(self.filename) and os.path.getsize(self.filename) > 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Writes a line, before the first one also the names; "NA" for a metric that is not there."""
        logs = logs or {}
        if self._names is None:
            self._names = sorted(logs)
            if not any(name.startswith("val_") for name in self._names):
                self._names += [f"val_{name}" for name in self._names]
        with open(self.filename, "a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=self.sep)
            if not self._headed:
                writer.writerow(["epoch", *self._names])
                self._headed = True
            writer.writerow([epoch, *(logs.get(name, "NA") for name in self._names)])


__all__ = """CSVLogger Callback CallbackList EarlyStopping History LambdaCallback LearningRateScheduler ModelCheckpoint
ProgbarLogger ReduceLROnPlateau TensorBoard TerminateOnNaN""".split()
__getattr__, __dir__ = public("tf.keras.callbacks", __all__)
