"""The area under the ROC curve, the curve of precision and recall, or that of their gains."""

from __future__ import annotations

from typing import Any

from .. import tf
from .base import auto_name, convert, epsilon
from .counting import FN, FP, TN, TP, count_cells
from .metric import Metric
from .serial import asked

CURVES = {"PR": ("pr", "PR"), "ROC": ("roc", "ROC"), "PRGAIN": ("prgain", "PRGAIN")}
METHODS = {name: (name, name.capitalize()) for name in ("interpolation", "majoring", "minoring")}


class AUC(Metric):
    """The area under a curve, from the counts of right and wrong at ``num_thresholds`` even (or given) ``thresholds``.

    ``curve`` is "ROC", "PR" or "PRGAIN"; ``summation_method`` "interpolation", "minoring" (heights from below) or
    "majoring" (from above). With ``multi_label`` each of the ``num_labels`` columns of labels and predictions has its
    own area, averaged with ``label_weights``; else these weigh the columns of one area. Predictions are
    probabilities, or logits if ``from_logits``. Raises ValueError for another word, for less than two thresholds and
    for ``num_labels`` without ``multi_label``.

    >>> import minitape as tf
    >>> float(tf.keras.metrics.AUC()([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9]))
    0.75
    >>> round(float(tf.keras.metrics.AUC(curve="PR")([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])), 4)
    0.7973
    """

    _direction = 1

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Any = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ) -> None:
        self.curve = _one_of(curve, CURVES, "curve")
        self.summation_method = _one_of(summation_method, METHODS, "summation method")
        super().__init__(dtype, name or auto_name("AUC"))
        self._given = thresholds is not None
        if self._given:
            inner = sorted(thresholds)
        elif num_thresholds <= 1:
            raise ValueError(
                f"Argument `num_thresholds` must be an integer > 1. Received: num_thresholds={num_thresholds}"
            )
        else:
            asked("weights", num_thresholds)
            inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        if num_labels and not multi_label:
            raise ValueError("`num_labels` is needed only when `multi_label` is True.")
        self.thresholds = [0.0 - epsilon(), *inner, 1.0 + epsilon()]
        self.num_thresholds = len(self.thresholds)
        self.multi_label, self.num_labels, self.label_weights = multi_label, num_labels, label_weights
        self.from_logits = from_logits
        self._counts: list[Any] = []
        if not multi_label or num_labels:
            self._make((num_labels,) if multi_label else ())

    def _make(self, columns: tuple[Any, ...]) -> None:
        names = ("true_positives", "false_positives", "true_negatives", "false_negatives")
        self._counts = [self.add_variable((self.num_thresholds, *columns), "zeros", name=n) for n in names]
        self.true_positives, self.false_positives, self.true_negatives, self.false_negatives = self._counts

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Takes in a batch of labels and predictions; ValueError for ``multi_label`` unless they have two axes."""
        y_pred = convert(y_pred, self.dtype)
        if not self._counts:
            if len(y_pred.shape) != 2:
                raise ValueError(
                    f"`y_pred` must have rank 2 when `multi_label=True`. Found rank {len(y_pred.shape)}. Full shape "
                    f"received for `y_pred`: {tuple(y_pred.shape)}"
                )
            self._make((y_pred.shape[1],))
        found = count_cells(
            y_true,
            tf.sigmoid(y_pred) if self.from_logits else y_pred,
            sample_weight,
            self.thresholds,
            [TP, FP, TN, FN],
            self.dtype,
            label_weights=None if self.multi_label else self.label_weights,
            by_label=self.multi_label,
        )
        for variable, count in zip(self._counts, found, strict=True):
            variable.assign_add(count)

    def result(self) -> Any:
        """The area so far; 0 before anything came."""
        if not self._counts:
            return tf.constant(0.0, self.dtype)
        tp, fp, tn, fn = (tf.convert_to_tensor(v) for v in self._counts)
        if self.curve == "PR" and self.summation_method == "interpolation":
            areas = _precision_areas(tp, fp, fn)
        else:
            x, y = _curve(self.curve, tp, fp, tn, fn)
            areas = (x[:-1] - x[1:]) * _heights(y, self.summation_method)
        area = tf.reduce_sum(areas, axis=0)
        if not self.multi_label:
            return area
        if self.label_weights is None:
            return tf.reduce_mean(area)
        weights = convert(self.label_weights, self.dtype)
        return tf.math.divide_no_nan(tf.reduce_sum(area * weights), tf.reduce_sum(weights))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this."""
        own = ("num_thresholds", "curve", "summation_method", "multi_label", "num_labels", "label_weights",
               "from_logits")  # fmt: skip
        given = {"thresholds": self.thresholds[1:-1]} if self._given else {}
        return {**super().get_config(), **{name: getattr(self, name) for name in own}, **given}


def _one_of(word: str, words: dict[str, tuple[str, str]], what: str) -> str:
    for name, spellings in words.items():
        if word in spellings:
            return name
    expected = ", ".join(f'"{name}"' for name in words)
    raise ValueError(f'Invalid AUC {what} value: "{word}". Expected values are [{expected}]')


def _curve(curve: str, tp: Any, fp: Any, tn: Any, fn: Any) -> tuple[Any, Any]:
    """The points of a curve, from the highest x (the lowest threshold) to the lowest."""
    ratio = tf.math.divide_no_nan
    recall = ratio(tp, tp + fn)
    if curve == "ROC":
        return ratio(fp, fp + tn), recall
    if curve == "PR":
        return recall, ratio(tp, tp + fp)
    scale = ratio(tp + fn, tn + fp)
    none = tp == 0.0
    recall_gain = tf.where(none, 0.0, 1.0 - scale * ratio(fn, tp))
    return tf.maximum(recall_gain, 0.0), tf.where(none, 1.0, 1.0 - scale * ratio(fp, tp))


def _heights(y: Any, method: str) -> Any:
    if method == "interpolation":
        return (y[:-1] + y[1:]) / 2.0
    return (tf.minimum if method == "minoring" else tf.maximum)(y[:-1], y[1:])


def _precision_areas(tp: Any, fp: Any, fn: Any) -> Any:
    """The area between neighbouring thresholds when the counts, not their quotient, vary linearly in between."""
    ratio = tf.math.divide_no_nan
    gained, positive = tp[:-1] - tp[1:], tp + fp
    slope = ratio(gained, tf.maximum(positive[:-1] - positive[1:], 0.0))
    offset = tp[1:] - slope * positive[1:]
    both = (positive[:-1] > 0) & (positive[1:] > 0)
    growth = tf.where(both, ratio(positive[:-1], tf.maximum(positive[1:], 0.0)), tf.ones_like(positive[1:]))
    return ratio(slope * (gained + offset * tf.math.log(growth)), tf.maximum(tp[1:] + fn[1:], 0.0))
