"""Shapes and dtypes of results without values: a primitive is run on cheap stand-ins of its inputs.

A stand-in is an array of the right shape that takes no memory (all its strides are zero). Sizes that are not known are
tried with several values: what changes with them is unknown in the result, too. So is what changes with the *values* of
the inputs (``boolean_mask``, ``unique``), which is found by a second run on other values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.block import During
from ..engine.recording.state import state
from ..engine.table.fp import ignore_fp_errors
from ..engine.table.primitives import Primitive
from ..engine.tensor.operation import CHECKS
from ..engine.values import dtypes
from ..engine.values.dtypes import dtype_of
from ..engine.values.errors import OpError
from ..engine.values.shape import TensorShape

if TYPE_CHECKING:
    from ..engine.recording.rows import Call
    from ..engine.types import Attributes, DTypeLike, Sizes, Value
    from .build import Graph
    from .types import Tensors

_STATIC = {"Shape", "Size", "Rank", "ShapeN"}  # operations that read nothing but the static shape
ELEMENTWISE = set(
    "SelectV2 Less LessEqual Greater GreaterEqual Equal NotEqual LogicalAnd LogicalOr LogicalNot Cast Add "
    "ZerosLike OnesLike Conj".split()
)
_BY_VALUE = {"Unique", "UniqueV2", "UniqueWithCounts", "Where", "Bincount", "Range", "Mask"}  # also for float inputs
# TensorFlow never knows how many
_ROWS_BY_VALUE = {"SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"}
_SHORTER = {"MatrixDiagPartV3", "Qr", "Svd"}  # as long as the shorter of two axes
_LARGE = 1 << 16  # elements from which on stand-ins are made smaller for elementwise operations

Spec = tuple[TensorShape, dtypes.DType]
Guess = tuple  # a size and a rank, for what is not known; and where it is one larger, see _unknown


class Mismatch(Exception):
    """Two sizes that must be equal are not."""




def check_dtypes(primitive: Primitive, inputs: tuple) -> None:
    """Raises the TypeError of TensorFlow's graphs when two operands have different dtypes."""
    if len(inputs) != 2 or not (primitive.code or primitive.op in _TWINS):
        return
    x, y = inputs
    if x.dtype != y.dtype:
        first, second = ("a", "b") if primitive.op in ("MatMul", "BatchMatMulV2") else ("x", "y")
        raise TypeError(
            f"Input '{second}' of '{primitive.op}' Op has type {y.dtype.name} that does not match type "
            f"{x.dtype.name} of argument '{first}'."
        )


_TWINS = {"Add", "MatMul", "BatchMatMulV2", "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"}


def outputs(primitive: Primitive, tensors: Tensors, attrs: Attributes) -> tuple[list[Spec], bool]:
    """(shape, dtype) of each output, and whether the primitive returns a tuple."""
    special = getattr(primitive, "infer", None)
    if special is not None:
        return special(tensors, attrs), True
    if primitive.code or primitive.op in ELEMENTWISE:
        shape = _broadcast([t.shape for t in tensors])
        specs, several = _specs([_run(primitive, [stand_in_array((), t.dtype, 1) for t in tensors], attrs)])
        return [(shape, specs[0][1])], several
    if primitive.op == "MatMul" and len(tensors) == 2:
        (x, y), turned = tensors, attrs.get
        if (x.shape.rank or 0) >= 2 and (y.shape.rank or 0) >= 2:
            m, n = x.shape[-2 if turned("transpose_a") else -1], y.shape[-1 if turned("transpose_b") else -2]
            if m is not None and n is not None and m != n:
                raise Mismatch(m, n)
    specs, several = _specs(_trials(primitive, tensors, attrs))
    if primitive.op in _ROWS_BY_VALUE and specs[0][0].rank:
        specs = [(TensorShape([None, *shape[1:]]), dtype) for shape, dtype in specs]
    return specs, several


