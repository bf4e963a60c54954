"""The gradients of a tape's targets: what may be asked for, where a sweep starts, and what has arrived at the sources."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from operator import is_
from sys import _getframe
from typing import TYPE_CHECKING

import numpy as np

from . import nest
from .above import above
from .accelerator import filled
from .frames import user_frame
from .invalid import invalid
from .operation import check_broadcast, check_same_dtype
from .primitives import BATCHES, TABLE
from .reach import breadth_first, differentiable, on_tape, reach
from .record import Record
from .slices import IndexedSlices
from .state import more, state
from .sweep import UNPACKED, Sweep, unbroadcast
from .tensor import EagerTensor, Tensor, bare, wrap

if TYPE_CHECKING:
    from .tape import GradientTape
    from .typed import Adjoint, End, Object, Result, Structure

ONE = {np.dtype(real): real(1) for real in (np.float32, np.float64)}
NO_SEED = object()  # None among the output gradients, which no operation takes


def gradients_of(tape: GradientTape, targets: list[End], sources: list[End], seeds: list[Adjoint]) -> list[Result]:
    """The gradients of targets that start with these adjoints (None: ones) with respect to each source; None for some."""
    recorded = bool(state.tapes) or state.graph is not None
    heads, ends = rows_of(tape, targets), rows_of(tape, sources)
    one: Adjoint
    starts: dict[int, Adjoint] = {}
    passed: list[int] = []  # the targets whose output gradients no operation receives
    for at, rows in enumerate(heads):
        target, seed = targets[at], seeds[at]
        if seed is None and rows and type(target) is EagerTensor and (one := ONE.get(target._value.dtype)) is not None:
            shape, row = target._value.shape, rows[0]
            one = filled(shape, one.dtype, 1) if shape else one
        elif rows and target.dtype.kind != "s":  # also integers: the operation that made them says what passes
            row = rows[-1]
            if seed is NO_SEED:
                if on_tape(tape)[row]:
                    raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) "
                                     "to a Tensor.")  # fmt: skip
                seed = seeds[at] = None
            if seed is not None and _passes(tape, target, row, seed):
                passed.append(at)
                continue
            one = seed_of(target, seed, recorded)
        else:
            continue
        if recorded and type(one) in (np.ndarray, np.float32, np.float64):
            one = wrap(one)
        starts[row] = starts[row] + one if row in starts else one
    found = sweep(tape, starts, ends, recorded)
    for at, g in enumerate(found):
        if g is None:
            found[at] = _same(tape, sources[at], targets, seeds)
        elif passed:
            parts = [seeds[i] for i in passed if targets[i] is sources[at]]
            found[at] = _add_n([*parts, g]) if parts else g
    return found


def _passes(tape: GradientTape, target: End, row: int, seed: Adjoint) -> bool:
    """Whether an output gradient unlike its target meets no operation that minds, so that it is the gradient."""
    record = tape._record
    if type(record) is not Record or not isinstance(seed, Tensor):
        return False
    if seed.dtype is target.dtype and seed.shape == target.shape:
        return False
    return row in record.leaves or not on_tape(tape)[row]


def _same(tape: GradientTape, source: End, targets: list[End], seeds: list[Adjoint]) -> Result:
    """A source that no row knows has a gradient only where it is itself a target."""
    if source.dtype.kind == "s":
        return None
    parts: list[Result] = []
    for target, seed in zip(targets, seeds, strict=True):
        seed = None if seed is NO_SEED else seed
        if target is source or getattr(target, "_base", target) is getattr(source, "_base", source):
            if seed is not None and not isinstance(seed, Tensor):
                return wrap(seed.data) if reads_target(tape, target) else None  # a Jacobian's
            parts.append(seed_of(target, None, True) if seed is None else seed)
    return _add_n(parts) if parts else None


def _add_n(gradients: list[Result]) -> Result:
    """The sum of gradients; InvalidArgumentError for unlike dtypes or shapes."""
    return gradients[0] if len(gradients) == 1 else above.add_n(gradients)


def rows_of(tape: GradientTape, values: list[End]) -> list[tuple[int, ...]]:
    """The rows that hold these tensors, or the states of these variables, in a tape's recording.

    Raises what TensorFlow raises for anything else.
    """
    record = tape._record
    found: list[tuple[int, ...]] = []
    for value in values:
        if type(value) is EagerTensor:
            if value._record is record is not None:
                found.append((value._row,))
                continue
            row = None if record is None else record.find(value)
            found.append(() if row is None else (row,))
        elif hasattr(value, "_tape_rows"):
            found.append(value._tape_rows(tape))
        else:
            raise no_tensor(values)
    return found


def sweep(
    tape: GradientTape, seeds: dict[int, Adjoint], ends: Sequence[tuple[int, ...]], recorded: bool
) -> list[Result]:
    """The gradients that these seeds (adjoints by row) give sources with the rows ``ends``: tensors, IndexedSlices, None.

    ``recorded`` when an outer tape, or the graph that is being built, is to know how they were computed.
    """
    record = tape._record
    nothing: list[Result] = [None] * len(ends)
    if record is None:
        return nothing
    wanted = set()
    columns = record.columns() if type(record) is Record and len(record) <= UNPACKED else None
    for rows in ends if seeds else ():
        for row in rows:
            if (columns[-1][row].dtype.kind in "fcV") if columns else differentiable(record, row):
                wanted.add(row)
    asked = _asked_anyway(record) if seeds and record.asked else None
    if not wanted and not asked:
        return nothing
    marks = reach(tape, wanted | asked if asked else wanted, columns)
    if marks is not None:
        if not all(map(marks.__getitem__, wanted)) or not all(map(marks.__getitem__, seeds)):
            wanted = {row for row in wanted if marks[row]}
            seeds = {row: seed for row, seed in seeds.items() if marks[row]}
        if not seeds or not (wanted or asked):
            return nothing
    kind = Sweep if type(record) is Record else record.sweeper  # a graph's own
    found: Sweep = kind(record, seeds, wanted, marks, recorded=recorded, columns=columns)
    if asked:  # functions of the user are called in TensorFlow's order
        found.low = min(found.low, *asked)
        if found.long is None:
            found.order = breadth_first(record, seeds)
    before = state.by
    try:
        state.by = tape
        if recorded and state.record is not None:
            _recorded(tape, found, before)
        else:
            found.run()
    finally:
        state.by = before
    gradients = []
    arrived = found.adjoints.get if found.long is None else found.adjoint
    for rows in ends:
        g = arrived(rows[0]) if len(rows) == 1 and rows[0] in wanted else None
        if (len(rows) > 1 and g is None) or type(g) is IndexedSlices or type(g) in BATCHES:
            g = _total(found, [row for row in rows if row in wanted])
        gradients.append(g if g is None or isinstance(g, (Tensor, IndexedSlices)) else bare(g))
    return gradients


def _recorded(tape: GradientTape, found: Sweep, by: GradientTape | None) -> None:
    """Runs a sweep that writes rows: they all belong to the statement that asked for it, and to its tape."""
    outer, site = state.record, state.site
    assert outer is not None
    fixed = outer.fixed
    try:
        if site is None:
            frame = user_frame(_getframe(1))
            state.site = None if frame is None else (frame.f_code, frame.f_lasti)
        outer.by_marks = more(outer.by_marks, (len(outer), outer.member(tape)))
        outer.fix(state.site)
        found.run()
    finally:
        state.site, outer.fixed = site, fixed
        outer.by_marks = more(outer.by_marks, (len(outer), None if by is None else outer.member(by)))


def _asked_anyway(record: Record) -> set[int]:
    """The inputs of calls whose gradient does more than give shares, which TensorFlow asks whether they lead to a source or not.

    These are functions of the user, and operations without a gradient, which are refused.
    """
    return {row for call in record.asked for row in call.inputs if differentiable(record, row)}


def _total(found: Sweep, rows: Sequence[int]) -> Result:
    """What has arrived at the rows of a source, together."""
    parts = [(row, a) for row in rows if (a := found.adjoint(row)) is not None]
    if len(parts) != 1 or type(parts[0][1]) is not IndexedSlices:
        total = _sum([a.dense() if type(a) is IndexedSlices else a for _, a in parts])
    elif type(parts[0][1].values) in BATCHES:
        total = parts[0][1].dense()
    else:
        slices = found.slices_at(parts[0][0])
        return slices if isinstance(slices.values, Tensor) else IndexedSlices(*map(wrap, slices._components()))
    return wrap(total.data) if type(total) in BATCHES else total


def _sum(parts: list[Adjoint]) -> Adjoint:
    return sum(parts[1:], parts[0]) if parts else None


# -- what may be given as targets and sources -------------------------------------------------------------------------


class UnconnectedGradients(Enum):
    """What ``gradient`` returns for a source that the target does not depend on: None or zeros.

    >>> import minitape as tf
    >>> tf.UnconnectedGradients.ZERO.value
    'zero'
    """

    NONE = "none"
    ZERO = "zero"


def no_tensor(values: Sequence[object]) -> Exception:
    """The error for targets or sources of which some are no tensors: TensorFlow takes each for a dtype first."""
    plain = next((v for v in values if type(v) is not EagerTensor and not hasattr(v, "_tape_rows")), None)
    return above.why_no_tensor(_for_no_tensor(values), plain)


def _for_no_tensor(values: Sequence[Object]) -> Exception:
    from .dtypes import as_dtype

    first = None
    for value in values:
        if type(value) is EagerTensor or hasattr(value, "_tape_rows"):
            continue
        missing = "_id"
        if not hasattr(value, "dtype"):
            try:
                number = isinstance(value, float) and value.is_integer()
                missing = "_id" if as_dtype(int(value) if number else value).differentiable else "dtype"
            except TypeError as error:
                return error
        kind = type(value)
        plain = kind.__module__ == "builtins" or kind.__flags__ & 1 << 9  # classes of Python go without their module
        name = kind.__name__ if plain else f"{kind.__module__}.{kind.__name__}"
        owner = f"type object {value.__name__!r}" if isinstance(value, type) else f"{name!r} object"
        found = AttributeError(f"{owner} has no attribute {missing!r}")
        if missing == "dtype":
            return found
        first = first or found
    return first or AttributeError("no tensor")


def wants_zeros(unconnected_gradients: object) -> bool:
    """True for "zero", False for "none"; ValueError otherwise."""
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None


def given_seeds(output_gradients: Structure, count: int) -> list[Adjoint]:
    """The adjoints that the user gives to the targets; missing ones are ones, superfluous ones are left over."""
    from .convert import convert_to_tensor

    given = [NO_SEED if g is None else g if hasattr(g, "_gradient_leaf") else convert_to_tensor(g)
             for g in nest.flatten(output_gradients)][:count]  # fmt: skip
    return [*map(leaf_of, given)] + [None] * (count - len(given))


def leaf_of(value: End) -> End:
    """What carries the gradient of a composite (ragged, sparse, a Keras variable): its flat values; else ``value``."""
    return value if type(value) is EagerTensor or not hasattr(value, "_gradient_leaf") else value._gradient_leaf()


def flat_leaf(value: End) -> End:
    """The tensor of a ragged tensor that gradients flow through, of another value itself; ValueError for sparse ones."""
    return value._gradient_leaf() if hasattr(value, "_composite") and hasattr(value, "_gradient_leaf") else value


def like_flat(value: End, tensor: Result) -> Result:
    """``tensor`` in the place of ``flat_leaf(value)``."""
    return value._like_gradient(tensor) if hasattr(value, "_composite") and hasattr(value, "_like_gradient") else tensor


def ends_of(structure: Structure) -> tuple[list[End], list[End]]:
    """What is in a structure of targets or sources, and what carries their gradients: mostly the very same list."""
    if type(structure) is EagerTensor:
        values = [structure]
        return values, values
    values = nest.flatten(structure)
    for value in values:
        if type(value) is not EagerTensor and hasattr(value, "_gradient_leaf"):
            return values, [leaf_of(v) for v in values]
    return values, values


def reads_target(tape: GradientTape, target: End) -> bool:
    """Whether the tape sees that a Jacobian takes the elements out of its target: where that is a variable to watch."""
    if not hasattr(target, "_read"):
        return False
    variable: Object = getattr(
        target, "_base", target
    )  # what an assignment returned is watched only where its variable is
    return id(variable) in tape.variables or (
        variable is target and target.trainable and tape._watch_accessed_variables
    )


def packed(structure: Structure, values: list[End], gradients: list[Result]) -> Structure:
    """The gradients of ``values``, which are what is in the structure, in the same structure."""
    if type(structure) is list:
        if len(structure) == len(values) and all(map(is_, structure, values)):
            return gradients
    elif values and structure is values[0]:
        return gradients[0]
    return nest.pack_sequence_as(structure, gradients)


def seed_of(target: End, seed: Adjoint, recorded: bool) -> Adjoint:
    """The adjoint that a target starts with: ones, or what the user gave."""
    if seed is not None:
        if not isinstance(seed, Tensor):
            return seed  # a batch of adjoints
        if seed.dtype is not target.dtype:
            check_same_dtype("Mul", seed, target)
        if seed.shape != target.shape:
            check_broadcast("Mul", seed, target)
            _refuse_other_size(seed, target)
        return seed if recorded else unbroadcast(seed.array, tuple(target.shape))
    if type(target) is not EagerTensor and recorded and not hasattr(target, "_state"):  # of a graph
        return TABLE["ones_like"](target)
    shape = target._dims if type(target) is EagerTensor else tuple(target.shape)
    one = filled(shape, target.dtype.as_numpy_dtype, 1)[()]
    return wrap(one) if recorded else one


def _refuse_other_size(seed: Tensor, target: End) -> None:
    """InvalidArgumentError for an output gradient that makes its target larger, or empty: no rule could place the elements."""
    if seed.shape.is_fully_defined() and target.shape.is_fully_defined():
        a, b = (tuple(n for n in shape if n is not None) for shape in (seed.shape, target.shape))  # all are known
        given, wanted = math.prod(np.broadcast_shapes(a, b)), math.prod(b)
        if given != wanted:
            raise invalid(f"Input to reshape is a tensor with {given} values, but the requested shape has {wanted}",
                          "Reshape")  # fmt: skip


def unconnected_zeros(source: End) -> Tensor:
    """What a source without a gradient gets where zeros are asked for; open tapes record how it was made."""
    if state.graph is None:
        value = source._read() if hasattr(source, "_read") else source  # which tapes count as an access
        if state.tapes and type(value) is EagerTensor and source.dtype.kind != "s":
            return TABLE["zeros_like"](value)
    return zeros_of(source)


def zeros_of(source: End) -> Tensor:
    """Zeros in the shape and dtype of a source, which no tape knows."""
    if state.graph is not None and isinstance(source, Tensor):
        return TABLE["stop_gradient"](TABLE["zeros_like"](source))  # a constant: nothing follows from the source
    zero = b"" if source.dtype.kind == "s" else 0
    return wrap(np.full(tuple(source.shape), zero, source.dtype.as_numpy_dtype))
