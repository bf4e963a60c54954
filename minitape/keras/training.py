"""``compile``, ``fit``, ``evaluate`` and ``predict``: the training loop.

A step is what a learner would write: a tape around model and loss, gradients of the trainable weights, one step of the
optimizer. ``train_step``, ``test_step`` and ``predict_step`` can be overridden.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import tf
from ..engine.back.tape import GradientTape
from ..engine.recording.block import During
from ..engine.recording.state import state
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from ..engine.values.class_names import methods_of
from ..functions.settings import functions_run_eagerly
from . import metrics as metrics_module
from . import optimizers
from .callbacks import History, Listeners
from .compiled import Metrics, loss_of, the_only_output
from .compiled_step import CompiledStep
from .feeding import Feed, unpack_x_y_sample_weight
from .state import Stateful


@methods_of("TensorFlowTrainer")
class Trainer(Stateful):
    """What makes a layer a model.

    >>> import minitape as tf
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    >>> model.compile(loss="mse", metrics=["mae"])
    >>> x, y = tf.constant([[1.0]]), tf.constant([[3.0]])
    >>> results = model.test_step((x, y))
    >>> {name: float(value) for name, value in model.get_metrics_result().items()}
    {'loss': 4.0, 'mae': 2.0}
    >>> model.reset_metrics()
    >>> results = model.compute_metrics(x, y, model.predict_step(x))
    >>> float(results["loss"]), float(results["mae"])
    (0.0, 2.0)
    """

    def _not_compiled(self) -> None:
        """Sets what ``compile`` will set."""
        self.compiled = self.run_eagerly = self.stop_training = False
        self.optimizer: Any = None
        self.loss: Any = None
        self.history: Any = None
        self._loss_tracker: Any = None
        self._compiled_loss: Any = None
        self._compiled_metrics: Any = None

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None, run_eagerly: bool = False
    ) -> None:
        """Sets the optimizer, the loss and the metrics, by name or as objects.

        Every step runs as it is written. But without ``run_eagerly`` a value that leaves the step of ``fit``, by
        ``.numpy()`` in the loss, is TensorFlow's error. Raises ValueError for an unknown optimizer.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(tf.keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
        >>> type(model.optimizer).__name__, model.loss, [metric.name for metric in model.metrics]
        ('SGD', 'mse', ['loss', 'compile_metrics'])
        """
        settings = {
            "optimizer": optimizers.get(optimizer),
            "loss": loss,
            "_compiled_loss": None,  # found by its name when it is first needed
            "_loss_tracker": metrics_module.Mean(name="loss"),
            "run_eagerly": run_eagerly,
            "stop_training": False,
            "compiled": True,
        }
        if metrics is not None:  # else Keras keeps those of an earlier call
            settings["_compiled_metrics"] = Metrics(metrics)
        for name, value in settings.items():
            object.__setattr__(self, name, value)  # none of these is state of the layer

    def _needs_compile(self) -> None:
        if not self.compiled:
            raise ValueError("You must call `compile()` before using the model.")

    # -- metrics -----------------------------------------------------------------------------------

    @property
    def metrics(self) -> list:
        """The mean loss, the compiled metrics, and the metrics that are attributes."""
        found = [metric for metric in (self._loss_tracker, self._compiled_metrics) if metric is not None]
        found += self._parts("metrics")
        return found + [m for layer in self._layers if not isinstance(layer, Trainer) for m in layer.metrics]

    def reset_metrics(self) -> None:
        """All metrics begin anew."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """The values of the metrics by name."""
        results: dict[str, Any] = {}
        for metric in self.metrics:
            value = metric.result()
            results.update(value if isinstance(value, dict) else {metric.name: value})
        return results

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Updates the compiled metrics with a batch and returns all values."""
        if self._compiled_metrics is not None:
            self._compiled_metrics.update_state(y, y_pred)
        return self.get_metrics_result()

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None, training: bool = True
    ) -> Any:
        """The compiled loss of a batch plus ``self.losses``; ValueError when there is neither.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse")
        >>> float(model.compute_loss(y=tf.constant([[3.0]]), y_pred=model(tf.constant([[1.0]]))))
        4.0
        """
        found = []
        if self._compiled_loss is None:
            object.__setattr__(self, "_compiled_loss", loss_of(self.loss))
        if self._compiled_loss is not None:
            y_true, weight = (None if part is None else nest.flatten(part)[0] for part in (y, sample_weight))
            found.append(self._compiled_loss(y_true, the_only_output(y_pred), weight))
        found += [loss if loss.ndim == 0 else tf.reduce_sum(loss) for loss in self.losses]
        if not found:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        total = found[0]
        for loss in found[1:]:
            total = total + loss
        return total

    # -- steps -------------------------------------------------------------------------------------

    def _predicted(self, x: Any, training: bool) -> Any:
        model: Any = self
        return model(x, training=training) if model._takes_training else model(x)

    def _track_loss(self, x: Any, loss: Any) -> None:
        self._loss_tracker.update_state(loss, sample_weight=float(nest.flatten(x)[0].shape[0]))

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of training on a batch; returns the metrics.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
        >>> data = tf.constant([[1.0]]), tf.constant([[3.0]])
        >>> [round(float(model.train_step(data)["loss"]), 3) for _ in range(2)]  # the means so far
        [4.0, 2.72]
        """
        x, y, weight = unpack_x_y_sample_weight(data)
        with GradientTape() as tape:
            y_pred = self._predicted(x, True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=weight, training=True)
        self._track_loss(x, loss)
        weights = self.trainable_weights
        if weights:
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, y_pred, sample_weight=weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """One step of evaluation on a batch; returns the metrics."""
        x, y, weight = unpack_x_y_sample_weight(data)
        y_pred = self._predicted(x, False)
        self._track_loss(x, self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=weight, training=False))
        return self.compute_metrics(x, y, y_pred, sample_weight=weight)

    def predict_step(self, data: Any) -> Any:
        """The predictions for a batch."""
        return self._predicted(unpack_x_y_sample_weight(data)[0], False)

    # -- loops -------------------------------------------------------------------------------------

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_data: Any = None,
        shuffle: bool = True,
        sample_weight: Any = None,
    ) -> Any:
        """Trains for some epochs and returns a History. ``x`` is an array, a structure of them, or a dataset.

        Raises ValueError before ``compile``, for arrays of different lengths, and for labels beside a dataset.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
        >>> history = model.fit(tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [6.0]]), epochs=3, verbose=0)
        >>> [round(loss, 3) for loss in history.history["loss"]]
        [10.0, 1.06, 0.173]
        """
        self._needs_compile()
        feed = Feed(x, y, sample_weight, batch_size, shuffle)
        listeners = self._listening(callbacks, verbose, feed, epochs, [History()])
        self.stop_training = False
        listeners.tell("train_begin")
        logs: dict[str, Any] = {}
        for epoch in range(epochs):
            self.reset_metrics()
            listeners.tell("epoch_begin", epoch)
            bar = Progbar(feed.steps, verbose)
            if verbose and epochs > 1:
                print(f"Epoch {epoch + 1}/{epochs}", flush=True)
            for step, batch in feed.epoch():
                listeners.tell("train_batch_begin", step)
                with self._as_compiled(batch):
                    logs = self.train_step(batch)
                plain = _plain(logs)
                listeners.tell("train_batch_end", step, logs=plain)
                bar.update(step + 1, plain)
                if self.stop_training:
                    break
            results = self.get_metrics_result()
            logs = dict(results if results.keys() == logs.keys() else logs)
            if validation_data is not None:
                unseen = Feed(*unpack_x_y_sample_weight(validation_data), batch_size, False)
                logs |= {f"val_{name}": value for name, value in self._evaluated(unseen, listeners, 0).items()}
            plain = _plain(logs)
            listeners.tell("epoch_end", epoch, logs=plain)
            bar.finish(plain)
            if self.stop_training:
                break
        listeners.tell("train_end", logs=_plain(logs))
        return self.history

    def _as_compiled(self, batch: Any) -> During:
        """In the block no value leaves what TensorFlow compiles, unless the model runs eagerly."""
        eager = self.run_eagerly or functions_run_eagerly()
        return During(state, compiled=None if eager else CompiledStep(batch))

    def _listening(self, callbacks: Any, verbose: Any, feed: Feed, epochs: int = 1, more: Any = ()) -> Listeners:
        """The callbacks, one or a list, and ``more`` that they do not hold yet; all know the model."""
        given = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
        given += [one for one in more if not any(isinstance(callback, type(one)) for callback in given)]
        return Listeners(given, self, {"verbose": verbose, "epochs": epochs, "steps": feed.steps})

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """The loss and the metrics over all data: one float, a list, or a dictionary if ``return_dict``.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse", metrics=["mae"])
        >>> model.evaluate(tf.constant([[1.0], [2.0]]), tf.constant([[3.0], [6.0]]), verbose=0, return_dict=True)
        {'loss': 10.0, 'mae': 3.0}
        """
        self._needs_compile()
        feed = Feed(x, y, sample_weight, batch_size, False)
        logs = self._evaluated(feed, self._listening(callbacks, verbose, feed), verbose)
        return logs if return_dict else self._in_order(logs)

    def _evaluated(self, feed: Feed, listeners: Listeners, verbose: Any) -> dict[str, float]:
        """The loss and the metrics by name."""
        listeners.tell("test_begin")
        self.reset_metrics()
        bar, logs = Progbar(feed.steps, verbose), {}
        for step, batch in feed.epoch():
            listeners.tell("test_batch_begin", step)
            logs = self.test_step(batch)
            plain = _plain(logs)
            listeners.tell("test_batch_end", step, logs=plain)
            bar.update(step + 1, plain)
        results = self.get_metrics_result()
        found = _plain(results if results.keys() == logs.keys() else logs)
        listeners.tell("test_end", logs=found)
        bar.finish(found)
        return found

    def predict(self, x: Any, batch_size: int | None = None, verbose: Any = "auto") -> Any:
        """The predictions for all of ``x`` as NumPy arrays.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.predict(tf.constant([[1.0], [2.0]]), verbose=0)
        array([[1.],
               [2.]], dtype=float32)
        """
        feed = Feed(x, None, None, batch_size, False)
        bar = Progbar(feed.steps, verbose)
        outputs = []
        for step, batch in feed.epoch():
            outputs.append(self.predict_step(batch))
            bar.update(step + 1, {})
        bar.finish({})
        return nest.map_structure(lambda *parts: np.concatenate([p.numpy() for p in parts]), *outputs)

    def train_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """One step of training; returns the metrics.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
        >>> [round(model.train_on_batch(tf.constant([[1.0]]), tf.constant([[3.0]])), 3) for _ in range(3)]
        [4.0, 1.44, 0.518]
        """
        self._needs_compile()
        self.reset_metrics()
        _, batch = next(Feed(x, y, sample_weight, len(nest.flatten(x)[0]), False).epoch())
        logs = _plain(self.train_step(batch))
        return logs if return_dict else self._in_order(logs)

    def _in_order(self, logs: dict[str, float]) -> Any:
        names = list(_names(self.metrics))
        values = [logs[n] for n in names if n in logs] + [logs[n] for n in sorted(logs) if n not in names]
        return values[0] if len(values) == 1 else values


def _names(metrics: list) -> Iterator[str]:
    """The names of metrics, of the compiled ones each."""
    for metric in metrics:
        yield from metric.names if isinstance(metric, Metrics) else [metric.name]


def _plain(logs: dict[str, Any]) -> dict[str, float]:
    """Numbers of Python, sorted by name; entries of a dictionary that a step returned are sorted by their own names."""
    found: dict[str, float] = {}
    for name, value in sorted((logs or {}).items()):
        if isinstance(value, dict):
            found |= _plain(value)
        else:
            found[name] = float(value) if isinstance(value, Tensor) and not value.ndim else value
    return found


WIDTH, INTERVAL = 20, 0.05  # of the bar in characters; between two drawings in seconds


class Progbar:
    """A bar that grows with ``update`` until ``finish``: ``verbose`` 1 draws it, 2 prints one line at the end, 0
    nothing.

    ``target`` is the number of steps, None while it is unknown.

    >>> bar = Progbar(2, verbose=2)
    >>> bar.update(1, {"size": 1.0})
    >>> bar.update(2, {"size": 2.0})
    >>> bar.finish({"size": 2.0})
    2/2 - 0s - .../step - size: 2.0000
    """

    def __init__(self, target: int | None, verbose: Any = "auto") -> None:
        self.target, self._verbose = target, 1 if verbose == "auto" else int(verbose)
        self._values: dict[str, float] = {}
        self._start = self._after_first = time.time()
        self._last = 0.0
        self._seen = self._width_before = 0

    def update(self, current: int, values: dict[str, float]) -> None:
        """Shows step ``current``, unless something was shown just before."""
        self._values |= values
        self._seen, now = current, time.time()
        if current == 1:
            self._after_first = now
        if self._verbose == 1 and now - self._last >= INTERVAL:
            self._last = now
            self._draw(now)

    def finish(self, values: dict[str, float]) -> None:
        """Ends the bar behind the last step."""
        self._values |= values
        self.target = self._seen = self.target or self._seen
        now = time.time()
        if self._verbose == 1:
            self._draw(now, end="\n")
        elif self._verbose == 2 and self.target:
            print(
                f"{self._count()} - {now - self._start:.0f}s - {self._step_time(now)}{self._shown(plain=True)}",
                flush=True,
            )

    def _count(self) -> str:
        target = self.target or 1
        return f"{self._seen:{len(str(target))}d}/{target}"

    def _draw(self, now: float, end: str = "") -> None:
        if self.target:
            done = WIDTH * self._seen // self.target
            bar = f"\x1b[1m{self._count()}\x1b[0m \x1b[32m{'━' * done}\x1b[0m\x1b[37m{'━' * (WIDTH - done)}\x1b[0m"
        else:
            bar = f"\x1b[1m{self._seen:7d}/Unknown\x1b[0m"
        text = f"{bar} \x1b[1m{now - self._start:.0f}s\x1b[0m {self._step_time(now)}{self._shown()}"
        sys.stdout.write("\r" + text.ljust(self._width_before) + end)
        sys.stdout.flush()
        self._width_before = len(text)

    def _shown(self, plain: bool = False) -> str:
        text = ""
        for name, value in self._values.items():
            text += f" - {name}: {value:.4f}" if (value if plain else abs(value)) > 1e-3 else f" - {name}: {value:.4e}"
        return text

    def _step_time(self, now: float) -> str:
        """The mean time of a step; the first one, which prepares things, does not count once there are more."""
        count, start = (self._seen - 1, self._after_first) if self._seen > 1 else (1, self._start)
        seconds = (now - start) / count if self._seen else 0.0
        if seconds >= 1 or seconds == 0:
            return f"{seconds:.0f}s/step"
        return f"{seconds * 1e3:.0f}ms/step" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us/step"