def _trials(primitive: Primitive, tensors: Tensors, attrs: Attributes) -> list:
    """Results of the primitive that show which sizes depend on what."""
    errors: list[Exception] = []

    def runs(guesses: Iterable[Guess | None], kind: int, values: bool = True) -> Iterator[tuple[Guess | None, Any]]:
        for guess in guesses:
            try:
                arrays = [stand_in(t, guess, at, kind, values) for at, t in enumerate(tensors)]
                yield guess, _run(primitive, arrays, attrs)
            except (OpError, ValueError, IndexError, TypeError, ZeroDivisionError) as error:
                errors.append(error)

    known = all(t.shape.is_fully_defined() for t in tensors)
    guesses = (
        [None]
        if known
        else list(sizes_to_try(tensors, [9, 1] if primitive.op in _SHORTER else _beyond(tensors, attrs)))
    )
    ways = [(0, True), (0, False)]  # first with the values of constants; an index out of range is the run's business
    if all(t.dtype.kind in "fc" for t in tensors):
        ways.append((2, True))  # decompositions refuse matrices of zeros
    for way in ways:
        # two sizes show which of the result's depend on the unknown ones
        fitting = list(islice(runs(guesses, *way), 2))
        if fitting:
            break
    else:
        raise _refusal(primitive, tensors, errors[0], known)
    if primitive.op in _BY_VALUE or any(t.dtype.kind in "iub" and t.op.type != "Const" for t in tensors):
        fitting += runs([None] if known else islice(sizes_to_try(tensors), 1), 1)
    return [result for _, result in fitting]




def _refusal(primitive: Primitive, tensors: Tensors, error: Exception, known: bool) -> Exception:
    if isinstance(error, OpError):
        return error
    refusal: Any = ValueError(f"{error} (in {primitive.op} of {', '.join(map(repr, tensors))})")
    refusal.unsettled = not known  # another size may do: the run will say
    refusal.__cause__ = error
    return refusal


def _beyond(tensors: Tensors, attrs: Attributes) -> list[int]:
    """Sizes that tell how many windows of a convolution or of pooling fit in; none for other operations."""
    if "strides" not in attrs:
        return []
    window = attrs["size"] if "size" in attrs else tensors[1].shape.as_list()[:2] if tensors[1].shape.rank else []
    reach = max([n or 1 for n in window], default=1) * max(attrs.get("dilations", (1,)))
    step = max(attrs["strides"])
    return [reach + 2 * step, reach + step]


def sizes_to_try(tensors: Tensors, first: list[int] | None = None) -> Iterator[tuple[int, int]]:
    """(size for unknown sizes, rank for unknown ranks) to try, in turn: those in ``first``, then others."""
    sizes = {d for t in tensors if t.shape.rank is not None for d in t.shape.as_list() if d is not None and d > 1}
    ranks = sorted({t.shape.rank for t in tensors if t.shape.rank is not None}) or [2]
    unknown_rank = any(t.shape.rank is None for t in tensors)
    tries = list(dict.fromkeys([*(first or ()), 7, 5, *sorted(sizes), 4, 1, 2, 3, 6, 8]))
    if unknown_rank:  # first ranks and sizes that all differ: a result that differs, too, has an unknown shape
        ranks = list(dict.fromkeys([*ranks, 2, 1, 3, 0, 4]))
        yield from zip(tries, ranks, strict=False)
    for number, rank in enumerate(ranks if unknown_rank else ranks[:1]):
        for size in tries:
            if not unknown_rank or size != tries[number]:
                yield size, rank


def stand_in(tensor: Value, guess: Guess | None, at: int, kind: int, values: bool) -> Any:
    """An array for tensor number ``at``, with its value where constants determine it, if ``values`` are wanted."""
    value = tensor.graph.folded.get(tensor._row) if values else None
    if value is not None:
        return value
    shape, (size, rank, *other) = tensor.shape, guess or (0, 0)
    if shape.rank is None:
        sizes = (size,) * rank
    else:
        larger = {axis for number, axis in (other[0] if other else ()) if number == at}
        sizes = tuple((size + (axis in larger) if d is None else d) for axis, d in enumerate(shape.as_list()))
    return stand_in_array(sizes, tensor.dtype, kind)


def stand_in_array(sizes: Sizes, dtype: DTypeLike, kind: int) -> Any:
    """An array of zeros without memory of its own (kind 0), of different values (1), or of unit matrices (2)."""
    if dtype.kind == "s":
        return np.broadcast_to(np.array(b"", object), sizes) if sizes else np.array(b"", object)
    if kind == 2 and len(sizes) >= 2:
        return np.broadcast_to(np.eye(*sizes[-2:], dtype=dtype.as_numpy_dtype), sizes)
    if kind == 0 or not sizes:
        made = np.broadcast_to(np.asarray(kind).astype(dtype.as_numpy_dtype), sizes)
        return made if sizes else made[()]
    count = int(np.prod(sizes))
    return (np.arange(count) % 97).astype(dtype.as_numpy_dtype).reshape(sizes)


