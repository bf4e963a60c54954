"""What is wrong with gradients that are there, in JAX: what :mod:`suspects` finds in the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..recording.values import numbers_of
from .suspects import OperationNames, SuspectChecks

NAMES = OperationNames(
    compare={"sub"},
    losses=(),
    sums={"reduce_sum"},
    shapes={"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "convert_element_type", "copy"},
    adds={"add", "sub", "add_any"},
    factors={"mul", "div"},
    of_logits={"sub": "softmax", "neg": "sigmoid", "logaddexp": "sigmoid"},
    activations={"logistic": "sigmoid", "tanh": "tanh", "max": "relu", "erf": "gelu"},
    normalize={"div"},
    saturate={"logistic", "tanh"},
)
OF_LOGITS = {"sub": "log_softmax", "neg": "log_sigmoid", "logaddexp": "softplus"}  # how those of jax.nn begin


class JaxSuspectChecks(SuspectChecks):
    """The checks of one recording of JAX."""

    def __init__(self, recording: Any) -> None:
        super().__init__(recording, NAMES)

    def operand(self, entry: Any, row: int) -> int:
        while self.entries[row].op in ("broadcast_in_dim", "reshape") and self.entries[row].site == entry.site:
            row = self.entries[row].inputs[0]
        return row

    def activation_of(self, row: int) -> str:
        entry = self.entries[row]
        last = entry.scope[-1] if entry.scope else ""
        return "softmax" if (entry.op, last) == ("div", "softmax") else super().activation_of(row)

    def logits_of(self, entry: Any) -> int | None:
        given, name = entry.inputs[0], OF_LOGITS[entry.op]
        return given if name in entry.scope and name not in self.entries[given].scope else None

    def called(self, row: int) -> str:
        entry = self.entries[row]
        return OF_LOGITS[entry.op] if OF_LOGITS.get(entry.op) in entry.scope else super().called(row)

    def _sent(self, entry: Any) -> np.ndarray | None:
        if entry.op != "div":
            return super()._sent(entry)
        if self.activation_of(entry.row) != "softmax":
            return None
        inside = [other for other in self.entries[: entry.row] if other.scope == entry.scope and other.op == "sub"]
        sweep = self.on_path[entry.row]
        return numbers_of(sweep.adjoints.get(inside[-1].inputs[0])) if inside else None
