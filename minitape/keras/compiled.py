"""What ``compile`` makes of losses and metrics: one for each output, with weights, ready when the outputs are known."""

from __future__ import annotations

from typing import Any

from ..engine import nest
from ..engine.block import During
from ..engine.state import state
from ..graphs.settings import functions_run_eagerly
from . import losses
from . import metrics as metrics_module
from .base import to_snake_case
from .loss import squeeze_or_expand


class Losses:
    """The compiled loss: one, or one for each output, with weights."""

    def __init__(self, loss: Any, weights: Any, output_names: Any) -> None:
        self._output_names = output_names
        if weights is not None and not isinstance(weights, (list, tuple, dict, float)):
            raise ValueError(
                "Expected `loss_weights` argument to be a float (single output case) or a list, tuple, or dict "
                f"(multiple output case). Received instead: loss_weights={weights} of type {type(weights)}"
            )
        counts = [len(nest.flatten(v)) for v in (loss, weights)]
        if weights is not None and counts[0] != counts[1]:
            raise ValueError(
                f"`loss_weights` must match the number of losses, got {counts[0]} losses and {counts[1]} weights."
            )
        self._given, self._weights = loss, weights
        self._ready: Any = None
        self.trackers: list[Any] = []

    def _prepare(self, y_pred: Any) -> None:
        keys = list(y_pred) if isinstance(y_pred, dict) else list(range(len(nest.flatten(y_pred))))
        for key in self._given if isinstance(self._given, dict) else ():
            if key not in keys and self._given[key] is not None:
                raise KeyError(
                    f"The path: {(key,)} in the `loss` argument, can't be found in either the model's output (`y_pred`) "
                    "or in the labels (`y_true`)."
                )
        losses, factors = (_per_output(v, keys) for v in (self._given, self._weights))
        self._ready = [(i, _as_loss(loss), factors[i]) for i, loss in enumerate(losses) if loss is not None]
        if len(self._ready) > 1:
            called = [keys[i] if isinstance(keys[i], str) else loss.name for i, loss, _ in self._ready]
            self.trackers = [metrics_module.Mean(name=f"{name}_loss") for name in called]

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any) -> Any:
        names = self._output_names()
        y_true, y_pred, sample_weight = (_named(v, names) for v in (y_true, y_pred, sample_weight))
        if self._ready is None:
            self._prepare(y_pred)
        order = _by_keys(y_pred)
        total = None
        for place, (i, loss, factor) in enumerate(self._ready):
            weight = sample_weight if not nest.is_nested(sample_weight) else order(sample_weight)[i]
            value = loss(order(y_true)[i], order(y_pred)[i], weight)
            if self.trackers:
                self.trackers[place].update_state(value)
            value = value if factor is None else value * factor
            total = value if total is None else total + value
        return total


def _per_output(given: Any, keys: list[Any]) -> list[Any]:
    """What was given for each output: by its name, by its place, or the same for all; None where there is nothing."""
    if isinstance(given, dict):
        return [given.get(key) for key in keys]
    if isinstance(given, (list, tuple)):
        return [given[i] if i < len(given) else None for i in range(len(keys))]
    return [given] * len(keys)


def output_names(model: Any) -> list[str] | None:
    """The names of the outputs of a functional model that has several; else None."""
    outputs = getattr(model, "outputs", None)
    if not isinstance(outputs, list) or len(outputs) < 2:
        return None
    names = [output._keras_history.layer.name for output in outputs]
    return names if len(set(names)) == len(names) else None


def _named(values: Any, names: list[str] | None) -> Any:
    """A list that belongs to several outputs, by their names."""
    if names is None or not isinstance(values, (list, tuple)) or len(values) != len(names):
        return values
    return dict(zip(names, values, strict=True))


def _by_keys(y_pred: Any) -> Any:
    """Puts what belongs to the outputs into their order."""
    if isinstance(y_pred, dict):
        return lambda y: [y[k] for k in y_pred]
    return nest.flatten


def _as_loss(loss: Any) -> losses.Loss:
    found = losses.get(loss)
    return found if isinstance(found, losses.Loss) else _Function(found)


class _Function(losses.Loss):
    """A plain function as a loss."""

    def __init__(self, function: Any) -> None:
        super().__init__(name=getattr(function, "__name__", None))
        self._function = function

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """One number for each example."""
        return self._function(*squeeze_or_expand(y_true, y_pred))


