"""What ``compile`` makes of a loss and of metrics: functions of labels and predictions, by name or as objects."""

from __future__ import annotations

from typing import Any

from ..engine.values import nest
from . import losses
from . import metrics as metrics_module
from .base import to_snake_case
from .lossfunctions import FunctionLoss


def loss_of(given: Any) -> losses.Loss | None:
    """The ``loss`` argument of ``compile``: a name, a function or an object; ValueError for several of them."""
    if isinstance(given, (list, tuple, dict)) and len(given) == 1:
        (given,) = given.values() if isinstance(given, dict) else given
    if isinstance(given, (list, tuple, dict)):
        raise ValueError(
            "minitape's `compile()` takes one loss. For a model of several outputs override `compute_loss(self, x, y, "
            "y_pred, "
            f"sample_weight, training)`. Received: loss={given}"
        )
    found = losses.get(given)
    return (
        found
        if found is None or isinstance(found, losses.Loss)
        else FunctionLoss(found, getattr(found, "__name__", None))
    )


def the_only_output(values: Any) -> Any:
    """The only output, or what belongs to it; ValueError for several."""
    leaves = nest.flatten(values)
    if len(leaves) != 1:
        raise ValueError(
            "minitape's `compile()` has no losses and metrics for several outputs: override `compute_loss` and "
            "`compute_metrics` "
            f"of the model. Received {len(leaves)} outputs."
        )
    return leaves[0]


class Metrics(metrics_module.Metric):
    """The compiled metrics: resolved at the first labels and predictions."""

    def __init__(self, metrics: Any) -> None:
        super().__init__(name="compile_metrics")
        if metrics and not isinstance(metrics, (list, tuple, dict)):
            raise ValueError(
                "Expected `metrics` argument to be a list, tuple, or dict. Received instead: "
                f"metrics={metrics} of type {type(metrics)}"
            )
        self._given = nest.flatten(metrics)
        self._by_name: dict[str, Any] = {}

    @property
    def names(self) -> list[str]:
        """The names of the metrics."""
        return list(self._by_name)

    def update_state(self, y_true: Any, y_pred: Any) -> None:
        """Takes in a batch of labels and predictions."""
        y_true, y_pred = nest.flatten(y_true)[0], the_only_output(y_pred)
        for identifier in [] if self._by_name else self._given:
            metric = _metric(identifier, y_true, y_pred)
            name = metric.name
            if name in self._by_name:
                name = f"{name}_{sum(other.startswith(name) for other in self._by_name)}"
            self._by_name[name] = metric
        for metric in self._by_name.values():
            metric.update_state(y_true, y_pred)

    def result(self) -> dict[str, Any]:
        """The values by name."""
        return {name: metric.result() for name, metric in self._by_name.items()}

    def reset_state(self) -> None:
        """All begin anew."""
        for metric in self._by_name.values():
            metric.reset_state()


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
