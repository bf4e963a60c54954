"""Runs the equations of a jaxpr one by one: each is a row. What JAX calls (``jit``, ``scan``, ``cond``) is opened;
``while``, through which it does not go back, is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Literal

from ...engine.recording.block import block
from ...engine.recording.frames import own_file
from ...recording.sites import NOWHERE, Site, here
from ..changes import Changes
from ..recording import MOST
from .rows import SHARES, Fork, JaxLog, JaxPlace, JaxVariable, place_of

try:
    from jax._src.config import eager_constant_folding
    from jax._src.interpreters.partial_eval import DynamicJaxprTracer as Tracer
except ImportError:  # another JAX: conditions on values are refused then, as under jit
    Tracer = None

LOOP = 3_000  # rows of a loop that is opened: more take a minute to record, and a page of 100 MB
Scope = tuple[str, ...]
jit_disabled = block(jax.disable_jit.__wrapped__)  # ends at once where Ctrl-C comes
CUSTOM = {"custom_jvp_call", "custom_vjp_call"}


class JaxRun:
    """The computation of one jaxpr."""

    def __init__(self, log: JaxLog) -> None:
        self.log = log
        self.failed: Site = NOWHERE  # where an equation raised an error
        self.site: Site = NOWHERE  # of the equation that runs
        # more than 0 inside of a function of a library's: its jaxpr may have been traced for another line
        self.library = 0
        self.opens: dict = {
            "jit": self._call,
            "pjit": self._call,
            "closed_call": self._call,
            "remat2": self._call,
            "checkpoint": self._call,
            "scan": self._scan,
            "cond": self._cond,
        }

    def run(
        self, jaxpr: Any, consts: list[JaxVariable], args: list[JaxVariable], scope: Scope = ()
    ) -> list[JaxVariable]:
        """What a jaxpr computes from these values."""
        known: dict[Any, JaxVariable] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))

        def read(atom: Any) -> JaxVariable:
            return JaxVariable(atom.val) if isinstance(atom, Literal) else known[atom]

        last: tuple[JaxPlace, int | None] = JaxPlace(), None  # the statement, and the row that has its name
        for eqn in jaxpr.eqns:
            results = self._equation(eqn, [read(atom) for atom in eqn.invars], scope)
            last = self._bind(eqn, results, *last)
            known.update(zip(eqn.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def run_closed(self, closed: Any, args: list[JaxVariable], scope: Scope = ()) -> list[JaxVariable]:
        """Runs a closed jaxpr, which has its constants, and returns its results."""
        jaxpr = getattr(closed, "jaxpr", closed)
        return self.run(jaxpr, [JaxVariable(const) for const in getattr(closed, "consts", ())], args, scope)

    def _equation(self, eqn: Any, inputs: list[JaxVariable], scope: Scope) -> list[JaxVariable]:
        scope = (*scope, *(part for part in str(eqn.source_info.name_stack).split("/") if part))
        opens = self.opens.get(eqn.primitive.name)
        outer = self.site
        place = JaxPlace() if self.library else place_of(eqn)
        self.site = outer if place.site is NOWHERE else place.site
        # a function of several equations that JAX does not call, but writes out
        if place.called in SHARES and opens is None and eqn.primitive.name not in CUSTOM:
            scope = (*scope, place.called)
        try:
            rows = size_of(eqn) if opens is not None and any(given.live for given in inputs) else MOST + 1
            # a long loop is one row
            if (
                opens is not None
                and rows + len(self.log.entries) <= MOST
                and (eqn.primitive.name != "scan" or rows <= LOOP)
            ):
                return opens(eqn, inputs, scope)
            return self._row(eqn, inputs, scope)
        except Exception:
            self.failed = self.site if self.failed is NOWHERE else self.failed
            raise
        finally:
            self.site = outer

    def _bind(
        self, eqn: Any, results: list[JaxVariable], place: JaxPlace, before: int | None
    ) -> tuple[JaxPlace, int | None]:
        """Gives a result the name that the program has for it; what came before it in the same expression has it no
        more.
        """
        row = results[0].row if len(results) == 1 else None
        # a derivative has the place of its function
        found = JaxPlace() if self.library or "jvp(" in str(eqn.source_info.name_stack) else place_of(eqn)
        if not found.name or row is None:
            return JaxPlace(), None
        self.log.bind(row, found.name, before if (found.site, found.name) == (place.site, place.name) else None)
        return found, row

    def _row(self, eqn: Any, inputs: list[JaxVariable], scope: Scope) -> list[JaxVariable]:
        name = eqn.primitive.name
        if name == "convert_element_type" and getattr(inputs[0].value, "dtype", None) == eqn.params["new_dtype"]:
            return inputs  # says only that the dtype is no guess of JAX's any more
        label = f"x^{eqn.params['y']}" if name == "integer_pow" else ""
        op = called(eqn) if name in self.opens or name in CUSTOM else name
        return self.log.call(op, partial(evaluate, eqn), inputs, self.site, scope, label, rule_of(eqn))

    # -- calls that are opened ---------------------------------------------------------------------

    def _call(self, eqn: Any, inputs: list[JaxVariable], scope: Scope) -> list[JaxVariable]:
        closed = eqn.params.get("jaxpr") or eqn.params["call_jaxpr"]
        strange = own_file(file_of(closed))
        self.library += strange
        try:
            return self.run_closed(closed, inputs, (*scope, called(eqn)))
        finally:
            self.library -= strange

    def _scan(self, eqn: Any, inputs: list[JaxVariable], scope: Scope) -> list[JaxVariable]:
        """As ``jax.disable_jit`` runs it: step by step."""
        given, site = eqn.params, self.site
        if "ft_in" in given:  # since JAX 0.11
            fixed, carried, _ = map(len, given["ft_in"].unpack())
        else:
            fixed, carried = given["num_consts"], given["num_carry"]
        carry, xs = inputs[fixed:][:carried], inputs[fixed:][carried:]
        way = -1 if given["reverse"] else 1
        order = range(given["length"])[::way]
        if not order:
            return self._row(eqn, inputs, scope)
        steps = []
        for k in order:
            within = (*scope, f"{called(eqn)}[{k}]")
            taken = [
                self.log.call(
                    "slice", lambda x, k=k: [lax.index_in_dim(x, k, keepdims=False)], [x], site, within, f"[{k}]"
                )[0]
                for x in xs
            ]
            results = self.run_closed(given["jaxpr"], [*inputs[:fixed], *carry, *taken], within)
            carry = results[:carried]
            steps.append(results[carried:])
        columns = zip(*steps[::way], strict=True)
        return [
            *carry,
            *(self.log.call("stack", lambda *ys: [jnp.stack(ys)], list(column), site, scope)[0] for column in columns),
        ]

    def _cond(self, eqn: Any, inputs: list[JaxVariable], scope: Scope) -> list[JaxVariable]:
        branches, taken = eqn.params["branches"], int(inputs[0].value)
        taken = min(max(taken, 0), len(branches) - 1)
        rows = [given.row for given in inputs[1:] if given.row is not None]
        self.log.forks.append(Fork(rows, self.site, taken))
        return self.run_closed(branches[taken], inputs[1:], (*scope, f"cond[{taken}]"))


def evaluate(eqn: Any, *values: Any) -> list:
    """What an equation computes from these values, with JAX's own rules for their derivatives."""
    params = eqn.primitive.get_bind_params(eqn.params)
    functions: tuple = ()
    if isinstance(params, tuple):  # before JAX 0.8
        functions, params = params
    # vmap has noted where a rule's results have their batch when loops were traced, not run step by step
    with eqn.ctx.manager, jit_disabled(False) if eqn.primitive.name in CUSTOM else nullcontext():
        results = eqn.primitive.bind(*functions, *values, **params)
    return list(results) if eqn.primitive.multiple_results else [results]