class Metrics(metrics_module.Metric):
    """The compiled metrics: resolved when the first labels and predictions are seen."""

    def __init__(self, metrics: Any, weighted: Any, output_names: Any) -> None:
        super().__init__(name="compile_metrics")
        self._output_names = output_names
        for name, given in (("metrics", metrics), ("weighted_metrics", weighted)):
            if given and not isinstance(given, (list, tuple, dict)):
                raise ValueError(
                    f"Expected `{name}` argument to be a list, tuple, or dict. Received instead: "
                    f"{name}={given} of type {type(given)}"
                )
        self._given = (metrics, weighted)
        self._flat: list[tuple[str, Any, int, bool]] = []  # (name, metric, which output, weighted)
        self._ready = False

    names = property(lambda self: [name for name, *_ in self._flat], doc="The names of the metrics.")
    metrics = property(lambda self: [metric for _, metric, *_ in self._flat], doc="The metrics.")

    def by_name(self) -> dict[str, Any]:
        """The metrics by their names."""
        return {name: metric for name, metric, *_ in self._flat}

    def _prepare(self, y_true: list[Any], y_pred: list[Any], keys: list[Any]) -> None:
        self._ready = True
        for weighted, given in enumerate(self._given):
            if not given:
                continue
            per_output = (
                [nest.flatten(given)] if len(keys) == 1 else [_for_output(given, i, k) for i, k in enumerate(keys)]
            )
            for i, wanted in enumerate(per_output):
                for identifier in wanted:
                    metric = _metric(identifier, y_true[i], y_pred[i])
                    name = metric.name if len(keys) == 1 or not isinstance(keys[i], str) else f"{keys[i]}_{metric.name}"
                    taken = [n for n, *_ in self._flat]
                    if name in taken and weighted:
                        name = f"weighted_{name}"
                    elif name in taken:
                        name = f"{name}_{sum(n.startswith(name) for n in taken)}"
                    self._flat.append((name, metric, i, bool(weighted)))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions."""
        names = self._output_names()
        y_true, y_pred, sample_weight = (_named(v, names) for v in (y_true, y_pred, sample_weight))
        order = _by_keys(y_pred)
        true, predicted = order(y_true), order(y_pred)
        if not self._ready:
            self._prepare(true, predicted, list(y_pred) if isinstance(y_pred, dict) else list(range(len(predicted))))
        for _, metric, i, weighted in self._flat:
            if weighted and sample_weight is not None:
                metric.update_state(
                    true[i], predicted[i], nest.flatten(sample_weight)[min(i, len(nest.flatten(sample_weight)) - 1)]
                )
            else:
                metric.update_state(true[i], predicted[i])

    def result(self) -> dict[str, Any]:
        """The values by name."""
        return {name: metric.result() for name, metric, *_ in self._flat}

    def reset_state(self) -> None:
        """All begin anew."""
        for _, metric, *_ in self._flat:
            metric.reset_state()


def _for_output(given: Any, index: int, key: Any) -> list[Any]:
    found = given.get(key) if isinstance(given, dict) else given[index]
    return [] if found is None else nest.flatten(found)


def _metric(identifier: Any, y_true: Any, y_pred: Any) -> Any:
    """The metric of a name; "accuracy" means the one that fits the shapes."""
    if str(identifier).lower() in ("accuracy", "acc"):
        last = y_pred.shape[-1] if len(y_pred.shape) else 1
        sparse = len(y_true.shape) < len(y_pred.shape) or (y_true.shape[-1] == 1 and last > 1)
        kind = "BinaryAccuracy" if last == 1 else "SparseCategoricalAccuracy" if sparse else "CategoricalAccuracy"
        return getattr(metrics_module, kind)(name=str(identifier))
    found = metrics_module.get(identifier)
    if isinstance(found, metrics_module.Metric):
        if isinstance(identifier, str):
            found.name = identifier
        return found
    return metrics_module.MeanMetricWrapper(
        found, name=identifier if isinstance(identifier, str) else to_snake_case(found.__name__)
    )


def compiled_step(model: Any, batch: Any) -> During:
    """In the block no value leaves what TensorFlow compiles, unless the model runs eagerly."""
    eager = model.run_eagerly or functions_run_eagerly()
    return During(state, compiled=None if eager else frozenset(id(part) for part in nest.flatten(batch)))