def _run(primitive: Primitive, arrays: list, attrs: Attributes) -> Any:
    if primitive.op == "GatherV2" and not arrays[0].shape[attrs["axis"]]:  # no index fits, which is the run's business
        arrays[0] = stand_in_array(tuple(n or 1 for n in arrays[0].shape), dtype_of(arrays[0]), 0)
    return ignore_fp_errors().run(primitive.forward, *arrays, **attrs)


def _specs(results: list) -> tuple[list[Spec], bool]:
    """What all results have in common."""
    several = type(results[0]) is tuple
    rows = [r if several else (r,) for r in results]
    if any(len(r) != len(rows[0]) for r in rows):
        rows = rows[:1]
    specs = []
    for column in zip(*rows, strict=True):
        arrays = [np.asarray(c) for c in column]
        shape = TensorShape(arrays[0].shape)
        for other in arrays[1:]:
            shape = shape.most_specific_compatible_shape(TensorShape(other.shape))
        specs.append((shape, dtype_of(arrays[0])))
    return specs, several


def _broadcast(shapes: list[TensorShape]) -> TensorShape:
    """The shape of an elementwise result; Mismatch when the shapes do not broadcast."""
    known = [s.as_list() for s in shapes if s.rank is not None]
    if len(known) < len(shapes):
        return TensorShape(None)
    sizes: list[int | None] = []
    for axis in range(1, max(map(len, known)) + 1):
        size: int | None = 1
        for s in known:
            d = s[-axis] if axis <= len(s) else 1
            if d == 1 or d == size:
                continue
            if size == 1:
                size = d
            elif d is None:
                continue
            elif size is None:
                size = d
            else:
                raise Mismatch(size, d)
        sizes.append(size)
    return TensorShape(sizes[::-1])


def fold(graph: Graph, call: Call) -> None:
    """Notes the values of a call whose inputs are constants, or which reads only shapes that are known."""
    primitive = call.primitive
    if primitive.stateful or getattr(primitive, "infer", None) is not None:
        return
    inputs = [graph.tensors[r] for r in call.inputs]
    if primitive.op in CHECKS and inputs[0].dtype.is_integer:  # may be refused when it runs
        return
    if primitive.op in _STATIC or primitive.op in ("ZerosLike", "OnesLike"):
        if not all(t.shape.is_fully_defined() for t in inputs):
            if primitive.op == "Rank" and inputs[0].shape.rank is not None:
                graph.folded[call.row] = np.int32(inputs[0].shape.rank)
            return
        arrays = [stand_in_array(tuple(t.shape), t.dtype, 0) for t in inputs]
    else:
        arrays = [graph.folded.get(r) for r in call.inputs]
        if any(a is None for a in arrays) or sum(np.size(a) for a in arrays) > _LARGE:
            part = _part_of_shape(graph, call)
            if part is not None:
                graph.folded[call.row] = part
            return
    try:
        found = _run(primitive, arrays, call.attrs)
    except (OpError, ValueError, IndexError, TypeError):
        return
    found = found if type(found) is tuple else (found,)
    if sum(np.size(f) for f in found) <= _LARGE:
        graph.folded.update({call.row + i: value for i, value in enumerate(found)})


def _part_of_shape(graph: Graph, call: Call) -> Any:
    """A known size picked out of a shape of which others are unknown: ``tf.shape(x)[1]``."""
    if call.primitive.op != "StridedSlice" or len(call.inputs) != 1:
        return None
    op = graph.op_of.get(call.inputs[0])
    if op is None or op.type != "Shape":
        return None
    sizes = op.inputs[0].shape
    if sizes.rank is None:
        return None
    picked = np.array([-1 if d is None else d for d in sizes.as_list()], op.outputs[0].dtype.as_numpy_dtype)
    found = call.primitive.forward(picked, **call.attrs)
    return None if np.any(found < 0) else found


def trying() -> AbstractContextManager[None]:
    """A block for operations on stand-ins: variables keep their values, and endless loops are stopped."""
    return During(state, trying=True)
