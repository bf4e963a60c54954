"""Functions that are traced again and again: the warning that tells why this is slow."""

from __future__ import annotations

import logging
from typing import Any

_TEXT = (
    "{count} out of the last {calls} calls to {function} triggered tf.function retracing. Tracing is expensive and the "
    "excessive number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors "
    "with different shapes, (3) passing Python objects instead of tensors. For (1), please define your @tf.function "
    "outside of the loop. For (2), @tf.function has reduce_retracing=True option that can avoid unnecessary retracing. "
    "For (3), please refer to https://www.tensorflow.org/guide/function#controlling_retracing and "
    "https://www.tensorflow.org/api_docs/python/tf/function for  more details."
)


class Retracing:
    """Counts the calls between the traces of one function, for the warning about too many of them."""

    def __init__(self) -> None:
        self.calls_per_trace: list[int] = []
        self.warned = self.calls = 0

    def traced(self, function: Any) -> None:
        """A call that traced: the warning when at least 5 of the last 10 or so did, twice at most."""
        self.calls += 1
        self.calls_per_trace.append(1)
        while self.calls_per_trace and self.calls - self.calls_per_trace[0] > 10:
            self.calls -= self.calls_per_trace.pop(0)
        if self.warned < 2 and len(self.calls_per_trace) >= 5:
            self.warned += 1
            text = _TEXT.format(count=len(self.calls_per_trace), calls=self.calls, function=repr(function))
            logging.getLogger("tensorflow").warning(text)

    def called(self, times: int) -> None:
        """Calls that did not trace."""
        if times:
            self.calls_per_trace = self.calls_per_trace or [0]
            self.calls_per_trace[-1] += times
            self.calls += times


_known: dict[Any, Retracing] = {}


def retracing_of(function: Any) -> Retracing:
    """The counter of a Python function, which all its ``tf.function`` share.

    As in TensorFlow, so do functions of several files whose code reads the same.
    """
    return _known.setdefault(getattr(function, "__code__", function), Retracing())
