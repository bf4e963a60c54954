"""The rule of this package's table for an operation of another framework.

It is said only where the numbers agree: forwards the table's operation gives the framework's own result, so that its
inputs and arguments are those of the table; backwards the rule, for what arrived, gives what autograd sent. Where that
is another array, the picture says so: a hook changed it, or the framework has another rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..engine.table.code import compile_text
from ..engine.table.primitives import TABLE, activation  # noqa: F401, it declares softmax
from ..engine.table.primitives.elementwise import ARRAY_FORMS, BY_CODE
from ..engine.table.primitives.reduce import unbroadcast
from .readable import of_arrays
from .rows import said_of
from .values import show_value

if TYPE_CHECKING:
    from ..engine.table.primitives import Rule
    from ..engine.types import Array, Attributes, Object
    from .fields import Fields

# of PyTorch and JAX; elementwise kernels of TensorFlow are in the table
SPELLED = (
    "mul=multiply sub=subtract neg=negative div=divide true_divide=divide logistic=sigmoid max=maximum min=minimum "
    "absolute=abs integer_pow=pow rsub=subtract rdiv=divide rpow=pow"
)
ON_ARRAYS = (
    "matmul=matmul mm=matmul bmm=matmul mv=matmul dot=matmul dot_general=matmul linear=matmul sum=reduce_sum "
    "reduce_sum=reduce_sum mean=reduce_mean max=reduce_max amax=reduce_max reduce_max=reduce_max min=reduce_min "
    "amin=reduce_min reduce_min=reduce_min softmax=softmax log_softmax=log_softmax T=transpose t=transpose "
    "transpose=transpose permute=transpose reshape=reshape view=reshape flatten=reshape MatMul=matmul "
    "BatchMatMulV2=matmul Softmax=softmax LogSoftmax=log_softmax Sum=reduce_sum Mean=reduce_mean Max=reduce_max "
    "Min=reduce_min"
)
NAMES, ARRAYS = (dict(pair.split("=") for pair in text.split()) for text in (SPELLED, ON_ARRAYS))
KNOWN = {primitive.op: primitive for primitive in BY_CODE} | {primitive.name: primitive for primitive in BY_CODE}
# a number that was not recorded, from the input x and the result z: behind the input, and before it
NUMBERS = """
add z - x | z - x
multiply z / x | z / x
subtract x - z | z + x
divide x / z | z * x
pow log(abs(z)) / log(abs(x)) | z ** (1 / x)
"""
SOLVED = {
    name: [compile_text(text, {"log": np.log}, "x, z") for text in texts.split("|")]
    for name, texts in (line.split(None, 1) for line in NUMBERS.strip().splitlines())
}
HALF = {"float16": 1e-2, "bfloat16": 3e-2}
CLOSE, FAR = 1e-5, 1e-2  # of float32
MOST = 65_536  # elements that are computed again


class KnownRule(NamedTuple):
    """What a picture says of an operation: fields of its row, and what its rules give for an adjoint."""

    fields: Fields
    rules: Sequence[Rule | None]
    result: Array
    inputs: list[Array]
    arguments: Attributes
    close: float
    kind: str = ""  # of the local derivatives of an elementwise operation
    sure: bool = True  # no other arguments give this result

    def share(self, port: int, arrived: Array | None, sent: Array | None) -> dict[str, Object]:
        """The local derivative where the framework sent what the rule gives, and whether it sent something else."""
        z, rule = self.result, self.rules[port]
        found: dict[str, Object] = {"local": None}
        if rule is None or arrived is None or sent is None:
            return found
        with suppress(ValueError), np.errstate(all="ignore"):  # an adjoint that has another shape
            given = rule(arrived.reshape(z.shape), z, *self.inputs, **self.arguments)
            given = given.reshape(sent.shape) if given.size == sent.size else unbroadcast(given, sent.shape)
            if not _near(given, sent, self.close):
                least = self.close * np.abs(arrived).max()  # a sum may be the rounding of its terms
                if self.sure and np.isfinite(given).all() and not _near(given, sent, FAR, least):
                    found["differs"] = True
            elif self.kind:
                local = np.broadcast_to(rule(np.ones_like(z), z, *self.inputs), z.shape)
                found["local"] = show_value(local.astype(self.kind)[()])
        return found


def rule_of(
    op: str, inputs: Sequence[Array | None], result: Array | None, dtype: str = "float32", label: str = ""
) -> KnownRule | None:
    """The rule of an operation that has these inputs and this result; None where the table has none that fits them.

    >>> two, three, six = map(np.float64, (2.0, 3.0, 6.0))
    >>> found = rule_of("mul", [two, three], six)
    >>> found.fields["said"], found.share(0, two, six)["local"]["data"]
    (['x × y', 'g × y', 'g × x'], 3.0)
    >>> rule_of("mul", [two, three], three) is None
    True
    >>> rule_of("rdiv", [two], six).fields["said"], rule_of("sum", [np.ones(6)], six).fields["said"]
    (['12 / x', '−g × 12 / x²'], ['sum(x)', 'g'])
    """
    values = [np.asarray(value) for value in inputs if value is not None]
    if result is None or not values or len(values) < len(inputs) or max(v.size for v in (*values, result)) > MOST:
        return None
    z, close = np.asarray(result), HALF.get(dtype, CLOSE)
    with np.errstate(all="ignore"):
        for name in ["square"] * (NAMES.get(op, op) == "pow") + [NAMES.get(op, op)]:
            with suppress(Exception):  # what was changed in place had another shape
                said, given, first = _line(name, values, z, (op in NAMES and op[0] == "r") or re.match(r"-?\d", label))
                form = ARRAY_FORMS[KNOWN[name].code]
                if _near(np.asarray(form.forward(*given)), z, close):
                    kind = "float64" if dtype == "float64" else "float32"
                    return KnownRule(said, form.rules[first:], z, [given[0], given[-1]], {}, close, kind)
        return _of_arrays(op, values, z, close)


def _line(name: str, values: list[Array], z: Array, before: object) -> tuple[Fields, list[Array], int]:
    """What a line of the table says, its inputs, and the number of its first rule; where the program has a number
    beside its one input, that is solved for.
    """
    texts, first = KNOWN[name].texts, int(bool(before))
    if len(texts) == len(values) + 1:
        return said_of(texts), values, 0
    solved = SOLVED[name][first](values[0], z)
    number = f"{np.median(solved[np.isfinite(solved)]):.6g}"
    said = said_of([texts[0], texts[1 + first]], {"xy"[first]: "x", "yx"[first]: number})
    return said, [values[0], np.float64(number)][:: 1 - 2 * first], first


def _of_arrays(op: str, values: list[Array], z: Array, close: float) -> KnownRule | None:
    """The same of an operation on whole arrays: its arguments are those with which the table gives this result."""
    primitive, bias = TABLE.get(ARRAYS.get(op, "")), values[2:]
    if primitive is None:
        return None
    if bias:
        values, z = values[:2], z - bias[0]
    if primitive.name == "matmul":  # a vector is a row before a matrix, a column behind it
        x, y = values
        values = [x[None] if x.ndim == 1 else x, y[:, None] if y.ndim == 1 else y]
    least = 0.0
    if primitive.name.startswith("reduce"):  # its axes are an input in TensorFlow
        values, least = values[:1], close * np.abs(values[0]).max()
    found = []
    for attrs in _arguments(primitive.name, values[0], z):
        with suppress(Exception):
            out = primitive.forward(*values, **attrs)
            if _near(out.reshape(z.shape), z, close, least):
                found.append((out, values, attrs))
    if not found:
        return None
    said = of_arrays(primitive.name, found[0][2], np.ndim(found[0][0]))
    if bias:
        said = [f"{said[0]} + bias", *said[1:], "g"]
    assert isinstance(primitive.rules, tuple)
    rules = (*primitive.rules, lambda g, *_, **__: g)
    return KnownRule({"formula": "", "rule": [], "said": said}, rules, *found[0], close, sure=len(found) == 1)


def _arguments(name: str, x: Array, z: Array) -> list[Attributes]:
    """The arguments that an operation may have had."""
    flags = (False, True)
    if name == "matmul":
        return [{"transpose_a": a, "transpose_b": b} for a in flags for b in flags]
    if name in ("reshape", "transpose"):
        return [{"shape": z.shape} if name == "reshape" else {"perm": (1, 0)}]
    axes = range(x.ndim)
    if name.startswith("reduce"):
        return [{"axis": axis, "keepdims": x.ndim == z.ndim} for axis in ((*axes,), *zip(axes, strict=True))]
    return [{"axis": axis} for axis in axes]


def _near(given: Array, seen: Array, close: float, least: float = 0.0) -> bool:
    size = np.abs(seen[np.isfinite(seen)]).max(initial=least / close)
    return given.shape == seen.shape and np.allclose(given, seen, rtol=close, atol=close * size, equal_nan=True)
