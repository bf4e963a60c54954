"""What is wrong with gradients that are there, in JAX: what :mod:`suspects` finds in the rows."""

from __future__ import annotations

from typing import Any

from ..explain.suspects import OperationNames
from .suspects import SuspectChecks

NAMES = OperationNames(
    compare={"sub"},
    losses=(),
    sums={"reduce_sum"},
    shapes=set("broadcast_in_dim reshape squeeze expand_dims transpose convert_element_type copy".split()),
    adds={"add", "sub", "add_any"},
    factors={"mul", "div"},
    of_logits={"sub": "softmax", "neg": "sigmoid", "logaddexp": "sigmoid"},
    activations={"logistic": "sigmoid", "tanh": "tanh", "max": "relu", "erf": "gelu"},
    normalize=(),
    saturate={"logistic", "tanh"},
)
OF_LOGITS = {"sub": "log_softmax", "neg": "log_sigmoid", "logaddexp": "softplus"}  # how those of jax.nn begin


class JaxSuspectChecks(SuspectChecks):
    """The checks of one recording of JAX."""

    def __init__(self, recording: Any) -> None:
        super().__init__(recording, NAMES)

    def are_alike(self, one: int, other: int) -> bool:
        """The same lines use both: values that begin with the same formula are alike, too."""
        sites = [{self.entries[reader].site for reader in self.readers.get(row, ())} for row in (one, other)]
        return sites[0] == sites[1] and super().are_alike(one, other)

    def operand(self, entry: Any, row: int) -> int:
        while self.entries[row].op in ("broadcast_in_dim", "reshape") and self.entries[row].site == entry.site:
            row = self.entries[row].inputs[0]
        return row

    def logits_of(self, entry: Any) -> int | None:
        given, name = entry.inputs[0], OF_LOGITS[entry.op]
        return given if name in entry.scope and name not in self.entries[given].scope else None
