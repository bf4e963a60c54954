"""The rule of this package's table for an operation of another framework.

It is said only where the numbers agree: forwards the formula gives the framework's own result, so that its inputs
and arguments are those of the table; backwards the local derivative times what arrived is what autograd sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.table.primitives.elementwise import ARRAY_FORMS, BY_CODE
from .rows import fields_of

if TYPE_CHECKING:
    from ..engine.types import Array
    from .fields import Fields

# of PyTorch and JAX; kernels of TensorFlow are in the table
SPELLED = (
    "mul=multiply sub=subtract neg=negative div=divide true_divide=divide logistic=sigmoid "
    "max=maximum min=minimum absolute=abs integer_pow=pow"
)
NAMES = dict(pair.split("=") for pair in SPELLED.split())
KNOWN = {primitive.op: primitive for primitive in BY_CODE} | {primitive.name: primitive for primitive in BY_CODE}
SAME_WITH_ONE = {"pow": "square"}  # where the second input is a number that was not recorded
HALF = {"float16": 1e-2, "bfloat16": 3e-2}
CLOSE = 1e-5  # of float32
MOST = 65_536  # elements of a result that is computed again


class KnownRule(NamedTuple):
    """What a picture says of an operation: fields of its row, and its local derivative by input."""

    fields: Fields
    locals: list[Array | None]
    close: float

    def agrees(self, port: int, arrived: Array | None, sent: Array | None) -> bool:
        """Whether the framework sent what the rule gives."""
        local = self.locals[port]
        if local is None or arrived is None or sent is None or arrived.shape != np.shape(local):
            return False
        given = local * arrived
        given = given.sum(tuple(range(given.ndim - sent.ndim)))
        given = given.sum(tuple(k for k, n in enumerate(sent.shape) if n == 1 and given.shape[k] > 1), keepdims=True)
        return given.shape == sent.shape and _near(given, sent, self.close)


def rule_of(op: str, inputs: Sequence[Array | None], result: Array | None, dtype: str = "float32") -> KnownRule | None:
    """The rule of an operation that has these inputs and this result; None where the table has none that fits them.

    >>> two, three, six = map(np.float64, (2.0, 3.0, 6.0))
    >>> found = rule_of("mul", [two, three], six)
    >>> found.fields["said"], [float(local) for local in found.locals]
    (['x × y', 'g × y', 'g × x'], [3.0, 2.0])
    >>> rule_of("mul", [two, three], three) is None
    True
    """
    name = NAMES.get(op, op)
    primitive = KNOWN.get(SAME_WITH_ONE.get(name, name) if len(inputs) == 1 else name)
    if primitive is None or len(primitive.texts) != len(inputs) + 1:
        return None
    values, out = [value for value in inputs if value is not None], result
    if out is None or len(values) < len(inputs) or out.size > MOST:
        return None
    form, close = ARRAY_FORMS[primitive.code], HALF.get(dtype, CLOSE)
    with np.errstate(all="ignore"):
        try:
            given = np.asarray(form.forward(*values))
        except ValueError:  # shapes that do not fit: what was changed in place had another one
            return None
        if given.shape != out.shape or not _near(given, out, close):
            return None
        rules = [None if rule is None else rule(np.ones_like(out), out, values[0], values[-1]) for rule in form.rules]
    kind = np.float64 if dtype == "float64" else np.float32
    local = [None if value is None else np.broadcast_to(value, out.shape).astype(kind)[()] for value in rules]
    fields = fields_of(primitive)
    return KnownRule({"formula": fields["formula"], "rule": fields["rule"], "said": fields["said"]}, local, close)


def _near(given: Array, seen: Array, close: float) -> bool:
    return bool(
        np.allclose(
            given,
            seen,
            rtol=close,
            atol=close * float(np.abs(seen[np.isfinite(seen)]).max(initial=0.0)),
            equal_nan=True,
        )
    )
