"""Callbacks that watch one number: which way is better, and saving the model when it is."""

from __future__ import annotations

import os
import warnings
from typing import Any

from .callback import Callback
from .compiled import Metrics
from .progress import say


class Monitor(Callback):
    """What watches ``monitor``, of which less ("min"), more ("max") or what its name says ("auto") is better."""

    def __init__(self, monitor: str, mode: str = "auto", min_delta: float = 0) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)

    def _sign(self) -> int:
        """1 where more is better, -1 where less is."""
        if self.mode != "auto":
            return 1 if self.mode == "max" else -1
        name = self.monitor.removeprefix("val_")
        if name == "loss":
            return -1
        for metric in self.model.metrics:
            named = metric.by_name() if isinstance(metric, Metrics) else {metric.name: metric}
            for called, one in named.items():
                if name in (called, one.name) and one._direction:
                    return one._direction
        raise ValueError(
            f"{type(self).__name__} callback received monitor={self.monitor}, but Keras isn't able to automatically "
            "determine whether that metric should be maximized or minimized. Pass `mode='max'` in order to monitor "
            "based on the highest metric value, or pass `mode='min'` in order to use the lowest value."
        )

    def _better(self, value: float, than: float | None) -> bool:
        sign = self._sign()
        return than is None or sign * (value - than) > self.min_delta


class ModelCheckpoint(Monitor):
    """Saves the model after each epoch, or after every ``save_freq`` batches.

    ``filepath`` may hold ``{epoch}``, ``{batch}`` and names of metrics; folders are made. With ``save_weights_only`` it
    ends in ``.weights.h5``, else in ``.keras``: the files are minitape's own. With ``save_best_only`` only a model is
    saved whose ``monitor`` is better than all before, and than ``initial_value_threshold``; ``mode`` is "min", "max" or
    "auto". Warns when there is no such metric, and saves all the same. Raises ValueError for another ending and another
    ``save_freq``, KeyError for a name in the path that is no metric's.

    >>> import minitape as tf, os, tempfile
    >>> model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "{epoch}.weights.h5")
    ...     keep = tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    ...     history = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), epochs=2, verbose=0, callbacks=[keep])
    ...     sorted(os.listdir(folder))
    ['1.weights.h5', '2.weights.h5']
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        super().__init__(monitor, mode)
        self.filepath, self.verbose = os.fspath(filepath), verbose
        self.save_best_only, self.save_weights_only, self.save_freq = save_best_only, save_weights_only, save_freq
        self.best = initial_value_threshold
        self._waited = self._epoch = 0
        self._last_batch: int | None = None
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer values")
        if save_weights_only and not self.filepath.endswith(".weights.h5"):
            raise ValueError(
                "When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided must end in "
                f"`.weights.h5` (Keras weights format). Received: filepath={self.filepath}"
            )
        if not save_weights_only and not self.filepath.endswith((".keras", ".h5")):
            raise ValueError(
                "The filepath provided must end in `.keras` (Keras model format). Received: "
                f"filepath={self.filepath}"
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Notes the epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Saves after every so many batches, which are counted through the epochs."""
        if self.save_freq == "epoch":
            return
        again = self._last_batch is None or batch <= self._last_batch
        self._waited += batch + 1 if again else batch - self._last_batch
        self._last_batch = batch
        if self._waited >= self.save_freq:
            self._waited = 0
            self._save(logs or {}, epoch=self._epoch + 1, batch=batch + 1)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves after the epoch."""
        if self.save_best_only:
            self._sign()  # a metric without a direction is an error from the first epoch on
        if self.save_freq == "epoch":
            self._save(logs or {}, epoch=epoch + 1)

    def _save(self, logs: dict[str, Any], **where: int) -> None:
        try:
            path = self.filepath.format(**{**where, **logs})
        except KeyError as error:
            raise KeyError(f'Failed to format this callback filepath: "{self.filepath}". Reason: {error}') from None
        if not self._wanted(logs, path, where["epoch"]):
            return
        if os.path.isdir(path):
            raise OSError(
                "Please specify a non-directory filepath for ModelCheckpoint. Filepath used is an existing directory: "
                f"{path}"
            )
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)
        if self.verbose > 0:
            say(f"\nEpoch {where['epoch']}: finished saving model to {path}")

    def _wanted(self, logs: dict[str, Any], path: str, epoch: int) -> bool:
        """Whether the model is good enough; says so if ``verbose``."""
        wanted = True
        if not self.save_best_only:
            told = f"saving model to {path}"
        elif (value := logs.get(self.monitor)) is None:
            warnings.warn(f"Can save best model only with {self.monitor} available.", stacklevel=4)
            return True
        else:
            known = "None" if self.best is None else f"{self.best:.5f}"
            wanted = self._better(value, self.best)
            if wanted:
                self.best = value
                told = f"{self.monitor} improved from {known} to {value:.5f}, saving model to {path}"
            else:
                told = f"{self.monitor} did not improve from {known}"
        if self.verbose > 0:
            say(f"\nEpoch {epoch}: {told}")
        return wanted
