"""What is wrong with gradients that are there, in JAX: what :mod:`suspects` finds in the rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..explain.suspects import OperationNames, Suspicion
from ..recording.values import numbers_of
from .suspects import EXPLODED, VANISHED, SuspectChecks, size_of

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

    def along_depth(self) -> Iterator[Suspicion]:
        """The same; or a long scan, which is one row, sends on far more than its steps add up, or almost nothing from
        its end to what it began with.
        """
        yield from super().along_depth()
        for entry in self.operations(["scan"]):
            call = next(call for call in self.recording.log.calls if entry.row in call.rows)
            given = call.compute.args[0].params
            if "num_carry" not in given:
                continue  # a function of the program's that has this name
            arrived = [self.adjoint(row) for row in call.rows]
            came = sum(float(np.abs(one).sum()) for one in arrived if one is not None)
            first, carried, n = given["num_consts"], given["num_carry"], given["length"]
            ends = arrived[0] if all(one is None for one in arrived[carried:]) else None  # nothing reads the steps
            for row, port, product, _ in self.on_path[entry.row].edges.get(entry.call, ()):
                sent = size_of(numbers_of(product))
                less = first <= port < first + carried and 0 < sent < VANISHED * size_of(ends)
                if less or EXPLODED * n * came < sent < math.inf:
                    fields = {"what": "scan", "from_": came, "to": sent, "n": n, "ratio": sent / came}
                    alone = self.behind(row)
                    yield Suspicion("vanishing" if less else "exploding", entry.site, fields, entry.row, alone=alone)

    def logits_of(self, entry: Any) -> int | None:
        given, name = entry.inputs[0], OF_LOGITS[entry.op]
        return given if name in entry.scope and name not in self.entries[given].scope else None
