"""Functions of minitape that need values or shapes which only a run of the graph has: they are called when it runs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.recording.block import no_tapes
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE
from ..engine.tensor.tensor import EagerTensor, Tensor, new_tensor
from ..engine.values import nest
from ..engine.values.shape import TensorShape
from .effects import add_effect
from .failures import raising_primitive
from .infer import sizes_to_try, stand_in_array, trying
from .naming import name_table
from .program import Program, find_needed
from .slicing import SlicePlace
from .symbolic import SymbolicTensor
from .values import current

if TYPE_CHECKING:
    from ..engine.types import Function, Value
    from .types import Arguments, Names, Tensors

Guess = tuple[int, int]  # a size and a rank, for what is not known

# what TensorFlow calls the result of a function that is put off here
_NAMES = name_table("""
sequence_mask=SequenceMask/Less histogram_fixed_width=histogram_fixed_width linspace=linspace/Slice
meshgrid=meshgrid/mul as_string=AsString argsort=argsort/TopKV2 sort=sort/TopKV2 tensordot=Tensordot
einsum=einsum/Einsum confusion_matrix=confusion_matrix/ScatterNd foldl=foldl/while
scan=scan/TensorArrayV2Stack/TensorListStack map_fn=map/TensorArrayV2Stack/TensorListStack
bincount=bincount/DenseBincount pad=Pad conv1d=conv1d/Squeeze boolean_mask=boolean_mask/GatherV2
transpose=transpose norm=norm/Squeeze tensor_scatter_nd_update=TensorScatterUpdate
tensor_scatter_nd_add=TensorScatterAdd tensor_scatter_nd_max=TensorScatterMax scatter_nd=ScatterNd
unstack=unstack concat=concat stack=stack split=split gather=GatherV2 gather_nd=GatherNd
expand_dims=ExpandDims squeeze=Squeeze roll=Roll repeat=Repeat/Reshape_1 reshape=Reshape tile=Tile
broadcast_to=BroadcastTo reverse=ReverseV2 one_hot=one_hot matmul=MatMul fill=Fill format=StringFormat
where=SelectV2 zeros=zeros ones=ones range=range slice=Slice
softmax_cross_entropy_with_logits=softmax_cross_entropy_with_logits/Reshape_2 top_k=TopKV2
sparse_softmax_cross_entropy_with_logits=SparseSoftmaxCrossEntropyWithLogits/Reshape_2 reduce_join=ReduceJoin
substr=Substr join=StringJoin length=StringLength
""")


def refuse(function: Function, args: Arguments, kwargs: Names, error: Exception) -> Any:
    """Adds a row that raises an error which TensorFlow does not see while it traces a call of ``function``."""
    tensors = [t for leaf in nest.flatten([list(args), kwargs]) if isinstance(t := _as_leaf(leaf), Tensor)]
    if not tensors:
        raise error
    row = raising_primitive(TABLE["identity"], error, tensors)
    return state.graph.apply(row, tuple(tensors), {}, _NAMES.get(getattr(function, "__name__", "")))[0]


class Postponed:
    """A call that waits for tensors: where they go, a :class:`SlicePlace` is among the arguments."""

    def __init__(self, function: Function, args: list, kwargs: Names) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs

    def run(self, tensors: Tensors) -> Any:
        """What the function gives for these tensors."""
        args, kwargs = nest.map_structure(
            lambda v: tensors[v.number] if type(v) is SlicePlace else v, (self.args, self.kwargs)
        )
        return self.function(*args, **kwargs)

    def __call__(self, *tensors: Any) -> list:
        return nest.flatten(self.run(tensors))


_BY_VALUES = {"boolean_mask", "dynamic_partition"}  # sizes of results hang on values


def postpone(function: Function, args: Arguments, kwargs: Names) -> list | None:
    """Adds a row that calls ``function`` with eager tensors; [result], or None when even trial calls fail."""
    symbolic: list = []

    def leaf(value: Value) -> Any:
        value = _as_leaf(value)
        if type(value) is SymbolicTensor:
            symbolic.append(value)
            return SlicePlace(len(symbolic) - 1)
        return value

    called = Postponed(function, *nest.map_structure(leaf, (list(args), kwargs)))
    name = getattr(function, "__name__", "")
    structure, specs = _try_calls(called.run, symbolic, "conv" in name or "pool" in name, name in _BY_VALUES)
    if specs is None:
        return None
    found = add_effect(called, symbolic, specs, name=_NAMES.get(name))
    return [nest.pack_sequence_as(structure, found)]


def _as_leaf(leaf: Value) -> Any:
    """The graph's tensor for a variable's value, or for an eager tensor with respect to which gradients are possible;
    others unchanged.
    """
    leaf = current(leaf)
    if type(leaf) is EagerTensor and leaf.dtype.differentiable:
        return state.graph.tensor_at(state.graph.row_or_new_leaf(leaf))
    return leaf


# -- trial calls -----------------------------------------------------------------------------------


def _try_calls(run: Any, symbolic: Tensors, has_windows: bool, by_values: bool) -> tuple:
    """What trial calls gave: a result, and (shape, dtype) of each tensor in it; these are None where all calls fail."""

    def trials(guess: Guess, *kinds: int, apart: bool = False) -> list:
        return [r for kind in kinds if (r := _trial(run, symbolic, guess, kind, apart)) is not None]

    known = all(t.shape.is_fully_defined() for t in symbolic)
    results: list = []
    fitting = 0
    for guess in itertools.islice(sizes_to_try(symbolic), 3 if known else None):
        found = trials(guess, 0, 1)
        results += found
        fitting += bool(found)
        if fitting == 3:
            break
    if by_values:  # what the graph computes of positive numbers may be true throughout, and no filter then
        results += trials(guess, 0, 1, apart=True)
    if not results and not known:  # what a branch gives here may fit where the other one's does not
        results = [r for guess in sizes_to_try(symbolic) for r in trials(guess, 0, apart=True)]
        fitting = len(results)
    if not results:  # an axis, or what counts from 0, can be nothing else
        for guess in itertools.islice(sizes_to_try(symbolic), 8):
            results += trials(guess, 2) or trials(guess, 3)
        known = True  # as far as other trials can tell
    if not results:
        return None, None
    if not known:  # a branch that the graph took above gives one of several shapes
        results += [r for at in itertools.islice(sizes_to_try(symbolic), 2) for r in trials(at, 0, apart=True)]
        if has_windows:  # and reach beyond them
            results += trials((40, guess[1]), 0)
    if any(t.dtype.is_integer and t.shape.rank == 0 for t in symbolic):  # a size, perhaps: others show what comes of it
        results += trials(guess, 4, 5)
    certain = fitting > 1 or (fitting == 1 and known and len(results) > 1)
    flat = [nest.flatten(r) for r in results]
    if not all(isinstance(t, Tensor) for t in flat[0]) or any(len(f) != len(flat[0]) for f in flat):
        return results[0], None  # nor can a row give as many tensors as there are elements
    return results[0], [_common([f[i] for f in flat], certain) for i in range(len(flat[0]))]


def _trial(run: Any, symbolic: Tensors, guess: Guess, kind: int, apart: bool = False) -> Any:
    tensors = None if apart else _consistent_values(symbolic, guess, kind)
    if tensors is None:
        tensors = _apart(symbolic, guess, kind)
    try:
        with trying(), no_tapes():
            return run(tensors)
    except Exception:  # the user's own function: what it refuses is said when the graph runs
        return None


def _consistent_values(symbolic: Tensors, guess: Guess, kind: int) -> list | None:
    """Stand-ins for several tensors from one run: placeholders get values, and the graph computes the rest."""
    graph = state.graph
    rows = [graph.row_or_new_leaf(t) for t in symbolic]
    calls, leaves = find_needed(graph, rows, [], ())
    if any(c.primitive.stateful and c.primitive.op != "ReadVariableOp" for c in calls):
        return None
    places = [graph.tensors[r] for r in leaves if graph.leaves[r].tensor is None]
    try:
        arrays = [t.array for t in _apart(places, guess, kind)]
        with trying():
            found = [new_tensor(a) for a in Program(graph, rows, [t._row for t in places]).run(arrays)]
    except Exception:  # any operation before may refuse the stand-ins
        return None
    # where nothing passed a filter of values, nothing is to be learned
    empty = any(0 in made.shape and not t.shape.is_fully_defined() for made, t in zip(found, symbolic, strict=True))
    return None if empty else found


def _apart(symbolic: Tensors, guess: Guess, kind: int) -> list:
    """A stand-in for each tensor by itself; whole numbers of kind 2 are 0, of kind 3 they are 1."""
    tensors: list = []
    size, rank = guess
    for t in symbolic:
        if t.shape.rank is None:
            sizes = (size,) * rank
        else:
            sizes = tuple(size if d is None else d for d in t.shape.as_list())
        if t.dtype.kind == "s":
            value = stand_in_array(sizes, t.dtype, kind % 2)
        elif kind in (2, 3) and t.dtype.is_integer:
            value = np.full(sizes, kind - 2, t.dtype.as_numpy_dtype)
        elif kind == 0 or not sizes:
            value = np.full(sizes, 2 + 3 * kind + len(tensors), t.dtype.as_numpy_dtype)
        else:
            value = stand_in_array(sizes, t.dtype, 1)
        tensors.append(new_tensor(np.array(value)))
    return tensors


def _common(tensors: Tensors, certain: bool) -> Any:
    if not certain:  # one trial alone does not tell which sizes depend on what
        return TensorShape([None] * len(tensors[0].shape)), tensors[0].dtype
    sizes = tensors[0].shape
    for other in tensors[1:]:
        sizes = sizes.most_specific_compatible_shape(other.shape)
    if sizes.rank:  # where nothing is left in any trial, it may have been filtered by values
        sizes = TensorShape([n or None for n in sizes])
    return sizes, tensors[0].dtype
