"""``tf.autodiff.ForwardAccumulator``: Jacobian-vector products, computed forwards over the same rows.

The rules of the table are the derivatives of forward mode as well. An elementwise rule is linear in ``g`` and its
Jacobian diagonal, so it maps tangents as it maps adjoints. Of any other primitive the product is the transpose of its
rule: the gradient, with respect to ``g``, of what the rule returns.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from . import nest
from .above import above
from .backward import UnconnectedGradients, unconnected_zeros, zeros_of
from .block import Exit, block
from .convert import convert_to_tensor
from .logs import log_first_n
from .operation import apply
from .primitives import TABLE
from .primitives.elementwise import BY_CODE, FIRST_CODE
from .primitives.formula import reads
from .reach import reach, recorded_rules
from .record import Record
from .rows import CALL, operation_of
from .state import state
from .sweep import Sweep
from .tape import GradientTape
from .tensor import Tensor

if TYPE_CHECKING:
    from .rows import Call
    from .typed import End, Leaving, Result, Structure, Value

# operations that are linear in each input: their derivative in the direction t is the operation applied to t
LINEAR = {"reduce_sum", "reduce_mean", "reshape", "transpose", "slice", "unslice", "broadcast_to", "concat", "stack",
          "gather", "scatter_axis", "scatter_slices", "matmul", "conj", "cast"}  # fmt: skip


class ForwardTape(GradientTape):
    """The tape of an accumulator: it records what the accumulator will follow."""

    __slots__ = ("owner", "once")

    backward = False

    def __init__(self, owner: ForwardAccumulator) -> None:
        super().__init__(persistent=True, watch_accessed_variables=False)
        self.owner = weakref.ref(owner)
        self.once: dict[int, Tensor] = {}  # tangents of calls whose rule can be asked only once: py_function


def follow_custom(results: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
    """Tells the accumulators of this thread that a custom gradient stands between ``results`` and ``outputs``.

    What TensorFlow does, we do: the tangents of the operations inside win, and the custom gradient, which is asked at
    once, counts only where those have none.
    """
    for tape in [t for t in state.tapes if isinstance(t, ForwardTape)]:
        accumulator = tape.owner()
        if accumulator is not None:
            accumulator._follow(results, outputs)


class ForwardAccumulator:
    """Computes Jacobian-vector products of what runs in its block: ``jvp(y)`` is the derivative in a direction.

    ``tangents`` has the structure, shapes and dtypes of ``primals``; raises ValueError when a primal is given twice.
    Accumulators nest, and work inside and around gradient tapes.
    See https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator.

    >>> import minitape as tf
    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
    ...     y = tf.reduce_sum(x * x)
    >>> print(acc.jvp(y))
    tf.Tensor(4.0, shape=(), dtype=float32)
    """

    def __init__(self, primals: Structure, tangents: Structure) -> None:
        self._primals: list[End] = []
        self._tangents: list[Tensor] = []
        self._tape = ForwardTape(self)
        self._entered = False
        self._size: int | None = None  # how many directions a batch of them has
        self._outer: list[GradientTape] = []  # tapes around the block
        if _repeats(primals):
            raise ValueError(
                "Tensor {} was specified as a primal multiple times. This may indicate an error. If it was intended, "
                "please sum the corresponding tangents."
            )
        nest.assert_same_structure(primals, tangents)
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=False):
            self._watch(primal, tangent)

    @classmethod
    def _batch_accumulator(cls, primals: Structure, tangents: Structure) -> ForwardAccumulator:
        """An accumulator along several directions at once: each tangent has one more axis, the first."""
        leaves = nest.flatten(tangents)
        for primal, tangent in zip(nest.flatten(primals), leaves, strict=False):
            tangent.shape.assert_is_compatible_with([None, *primal.shape])
        accumulator = cls(primals, tangents)
        accumulator._size = leaves[0].shape[0]
        return accumulator

    def _watch(self, primal: End, tangent: Value) -> None:
        if not primal.dtype.is_floating:
            log_first_n(
                f"primal {primal.dtype!r}",
                f"The dtype of the watched primal must be floating (e.g. tf.float32), got {primal.dtype!r}",
            )
        tangent = convert_to_tensor(tangent, primal.dtype)
        for at, known in enumerate(self._primals):
            if known is primal:
                self._tangents[at] = self._tangents[at] + tangent
                return
        self._primals.append(primal)
        self._tangents.append(tangent)

    def __enter__(self) -> ForwardAccumulator:
        if self._tape._recording:
            raise ValueError("Accumulator is already recording.")
        self._outer = list(state.tapes)
        self._tape.__enter__()
        try:
            if not self._entered:
                self._tape.watch([p for p in self._primals if p.dtype.differentiable])
                self._entered = True
            return self
        except BaseException:  # Ctrl-C, say
            self._tape._leave()
            raise

    def _leave(self, *error: object) -> None:
        self._tape._leave()
        self._held = None

    __exit__: Leaving = Exit(_leave, lambda accumulator: accumulator._tape._recording)

    @block
    def _as_inside(self) -> Iterator[None]:
        """Tangents belong to the block: tapes around it record them whenever they are asked for, no others do."""
        with contextlib.ExitStack() as stack:
            for tape in [t for t in reversed(state.tapes) if t not in self._outer]:
                stack.enter_context(tape.stop_recording())
            for tape in self._outer:
                if not tape._recording and not tape._used:
                    stack.enter_context(tape)
            yield

    def jvp(self, primals: Structure, unconnected_gradients: object = UnconnectedGradients.NONE) -> Structure:
        """The derivative of each of ``primals`` in the direction of the tangents; None where they make no difference.

        >>> import minitape as tf
        >>> x = tf.constant([1.0, 2.0])
        >>> with tf.autodiff.ForwardAccumulator(x, tangents=tf.constant([1.0, 0.0])) as forward:
        ...     y = x * x
        >>> forward.jvp(y).numpy(), forward.jvp(tf.constant(1.0))
        (array([2., 0.], dtype=float32), None)
        """
        zero = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        leaves = nest.flatten(primals)
        for value in leaves:
            if not isinstance(value, Tensor) and not hasattr(value, "_tape_rows"):
                raise AttributeError(f"{type(value).__name__!r} object has no attribute '_id'")
        found = self._tangents_of(leaves)
        if zero:
            found = [unconnected_zeros(v) if t is None else t for v, t in zip(leaves, found, strict=True)]
        return nest.pack_sequence_as(primals, found)

    def _tangents_of(self, values: Sequence[End]) -> list[Tensor | None]:
        """The tangents of tensors and variables; None where there is none."""
        found = [next((t for p, t in zip(self._primals, self._tangents, strict=True) if p is v), None) for v in values]
        record, rows = self._tape._record, {}
        for at, value in enumerate(values):
            if found[at] is None and record is not None and value.dtype.differentiable:
                states = self._tape._rows_of(value)
                if states:
                    rows[at] = states[-1]
        if rows:
            with self._as_inside():
                found_here = self._push(list(rows.values()))
            for at, tangent in zip(rows, found_here, strict=True):
                found[at] = tangent
        return found

    def _push(self, rows: list[int]) -> list[Tensor | None]:
        if self._size is None:
            return push(self._tape, dict(self._starts(self._tangents)), rows)
        each = [push(self._tape, dict(self._starts([t[k] for t in self._tangents])), rows) for k in range(self._size)]
        stack = TABLE["stack"]
        return [None if c[0] is None else apply(stack, tuple(c), {"axis": 0}) for c in zip(*each, strict=True)]

    def _starts(self, tangents: list[Tensor]) -> Iterator[tuple[int, Tensor]]:
        for primal, tangent in zip(self._primals, tangents, strict=True):
            for row in self._tape._rows_of(primal):
                yield row, _placed(primal, tangent)

    def _follow(self, results: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """Takes over the tangents of a function with a custom gradient, see :func:`follow_custom`."""
        inside, by_gradient = self._tangents_of(results), self._tangents_of(outputs)
        for output, tangent, other in zip(outputs, inside, by_gradient, strict=True):
            if tangent is None and other is not None:  # in a graph a custom gradient hides what has no tangent
                tangent = other if state.graph is None else zeros_of(output)
            if tangent is not None:
                self._primals.append(output)
                self._tangents.append(tangent)
                assert self._tape._record is not None
                self._tape._watch_row(self._tape._record.enter(output))


def _repeats(primals: Structure) -> bool:
    leaves = nest.flatten(primals)
    return len({id(p) for p in leaves}) != len(leaves)


def _placed(primal: End, tangent: Tensor) -> Tensor:
    """The tangent in the shape of its primal; ValueError for one that cannot be broadcast, as TensorFlow raises for most of them."""
    have, wanted = tangent.shape, primal.shape
    if have is wanted or have == wanted or not (have.is_fully_defined() and wanted.is_fully_defined()):
        return tangent
    a, b = have.as_list(), wanted.as_list()
    if len(a) > len(b) or any(m not in (1, n) for m, n in zip(reversed(a), reversed(b), strict=False)):
        raise ValueError(
            f"The tangent has the shape {have}, which does not broadcast to the shape {wanted} of its primal."
        )
    return TABLE["broadcast_to"](tangent, shape=tuple(b))


def push(tape: GradientTape, tangents: dict[int, Tensor], targets: list[int]) -> list[Tensor | None]:
    """The tangents of the target rows, given those of the source rows; None for one that depends on none of them."""
    record = tape._record
    assert record is not None
    marks = reach(tape, set(tangents)) if tangents else None
    reached = [t for t in targets if marks is None or marks[t]]
    known = dict(tangents)
    kind = Sweep if type(record) is Record else record.sweeper  # a graph's own
    values = kind(record, {}, [], recorded=True)
    wanted, once = _ancestors(record, reached, min(known, default=0)), getattr(tape, "once", {})
    for row in range(min(known, default=0), max(reached, default=-1) + 1):
        if row in known or row not in wanted or (marks is not None and not marks[row]):
            continue
        if row in once:
            known[row] = once[row]
            continue
        op, a, b, _ = record.cell(row)
        if op >= FIRST_CODE:
            inputs = (a, b) if len(BY_CODE[op - FIRST_CODE].texts) > 2 else (a,)
            known_here = _elementwise(op, inputs, known, values, row)
            if known_here is not None:
                known[row] = known_here
        elif op == CALL:
            call = record.calls[a]
            _call(call, known, values)
            if call.primitive.op == "EagerPyFunc":
                once.update((r, known[r]) for r in range(call.row, call.row + call.outputs) if r in known)
    return [known.get(t) for t in targets]


def _ancestors(record: Record, rows: list[int], first: int) -> set[int]:
    """The rows from ``first`` on that these rows are computed from, themselves included; calls with all their outputs."""
    found: set[int] = set()
    stack = list(rows)
    while stack:
        row = stack.pop()
        if row in found or row < first:
            continue
        found.add(row)
        op, number, _, _ = record.cell(row)
        if op == CALL:
            call = record.calls[number]
            found.update(range(call.row, call.row + call.outputs))
        stack += operation_of(record, row)[1]
    return found


def _elementwise(
    code: int, inputs: tuple[int, ...], known: dict[int, Tensor], values: Sweep, row: int
) -> Tensor | None:
    rules, texts = recorded_rules(code), BY_CODE[code - FIRST_CODE].texts[1:]
    z, arguments = values.tensor(row), [values.tensor(i) for i in inputs]
    total = None
    for i, rule, text in zip(inputs, rules, texts, strict=False):
        if rule is not None and i in known and "g" in reads(text):
            part = rule(known[i], z, arguments[0], arguments[-1])
            total = part if total is None else total + part
    if total is not None and state.graph is not None and not z.shape.is_fully_defined():
        return total + zeros_of(z)
    if total is not None and tuple(total.shape) != tuple(z.shape):
        total = TABLE["broadcast_to"](total, shape=tuple(z.shape))
    return total


def _call(call: Call, known: dict[int, Tensor], values: Sweep) -> None:
    primitive = call.primitive
    if not any(i in known for i in call.inputs):
        return
    if primitive.rules is None:
        if primitive.missing == "unregistered" and values.tensor(call.row).dtype.differentiable:
            raise LookupError(f"gradient registry has no entry for: {primitive.op}")
        return
    if primitive.code:
        found = _elementwise(primitive.code, call.inputs, known, values, call.row)
        if found is not None:
            known[call.row] = found
        return
    inputs = [values.tensor(i) for i in call.inputs]
    if primitive.name in LINEAR:
        parts = []
        for slot, i in enumerate(call.inputs):
            if i in known and (callable(primitive.rules) or primitive.rules[slot] is not None):
                if callable(primitive.rules):  # concat, stack: linear in all inputs together
                    parts = [primitive(*[known.get(r, zeros_of(t)) for r, t in zip(call.inputs, inputs, strict=True)],
                                       **call.attrs)]  # fmt: skip
                    break
                parts.append(primitive(*[known[i] if s == slot else t for s, t in enumerate(inputs)], **call.attrs))
        if parts:
            known[call.row] = _sum(parts)
        return
    for output, tangent in enumerate(_transposed(call, inputs, known, values)):
        if tangent is not None:
            known[call.row + output] = tangent


def _transposed(call: Call, inputs: list[Tensor], known: dict[int, Tensor], values: Sweep) -> list[Tensor | None]:
    """The tangents of a call's outputs: the gradient of its rule with respect to the adjoint."""
    rows = range(call.row, call.row + call.outputs)
    outputs = [values.tensor(r) for r in rows]
    adjoints = [zeros_of(z) if z.dtype.differentiable else z for z in outputs]
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch([a for a in adjoints if a.dtype.differentiable])
        g: Result = adjoints[0] if call.outputs == 1 else tuple(adjoints)
        z: Result = outputs[0] if call.outputs == 1 else tuple(outputs)
        rules = call.primitive.rules
        if rules is None:
            shares = []
        elif state.graph is not None and not all(t.shape.is_fully_defined() for t in [*inputs, *outputs]):
            wanted = [i for i, r in enumerate(call.inputs) if r in known and (callable(rules) or rules[i] is not None)]
            shares = above.replay_row(call.primitive, call.attrs, adjoints, inputs, wanted)
        elif callable(rules):
            shares = list(rules(g, z, *inputs, **call.attrs))
        else:
            shares = [r(g, z, *inputs, **call.attrs) if r is not None and i in known else None
                      for r, i in zip(rules, call.inputs, strict=True)]  # fmt: skip
        pairs = [(_tensor(s), known[i]) for s, i in zip(shares, call.inputs, strict=True)
                 if s is not None and i in known]  # fmt: skip
    found: list[Tensor | None] = [None] * call.outputs
    if pairs:
        targets, tangents = zip(*pairs, strict=True)
        found = tape.gradient(list(targets), adjoints, output_gradients=list(tangents))
    return [zeros_of(z) if t is None and _hidden(call, at, known) else _tensor(t)
            for at, (t, z) in enumerate(zip(found, outputs, strict=True))]  # fmt: skip


def _hidden(call: Call, output: int, known: dict[int, Tensor]) -> bool:
    """True where TensorFlow cannot see that an output does not depend on its inputs: its tangent is zero, not None."""
    if call.primitive.name == "custom_gradient":
        return True
    taped = call.attrs.get("taped")
    return taped is not None and any(taped.connects(output, at) for at, row in enumerate(call.inputs) if row in known)


def _tensor(share: Result) -> Result:
    return share if share is None or isinstance(share, Tensor) else share.dense()


def _sum(parts: list[Tensor]) -> Tensor:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
