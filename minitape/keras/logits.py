"""The logits of results of Keras' softmax and sigmoid: crossentropies go by these, as Keras' do.

A probability is cut off near 0 and 1, where its logarithm would be infinite; behind the cut there is no gradient, and a
model that is very wrong would learn nothing.
"""

from __future__ import annotations

import warnings
import weakref
from typing import Any

_KNOWN: dict[int, tuple] = {}  # by the id of an output: a weak reference to it, and its logits


def with_logits(output: Any, logits: Any) -> Any:
    """The output of an activation, of which is noted what it was computed from."""
    key = id(output)  # a tensor can be no key itself
    _KNOWN[key] = weakref.ref(output, lambda _: _KNOWN.pop(key, None)), logits
    return output


def logits_of(output: Any, from_logits: bool, activation: str, loss: str) -> tuple[Any, bool]:
    """What a crossentropy reads in place of ``output``, and whether that are logits.

    In a graph any operation of the type ``activation`` will do. Warns of ``from_logits`` for what an activation made.
    """
    known = _KNOWN.get(id(output))
    found = known[1] if known is not None and known[0]() is output else None
    if found is None:
        return output, from_logits
    if from_logits:
        warnings.warn(
            f'"`{loss}` received `from_logits=True`, but the `output` argument was produced by a {activation} '
            "activation "
            "and thus does not represent logits. Was this intended?",
            stacklevel=3,
        )
    return found, True