def called(eqn: Any) -> str:
    """The name of what an equation calls.

    >>> import jax
    >>> called(jax.make_jaxpr(jax.jit(jnp.sin))(1.0).eqns[0])
    'sin'
    """
    params = eqn.params
    name = params.get("name")
    if not name and eqn.primitive.name in CUSTOM:
        body = params["call_jaxpr"]
        name = getattr(body, "jaxpr", body).debug_info.func_src_info or ""
        name = name.partition(" ")[0]
    return (name or eqn.primitive.name).strip("_<>") or eqn.primitive.name


def rule_of(eqn: Any) -> str:
    """Of an equation with a derivative rule of its own: which function that is, and where; empty of others."""
    if eqn.primitive.name not in CUSTOM:
        return ""
    rule = eqn.params.get("bwd") or eqn.params.get("jvp_jaxpr_fun")
    return getattr(getattr(rule, "debug_info", None), "func_src_info", None) or "a rule"


def file_of(closed: Any) -> str:
    """The file of the function that a jaxpr was made of.

    >>> import jax
    >>> file_of(jax.make_jaxpr(jnp.sin)(1.0)).endswith(".py")
    True
    """
    source = getattr(closed, "jaxpr", closed).debug_info.func_src_info or ""
    return source.partition(" at ")[2].rpartition(":")[0]


