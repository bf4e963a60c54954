"""``compile``, ``fit``, ``evaluate`` and ``predict``: the training loop.

A step is what a learner would write: a tape around model and loss, gradients of the trainable weights, one step of the
optimizer. ``train_step``, ``test_step`` and ``predict_step`` can be overridden.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import tf
from ..engine import nest
from ..engine.shown import methods_of
from ..engine.tape import GradientTape
from ..engine.tensor import Tensor
from . import metrics as metrics_module
from . import optimizers
from .base import convert
from .callback import CallbackList
from .compiled import Losses, Metrics, compiled_step, output_names
from .feeding import Feed, split, unpack_x_y_sample_weight


@methods_of("TensorFlowTrainer")
class Trainer:
    """What makes a layer a model."""

    def __init__(self) -> None:
        self.compiled = False
        self.optimizer: Any = None
        self.loss: Any = None
        self._loss_tracker: Any = None
        self._compiled_loss: Any = None
        self._compiled_metrics: Any = None
        self.stop_training = False
        self.history: Any = None
        self.run_eagerly = False

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: Any = "auto",
        auto_scale_loss: bool = True,
    ) -> None:
        """Sets the optimizer, the loss and the metrics, by name or as objects.

        Every step runs as it is written, and ``steps_per_execution`` and ``jit_compile`` change nothing. But without ``run_eagerly``
        a value that leaves the step of ``fit``, by ``.numpy()`` in the loss, is TensorFlow's error.
        Nor does ``auto_scale_loss``, which is for mixed precision. Raises ValueError for an unknown optimizer, and for
        loss weights of another number than the losses.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(tf.keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
        >>> type(model.optimizer).__name__, model.loss, [metric.name for metric in model.metrics]
        ('SGD', 'mse', ['loss', 'compile_metrics'])
        """
        compiled_metrics = self._compiled_metrics  # Keras keeps those of an earlier call where there are no others
        if metrics is not None or weighted_metrics is not None:
            compiled_metrics = Metrics(metrics, weighted_metrics, lambda: output_names(self))
        settings = {
            "optimizer": optimizers.get(optimizer),
            "loss": loss,
            "_compiled_metrics": compiled_metrics,
            "_compiled_loss": None if loss is None else Losses(loss, loss_weights, lambda: output_names(self)),
            "_loss_tracker": metrics_module.Mean(name="loss"),
            "run_eagerly": run_eagerly,
            "stop_training": False,
            "compiled": True,
            "_compile_arguments": {
                "optimizer": optimizer,
                "loss": loss,
                "loss_weights": loss_weights,
                "metrics": metrics,
                "weighted_metrics": weighted_metrics,
            },
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)  # none of these is state of the layer

    def _needs_compile(self) -> None:
        if not self.compiled:
            raise ValueError("You must call `compile()` before using the model.")

    # -- metrics ------------------------------------------------------------------------------------------------------

    @property
    def metrics(self) -> list[Any]:
        """The mean loss, the compiled metrics, and the metrics that are attributes."""
        found: list[Any] = []
        if self.compiled:
            found.append(self._loss_tracker)
            if self._compiled_metrics is not None:
                found.append(self._compiled_metrics)
            if self._compiled_loss is not None:
                found += self._compiled_loss.trackers
        known = {id(m) for m in found}
        found += [m for m in self._store.metrics if id(m) not in known]
        return found + [m for layer in self._layers if not isinstance(layer, Trainer) for m in layer.metrics]

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics."""
        return [m.name for m in self.metrics]

    def reset_metrics(self) -> None:
        """All metrics begin anew.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse")
        >>> _ = model.test_on_batch(tf.constant([[1.0]]), tf.constant([[3.0]]))
        >>> model.reset_metrics()
        >>> float(model.get_metrics_result()["loss"])
        0.0
        """
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """The values of the metrics by name.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse", metrics=["mae"])
        >>> _ = model.test_on_batch(tf.constant([[1.0]]), tf.constant([[3.0]]))
        >>> {name: float(value) for name, value in model.get_metrics_result().items()}
        {'loss': 4.0, 'mae': 2.0}
        """
        results: dict[str, Any] = {}
        for metric in self.metrics:
            value = metric.result()
            results.update(value if isinstance(value, dict) else {metric.name: value})
        return results

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Updates the compiled metrics with a batch and returns all values.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse", metrics=["mae"])
        >>> x, y = tf.constant([[1.0]]), tf.constant([[3.0]])
        >>> float(model.compute_metrics(x, y, model(x))["mae"])
        2.0
        """
        if self._compiled_metrics is not None:
            self._compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    @property
    def compiled_metrics(self) -> Any:
        """What ``train_step`` of older programs updates: it has ``update_state(y, y_pred, sample_weight)`` only."""
        return _AllMetrics(self)

    def compiled_loss(self, y: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None) -> Any:
        """What ``train_step`` of older programs calls: ``compute_loss``, with ``self.losses`` in any case.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse")
        >>> with warnings.catch_warnings(action="ignore"):
        ...     print(float(model.compiled_loss(tf.constant([[3.0]]), model(tf.constant([[1.0]])))))
        4.0
        """
        warnings.warn(
            "`model.compiled_loss()` is deprecated. Instead, use `model.compute_loss(x, y, y_pred, sample_weight, "
            "training)`.",
            stacklevel=2,
        )
        return self.compute_loss(None, y, y_pred, sample_weight)

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
        found = [] if self._compiled_loss is None else [self._compiled_loss(y, y_pred, sample_weight)]
        found += [loss if loss.ndim == 0 else _sum(loss) for loss in self.losses]
        if not found:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        total = found[0]
        for loss in found[1:]:
            total = total + loss
        return total

    # -- steps --------------------------------------------------------------------------------------------------------

    def _predicted(self, x: Any, training: bool) -> Any:
        return self(x, training=training) if self._takes_training else self(x)

    def _lossed(self, x: Any, y: Any, y_pred: Any, weight: Any, training: bool) -> Any:
        loss = self.compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=weight, training=training)
        first = next(part for part in nest.flatten(x) if part is not None)
        self._loss_tracker.update_state(loss, sample_weight=float(first.shape[0]))
        return loss

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
            loss = self._lossed(x, y, y_pred, weight, True)
            loss = self.optimizer.scale_loss(loss)
        weights = self.trainable_weights
        if weights:
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        return self.compute_metrics(x, y, y_pred, sample_weight=weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """One step of evaluation on a batch; returns the metrics.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse")
        >>> float(model.test_step((tf.constant([[1.0]]), tf.constant([[3.0]])))["loss"])
        4.0
        """
        x, y, weight = unpack_x_y_sample_weight(data)
        y_pred = self._predicted(x, False)
        self._lossed(x, y, y_pred, weight, False)
        return self.compute_metrics(x, y, y_pred, sample_weight=weight)

    def predict_step(self, data: Any) -> Any:
        """The predictions for a batch.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.predict_step((tf.constant([[1.0], [2.0]]),)).numpy()
        array([[1.],
               [2.]], dtype=float32)
        """
        return self._predicted(unpack_x_y_sample_weight(data)[0], False)

    # -- loops --------------------------------------------------------------------------------------------------------

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
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
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split((x, y, sample_weight), validation_split)
        feed = Feed(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        callbacks = self._listening(callbacks, verbose, feed, epochs, add_history=True)
        self.stop_training = False
        callbacks.on_train_begin()
        logs: dict[str, Any] = {}
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            for step, batch in feed.epoch():
                callbacks.on_train_batch_begin(step)
                with compiled_step(self, batch):
                    logs = self.train_step(batch)
                callbacks.on_train_batch_end(step, _plain(logs))
                if self.stop_training:
                    break
            results = self.get_metrics_result()
            logs = dict(results if results.keys() == logs.keys() else logs)
            if validation_data is not None and _due(epoch, validation_freq):
                size = validation_batch_size or batch_size
                logs |= self._validated(validation_data, size, validation_steps, callbacks)
            callbacks.on_epoch_end(epoch, _plain(logs))
            if self.stop_training:
                break
        if epochs > 0 and isinstance(self.optimizer, optimizers.Optimizer):
            self.optimizer.finalize_variable_values(self.trainable_weights)
        callbacks.on_train_end(_plain(logs))
        return self.history

    def _listening(self, callbacks: Any, verbose: Any, feed: Feed, epochs: int = 1, add_history: bool = False) -> Any:
        """The callbacks as a list that knows the model, with a progress bar on demand; a list that is one stays."""
        if isinstance(callbacks, CallbackList):
            return callbacks
        told = {"verbose": verbose, "epochs": epochs, "steps": feed.steps}
        return CallbackList(callbacks, add_history=add_history, add_progbar=verbose != 0, model=self, **told)

    def _validated(self, data: Any, batch_size: int | None, steps: int | None, callbacks: Any) -> dict[str, Any]:
        """The loss and the metrics of the validation data, by names that say so."""
        x, y, weight = unpack_x_y_sample_weight(data)
        found = self.evaluate(
            x, y, batch_size, sample_weight=weight, steps=steps, callbacks=callbacks, return_dict=True
        )
        return {f"val_{name}": value for name, value in found.items()}

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
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
        feed = Feed(x, y, sample_weight, batch_size, steps, False)
        callbacks = self._listening(callbacks, verbose, feed)
        callbacks.on_test_begin()
        self.reset_metrics()
        logs: dict[str, Any] = {}
        for step, batch in feed.epoch():
            callbacks.on_test_batch_begin(step)
            logs = self.test_step(batch)
            callbacks.on_test_batch_end(step, _plain(logs))
        results = self.get_metrics_result()
        logs = _plain(results if results.keys() == logs.keys() else logs)
        callbacks.on_test_end(logs)
        return logs if return_dict else self._in_order(logs)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """The predictions for all of ``x`` as NumPy arrays.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.predict(tf.constant([[1.0], [2.0]]), verbose=0)
        array([[1.],
               [2.]], dtype=float32)
        """
        feed = Feed(x, None, None, batch_size, steps, False)
        callbacks = self._listening(callbacks, verbose, feed)
        callbacks.on_predict_begin()
        outputs = []
        for step, batch in feed.epoch():
            callbacks.on_predict_batch_begin(step)
            outputs.append(self.predict_step(batch))
            callbacks.on_predict_batch_end(step, {"outputs": outputs[-1]})
        callbacks.on_predict_end()
        return nest.map_structure(lambda *parts: np.concatenate([p.numpy() for p in parts]), *outputs)

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """One step of training; returns the metrics. ValueError for both kinds of weights.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
        >>> [round(model.train_on_batch(tf.constant([[1.0]]), tf.constant([[3.0]])), 3) for _ in range(3)]
        [4.0, 1.44, 0.518]
        """
        if sample_weight is not None and class_weight is not None:
            raise ValueError(
                "Arguments `sample_weight` and `class_weight` cannot be specified at the same time. Received: "
                f"sample_weight={sample_weight}, class_weight={class_weight}"
            )
        return self._on_batch(self.train_step, x, y, sample_weight, class_weight, return_dict)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False) -> Any:
        """One step of evaluation; returns the metrics.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.compile(loss="mse", metrics=["mae"])
        >>> model.test_on_batch(tf.constant([[1.0]]), tf.constant([[3.0]]))
        [4.0, 2.0]
        """
        return self._on_batch(self.test_step, x, y, sample_weight, None, return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """The predictions for one batch as NumPy arrays.

        >>> import minitape as tf
        >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
        >>> model.predict_on_batch(tf.constant([[1.0], [2.0]]))
        array([[1.],
               [2.]], dtype=float32)
        """
        return nest.map_structure(lambda t: t.numpy(), self.predict_step(nest.map_structure(convert, x)))

    def _on_batch(self, step: Any, x: Any, y: Any, weight: Any, class_weight: Any, return_dict: bool) -> Any:
        self._needs_compile()
        self.reset_metrics()
        size = len(nest.flatten(x)[0])
        _, batch = next(Feed(x, y, weight, size, None, False, class_weight).epoch())
        logs = _plain(step(batch))
        return logs if return_dict else self._in_order(logs)

    def _in_order(self, logs: dict[str, float]) -> Any:
        names = [one.name for m in self.metrics for one in (m.metrics if isinstance(m, Metrics) else [m])]
        values = [logs[n] for n in names if n in logs] + [logs[n] for n in sorted(logs) if n not in names]
        return values[0] if len(values) == 1 else values


class _AllMetrics:
    """All metrics of a model at once; means take the predictions, as in Keras."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def update_state(self, y: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Hands a batch to each metric."""
        warnings.warn(
            "`model.compiled_metrics()` is deprecated. Instead, use e.g.:\n```\nfor metric in self.metrics:\n    "
            "metric.update_state(y, y_pred)\n```\n",
            stacklevel=2,
        )
        for metric in self._model.metrics:
            if isinstance(metric, metrics_module.Mean):
                metric.update_state(y_pred, sample_weight=sample_weight)
            else:
                metric.update_state(y, y_pred, sample_weight=sample_weight)


def _plain(logs: dict[str, Any]) -> dict[str, float]:
    """Numbers of Python, sorted by name; what a step returns in a dictionary stands where that has its name."""
    found: dict[str, float] = {}
    for name, value in sorted((logs or {}).items()):
        if isinstance(value, dict):
            found |= _plain(value)
        else:
            found[name] = float(value) if isinstance(value, Tensor) and not value.ndim else value
    return found


def _sum(loss: Any) -> Any:
    return tf.reduce_sum(loss)


def _due(epoch: int, every: Any) -> bool:
    if isinstance(every, int):
        return (epoch + 1) % every == 0
    if isinstance(every, list):
        return epoch + 1 in every
    raise ValueError(
        f"Expected `validation_freq` to be a list or int. Received: validation_freq={every} of the type {type(every)}."
    )
