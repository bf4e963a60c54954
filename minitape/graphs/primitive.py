"""Primitives that only graphs have: they know their outputs' shapes, may have effects, and can be run eagerly.

``eager(tensors, attrs)`` runs one on eager tensors, so that an open tape records what it is made of. Its derivative
comes from there: the rule runs it again under a tape. Inside a graph the rule adds one row that will do so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.back.tape import GradientTape
from ..engine.back.values import match_input, unbroadcast
from ..engine.recording.block import no_tapes
from ..engine.recording.state import state
from ..engine.table.primitives import TABLE, Primitive
from ..engine.tensor.operation import apply
from ..engine.tensor.tensor import Tensor, new_tensor
from ..engine.values.dtypes import string
from ..engine.values.shape import TensorShape

if TYPE_CHECKING:
    from ..engine.types import Adjoint, Array, Attributes, Value
    from .build import Graph
    from .types import Tensors


class GraphPrimitive(Primitive):
    """A primitive of graphs; ``forward`` always returns a tuple.

    ``infer(tensors, attrs)`` gives (shape, dtype) of each output. ``stateful`` operations run in the order in which
    they were written. ``rules="replay"`` is the rule described above. ``symbolic_rule`` says that the rules need no
    shapes.
    ``connects(attrs, at)`` says whether a gradient passes to input ``at`` at all. One with effects may be noted:
    ``noting`` is its forward function then, whose last output says what they gave. ``eager`` finds it as
    attrs["notes"]; ``unnoted`` runs where it is not read.
    """

    replayed: Any = None  # runs the row again where neither ``eager`` nor its rule would do
    copied: Any = None  # gives the attributes that it has in another graph

    def __init__(
        self,
        name: str,
        op: str,
        infer: Any,
        *,
        eager: Callable | None = None,
        forward: Any = None,
        rules: Any = "replay",
        stateful: bool = False,
        symbolic_rule: bool = True,
        missing: str = "none",
        noting: Any = None,
        connects: Callable[[Attributes, int], bool] | None = None,
    ) -> None:
        self.noted = noting is not None
        self.unnoted = lambda *arrays, **attrs: (*forward(*arrays, **attrs), None)
        self.replays = rules == "replay"
        super().__init__(
            name, noting or forward or self._run, _replayed if self.replays else rules, op=op, missing=missing
        )
        self.infer = (lambda tensors, attrs: [*infer(tensors, attrs), NOTES]) if self.noted else infer
        self.stateful, self.symbolic_rule, self.connects = stateful or self.noted, symbolic_rule, connects
        self.eager: Callable = eager or self._wrapped

    def _run(self, *arrays: Array, **attrs: Any) -> tuple:
        with no_tapes():
            return tuple(t.array for t in self.eager([new_tensor(a) for a in arrays], attrs))

    def _wrapped(self, tensors: Tensors, attrs: Attributes) -> Sequence:
        return [new_tensor(a) for a in self.forward(*[t.array for t in tensors], **attrs)]


def floats(tensors: Tensors) -> list[int]:
    """The numbers of the tensors through which gradients flow."""
    return [i for i, t in enumerate(tensors) if t.dtype.differentiable]


def distinct_copies(tensors: Tensors) -> list:
    """The tensors, with a copy for each that was there before: every input gets the share of its own place."""
    seen: set[int] = set()
    found = []
    for t in tensors:
        found.append(TABLE["identity"](t) if id(t) in seen else t)
        seen.add(id(t))
    return found


def run_eagerly(primitive: Primitive, attrs: Attributes, tensors: Tensors) -> list:
    """The results of any primitive for eager tensors, so that open tapes record them."""
    if isinstance(primitive, GraphPrimitive):
        return list(primitive.eager(tensors, attrs))
    found = apply(primitive, tuple(tensors), attrs)
    return list(found) if isinstance(found, tuple) else [found]


def eager_vjp(
    run: Callable[[Any], Sequence], gs: Tensors, inputs: Tensors, chosen: Sequence[int] | None = None
) -> list:
    """The shares of eager tensors (of the ``chosen`` ones) in the adjoints ``gs`` of what ``run`` makes of them."""
    inputs = distinct_copies(inputs)
    chosen = floats(inputs) if chosen is None else chosen
    with GradientTape() as tape:
        tape.watch([inputs[i] for i in chosen])
        outs = run(inputs)
    targets, sources = floats(outs), [inputs[i] for i in chosen]
    found = tape.gradient([outs[i] for i in targets], sources, output_gradients=[as_eager(gs[i]) for i in targets])
    shares: list = [None] * len(inputs)
    for i, share in zip(chosen, found, strict=True):
        shares[i] = share
    return shares


def _replayed(*values: Any, **attrs: Any) -> Any:
    """In the place of the rule of what is replayed: it is never on an eager tape, and GraphSweep adds a row that runs
    it again.
    """
    raise AssertionError("a primitive that is replayed has no rule")


def as_eager(value: Value) -> Any:
    """A tensor as it is, an array as a tensor."""
    return value if isinstance(value, Tensor) else new_tensor(np.asarray(value))


def with_value(tensor: Value, value: Value) -> Any:
    """A tensor where it has another value: that of a variable which has been assigned in the meantime."""
    same = tensor.array is value or np.array_equal(tensor.array, value)
    return tensor if same else tensor + new_tensor(value - tensor.array)


NOTES = (TensorShape([]), string)  # the output of an operation with effects that says what they gave


def write_notes(notes: Any) -> np.ndarray:
    """Notes as an array, so that they can be an output."""
    array = np.empty((), object)
    array[()] = notes
    return array


def read_notes(value: Value) -> Any:
    """The counterpart of ``write_notes``."""
    return np.asarray(value.array if isinstance(value, Tensor) else value, np.object_).item()


def replay_row(primitive: Primitive, attrs: Attributes, gs: Tensors, inputs: Tensors, wanted: Sequence[int]) -> list:
    """Adds the row that runs the primitive again under a tape: the share of each input, None for those not wanted.

    It may be one of the table, where a rule needs sizes that only a run knows. After the adjoints ``gs`` come the
    notes of a noted primitive.
    """
    connects = getattr(primitive, "connects", None)
    wanted = [i for i in wanted if inputs[i].dtype.differentiable and (connects is None or connects(attrs, i))]
    shares: list = [None] * len(inputs)
    if wanted:
        row = {"primitive": primitive, "attrs": attrs, "count": len(gs), "wanted": wanted}
        graph: Graph = state.graph
        tensors = (*gs, *inputs)
        links = Links([graph.tensor_at(graph.row_or_new_leaf(t)) for t in tensors])
        made = graph.apply(VJP, tensors, row | {"links": links})
        for i, share in zip(wanted, made, strict=True):
            shares[i] = share
    return shares


def _vjp_eager(tensors: Tensors, attrs: Attributes) -> list:
    count, own, wanted = attrs["count"], attrs["attrs"], attrs["wanted"]
    gs, inputs = tensors[:count], tensors[count:]
    if getattr(attrs["primitive"], "noted", False):
        own, gs = own | {"notes": read_notes(gs[-1])}, gs[:-1]
    if isinstance(attrs["primitive"], GraphPrimitive):
        shares = eager_vjp(partial(run_eagerly, attrs["primitive"], own), gs, inputs, wanted)
    else:
        outs = run_eagerly(attrs["primitive"], own, inputs)
        shares = _by_rule(attrs["primitive"], own, gs, outs, inputs, wanted)
    return [dense(shares[i], inputs[i]) for i in wanted]


def _by_rule(
    primitive: Any, attrs: Attributes, gs: Tensors, outs: Tensors, inputs: Tensors, wanted: Sequence[int]
) -> list:
    """The shares that the rules of a primitive of the table give, of tensors or of arrays."""
    g, z = (gs, outs) if len(gs) > 1 else (gs[0], outs[0])
    rules = primitive.rules
    if callable(rules):
        return list(rules(g, z, *inputs, **attrs))
    return [rules[i](g, z, *inputs, **attrs) if i in wanted else None for i in range(len(inputs))]


def _vjp_forward(*arrays: Array, **attrs: Any) -> tuple:
    """The rules of the table take arrays as they are; what graphs alone have runs again under a tape."""
    primitive, count, own = attrs["primitive"], attrs["count"], attrs["attrs"]
    if isinstance(primitive, GraphPrimitive):
        return VJP._run(*arrays, **attrs)
    gs, inputs, outs = arrays[:count], arrays[count:], primitive.forward(*arrays[count:], **own)
    shares = _by_rule(primitive, own, gs, outs if type(outs) is tuple else (outs,), inputs, attrs["wanted"])
    return tuple([match_input(dense(shares[i], inputs[i]), inputs[i]) for i in attrs["wanted"]])


def dense(share: Adjoint, like: Any) -> Any:
    """A share as a dense tensor, or array, in the shape of its input: zeros for None."""
    if share is None:
        share = np.zeros(tuple(like.shape), getattr(like.dtype, "as_numpy_dtype", like.dtype))[()]
        return new_tensor(share) if isinstance(like, Tensor) else share
    share = share
    return share if share.shape == like.shape else unbroadcast(share, tuple(like.shape))


def _vjp_infer(tensors: Tensors, attrs: Attributes) -> list:
    inputs = tensors[attrs["count"] :]
    return [(inputs[i].shape, inputs[i].dtype) for i in attrs["wanted"]]


class Links:
    """Of a row with derivatives in it: its inputs, and on which of them the derivatives depend once asked."""

    def __init__(self, tensors: Tensors) -> None:
        self.tensors = tensors
        self.found: set[int] | None = None


OURS = ("later", "getitem")  # primitives of graphs that run functions of minitape, not bodies of the user


def _is_linked(attrs: Attributes, at: int) -> bool:
    """Whether a derivative depends on this input: not where the function is linear."""
    links = attrs["links"]
    if links.found is None:
        primitive = attrs["primitive"]
        if primitive.name == "case" and not primitive.noted:
            links.found = set().union(
                *[_differentiable(attrs, links.tensors, k) for k in range(len(attrs["attrs"]["bodies"]))]
            )
        elif _is_ours(primitive, attrs):
            links.found = _differentiable(attrs, links.tensors)
        else:
            links.found = set(range(len(links.tensors)))
    return at in links.found


def _is_ours(primitive: Primitive, attrs: Attributes) -> bool:
    while primitive is VJP:
        attrs = attrs["attrs"]
        primitive = attrs["primitive"]
    return not isinstance(primitive, GraphPrimitive) or primitive.name in OURS


def _differentiable(attrs: Attributes, tensors: Tensors, way: int | None = None) -> set[int]:
    """The inputs that make a difference to derivatives of stand-ins for them; all where those are refused.

    Of branches one is taken, the ``way``.
    """
    from .infer import sizes_to_try, trying

    for guess in sizes_to_try(tensors):
        try:
            with trying(), no_tapes():
                given = _stand_ins(attrs, tensors, guess, way)
                with GradientTape() as tape:
                    tape.watch([given[i] for i in floats(given)])
                    shares = _vjp_eager(given, attrs)
            found = tape.gradient(shares, given)
        except Exception:  # another size may do
            continue
        return {i for i, share in enumerate(found) if share is not None}
    return set(range(len(tensors)))


def _stand_ins(attrs: Attributes, tensors: Tensors, guess: Any, way: int | None) -> list:
    """Tensors in the place of the adjoints and of the inputs."""
    from .infer import stand_in, stand_in_array

    count = attrs["count"]
    inputs = [new_tensor(np.array(stand_in(t, guess, at, 1, True))) for at, t in enumerate(tensors) if at >= count]
    if way is not None:
        inputs[0] = new_tensor(np.int32(way))
    outs = run_eagerly(attrs["primitive"], attrs["attrs"], inputs)
    gs = [new_tensor(np.array(stand_in_array(tuple(z.shape), z.dtype, 1))) for z in outs]
    return [*gs, *inputs]


VJP = GraphPrimitive("vjp", "SymbolicGradient", _vjp_infer, forward=_vjp_forward, eager=_vjp_eager, connects=_is_linked)