def size_of(eqn: Any) -> int:
    """How many rows an equation may become."""
    inner = 0
    for value in eqn.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            jaxpr: Any = getattr(part, "jaxpr", part)
            if hasattr(jaxpr, "eqns"):
                inner += sum(size_of(e) for e in jaxpr.eqns)
    return 1 + inner * (eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1)


# -- what tracers know: without jit a Python condition may ask for a value -------------------------


class JaxValues:
    """The values of the tracers of one trace, computed on demand.

    >>> values = JaxValues([3.0])
    >>> def loss(x):
    ...     values.begin([x])
    ...     return x * 2.0 if x > 0 else x
    >>> with concrete(values):
    ...     print(len(jax.make_jaxpr(loss)(3.0).eqns))
    2
    """

    def __init__(self, leaves: Sequence) -> None:
        self.leaves = leaves
        self.trace: Any = None
        self.exits: list[tuple] = []  # how values left, where, and the leaves that they came from
        self._first: dict = {}  # the values of the arguments, by their tracers
        self._known: dict = {}

    def begin(self, tracers: Sequence) -> None:
        """The function begins, with these tracers of its arguments' leaves."""
        if tracers and hasattr(tracers[0], "parent"):
            self.trace = tracers[0]._trace
            self._first = {tracer.val: leaf for tracer, leaf in zip(tracers, self.leaves, strict=True)}
            self._known = dict(self._first)

    def of(self, tracer: Any) -> Any:
        """The value of a tracer; None for one of another trace, such as of a function under ``jit``."""
        waiting = [tracer]
        while tracer._trace is self.trace and waiting:
            missing = (
                []
                if self._has(waiting[-1])
                else [given for given in waiting[-1].parent.in_tracers if not self._has(given)]
            )
            if missing:
                waiting += missing
                continue
            at = waiting.pop()
            if not self._has(at):
                with jax.ensure_compile_time_eval():
                    results = evaluate(at.parent, *map(self._value, at.parent.in_tracers))
                self._known.update(zip(at.parent.outvars, results, strict=True))
        return self._value(tracer) if tracer._trace is self.trace else None

    def array_of(self, tracer: Any) -> Any:
        """Returns the array of a tracer that leaves JAX for Python, and notes the exit."""
        if tracer.dtype == bool or jax.numpy.issubdtype(tracer.dtype, jax.numpy.inexact):
            self.exits.append(("__bool__" if tracer.dtype == bool else "__float__", here(), self._leaves(tracer)))
        return self.of(tracer)

    def _leaves(self, tracer: Any) -> list:
        """The arguments' leaves that a tracer was computed from."""
        seen: dict = {}
        waiting = [tracer]
        while waiting:
            at = waiting.pop()
            if id(at) not in seen:
                seen[id(at)] = at
                waiting += at.parent.in_tracers if at.parent is not None else []
        return [
            self._first[at.val] for at in seen.values() if not isinstance(at.val, Literal) and at.val in self._first
        ]

    def _has(self, tracer: Any) -> bool:
        return (
            isinstance(tracer.val, Literal)
            or tracer.val in self._known
            or tracer.val in self.trace.frame.constvar_to_val
        )

    def _value(self, tracer: Any) -> Any:
        if isinstance(tracer.val, Literal):
            return tracer.val.val
        return self._known[tracer.val] if tracer.val in self._known else self.trace.frame.constvar_to_val[tracer.val]


@contextmanager
def concrete(values: JaxValues) -> Iterator[None]:
    """In the block the tracers of one trace know their values, and what depends on none of them is computed at once."""
    changes = Changes()
    changes.begin()
    try:
        if Tracer is None:
            yield
            return
        changes.wrap(
            Tracer,
            "to_concrete_value",
            lambda function, tracer: values.array_of(tracer) if tracer._trace is values.trace else function(tracer),
        )
        for name in ("__array__", "__float__"):
            changes.wrap(Tracer, name, partial(_whole, values, name))
        with eager_constant_folding(True):
            yield
    finally:
        changes.undo()


def _whole(values: JaxValues, name: str, function: Callable, tracer: Any, *args: Any, **kwargs: Any) -> Any:
    """NumPy and Python may have what no derivative passes, whole numbers and conditions, which ``jax.grad`` does not
    trace.
    """
    known = tracer._trace is values.trace and not jax.numpy.issubdtype(tracer.dtype, jax.numpy.inexact)
    return getattr(np.asarray(values.of(tracer)), name)(*args, **kwargs) if known else function(tracer, *args, **kwargs)
