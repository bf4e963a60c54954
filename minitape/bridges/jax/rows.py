"""The rows of a recording of JAX: names of arguments, lines of equations, and a new row for what was computed."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...engine.recording.frames import own_file
from ...explain.reasons import text
from ...explain.reasons.question import OptionalArray
from ...recording.sites import NOWHERE, Site
from ..kept_values import SMALL, Bound, KeptValues
from .origin import plain

LABELS = {
    "add": "+",
    "add_any": "+",
    "sub": "−",
    "mul": "×",
    "div": "÷",
    "dot_general": "@",
    "neg": "−x",
    "square": "x²",
    "sqrt": "√",
    "reduce_sum": "Σ",
    "pow": "xʸ",
    "convert_element_type": "cast",
    "slice": "[ ]",
    "dynamic_slice": "[ ]",
    "gather": "[ ]",
}
STEPS = {"round", "floor", "ceil", "sign"}  # JAX goes no way back through them
# functions of jax.numpy, made of comparisons and choices
STAIRS = STEPS | {"trunc", "fix", "heaviside", "floor_divide"}


NUMBERS = (bool, int, float, complex)
# compute with shares or differences
SHARES = set("softmax log_softmax logsumexp standardize var std _var _std".split())


class JaxValue(KeptValues):
    """An array of JAX, to be shown on demand. It does not change."""

    __slots__ = ()

    def array(self) -> OptionalArray:
        """Its elements; of a random key its numbers."""
        return np.asarray(jax.random.key_data(self.given)) if is_key(self.given) else super().array()


class JaxVariable:
    """What a variable of a jaxpr stands for: an array, and its row; None for what was computed from nothing that is a
    row.
    """

    __slots__ = "value row live site roots spread".split()

    def __init__(
        self,
        value: Any,
        row: int | None = None,
        live: bool = False,
        site: Site = NOWHERE,
        roots: Sequence | None = None,
    ) -> None:
        self.value, self.row, self.site = value, row, site
        # of what is no row: the arrays from outside that it was computed from
        self.roots = [value] if row is None and roots is None else roots or []
        self.spread: Any = None  # of what is no row: what it was before broadcasting
        self.live = live  # computed from an argument that is a float: calls with it are opened

    @property
    def known_row(self) -> int:
        """The row of what has one."""
        assert self.row is not None
        return self.row


class JaxExtra(NamedTuple):
    """What explain asks about a row of JAX."""

    why: str = ""  # why no gradient passes
    came: Sequence[int] = ()
    custom: str = ""  # of what has a derivative rule of the program's own: where that is
    roots: Sequence = ()  # of a constant: the arrays from outside that it is, or was computed from


class JaxCall(NamedTuple):
    """An operation that ran: what computes it (again), from what, and which rows it made."""

    compute: Callable[..., list]
    inputs: list[JaxVariable]
    rows: list[int]


class Fork(NamedTuple):
    """A ``cond`` that took one branch."""

    rows: list[int]  # what it was given
    site: Site
    taken: int


class JaxLog:
    """Writes the rows of a recording."""

    def __init__(self, recording: Any) -> None:
        self.recording, self.entries = recording, recording.entries
        self.calls: list[JaxCall] = []
        self.forks: list[Fork] = []
        self._bound = Bound()
        self._rows: dict[int, tuple] = {}  # by identity of an array that the program has
        self._constants: dict[int, tuple] = {}
        # by identity of an array that is no argument: and where it is read first
        self.outside: dict[int, tuple] = {}

    # -- which row ---------------------------------------------------------------------------------

    def row_of(self, value: Any) -> int | None:
        """The row of an array of the program's, or of a name."""
        if isinstance(value, str):
            return next((entry.row for entry in reversed(self.entries) if entry.name == value), None)
        found = self._rows.get(id(value))
        return None if found is None or found[0] is not value else found[1]

    def remember(self, value: Any, row: int) -> None:
        """This row stands for an array of the program's. Numbers are no objects of their own: they have names only."""
        if not isinstance(value, NUMBERS):
            self._rows.setdefault(id(value), (value, row))

    # -- new rows ----------------------------------------------------------------------------------

    def leaf(self, value: Any, name: str, differentiated: bool) -> JaxVariable:
        """An argument: no line of the function made it."""
        array = value if is_key(value) else jnp.asarray(value)
        on_way = differentiated and inexact(array)
        row = self.recording.leaf(
            self.keep(array), name=name, kind="source", differentiable=on_way, extra=JaxExtra(), **form(array)
        )
        self.remember(value, row)
        return JaxVariable(array, row, live=inexact(array))

    def bind(self, row: int, name: str, before: int | None) -> None:
        """A statement of the program's binds a name to a row, and no more to the one before, which was a part of it."""
        entry = self.entries[row]
        if entry.kind == "operation" and entry.name in (None, name):
            entry.name = name
            if before is not None and before != row and self.entries[before].name == name:
                self.entries[before].name = None

    def constant(self, value: JaxVariable, name: str | None = None) -> int | None:
        """The row of an array that is no argument; None for a single number, which is in the label."""
        if value.row is not None or np.ndim(value.value) == 0:
            return value.row
        known = self._constants.get(id(value.value))
        if known is not None:
            return known[1]
        before = None if value.spread is None else self.constant(value.spread)
        given = form(value.value) | {"site": value.site, "differentiable": False, "extra": JaxExtra(roots=value.roots)}
        if before is None:
            row = self.recording.leaf(self.keep(value.value), name=name, kind="constant", **given)
            self.entries[row].label = name or "const"
        else:
            row = self.recording.operation("broadcast_in_dim", [before], self.keep(value.value), **given)
        self._constants[id(value.value)] = value.value, row
        return row

    def call(
        self,
        op: str,
        compute: Callable[..., list],
        inputs: list[JaxVariable],
        site: Site,
        scope: tuple[str, ...] = (),
        label: str = "",
        custom: str = "",
    ) -> list[JaxVariable]:
        """Runs an operation and writes its rows; none for what is computed from nothing that is a row."""
        for given in inputs:
            if given.site is NOWHERE:
                given.site = site
            for root in given.roots if given.row is None else ():
                self.outside.setdefault(id(root), (root, site))
        results = compute(*[given.value for given in inputs])
        if all(given.row is None for given in inputs) or not results:
            roots = list({id(root): root for given in inputs for root in given.roots}.values())
            made_of = [JaxVariable(result, site=site, roots=roots) for result in results]
            if op == "broadcast_in_dim":
                made_of[0].spread = inputs[0]
            return made_of
        rows = [row for given in inputs if (row := self.constant(given)) is not None]
        on_way = any(self.entries[row].differentiable for row in rows)
        live = any(given.live for given in inputs)
        label = self._label(label or LABELS.get(op, op), op, inputs)
        made: list[int] = []
        for number, result in enumerate(results):
            again = live and any(inexact(jnp.asarray(given.value)) for given in inputs if not is_key(given.value))
            why = self._why(op, result) if on_way or again else ""
            row = self.recording.operation(
                op,
                rows,
                self.keep(result),
                label=label,
                call=made[0] if made else None,
                output=number,
                site=site,
                scope=scope,
                cut=CUTS.get(why) if on_way else None,
                differentiable=on_way and not why,
                extra=JaxExtra(why, (), custom),
                **form(result),
            )
            made.append(row)
        self.calls.append(JaxCall(compute, inputs, made))
        return [JaxVariable(result, row, live) for result, row in zip(results, made, strict=True)]

    def _why(self, op: str, result: Any) -> str:
        """Why no gradient passes an operation; empty where one does."""
        if op == "stop_gradient":
            return "stop_gradient"
        if not inexact(result):
            return "integer_cast" if op == "convert_element_type" else "no_derivative"
        return "zero_derivative" if op in STEPS else ""

    def _label(self, label: str, op: str, inputs: list[JaxVariable]) -> str:
        """With the number that an operation has beside its one array: "× 2.0"."""
        if len(inputs) != 2 or len([given for given in inputs if given.row is None and np.ndim(given.value) == 0]) != 1:
            return label
        first, second = (given.value if given.row is None else None for given in inputs)
        return f"{label} {second}" if first is None else f"{first} {label}"

    def let_go(self) -> None:
        """No sweep follows: what remains of arrays is what ``keep`` bounds, and what the program
        has itself.
        """
        self._constants.clear()
        for given in [given for call in self.calls for given in call.inputs]:
            if given.row is not None or np.size(given.value) > SMALL:
                given.value = None

    # -- values ------------------------------------------------------------------------------------

    def keep(self, array: Any) -> JaxValue:
        """An array to be shown later."""
        value = JaxValue(array)
        if not is_key(array):
            self._bound.add(value, np.size(array), np.size(array) * np.dtype(array.dtype).itemsize)
        return value


CUTS = {
    "stop_gradient": "stop_gradient",
    "integer_cast": "integer",
    "no_derivative": "nondifferentiable",
    "zero_derivative": "nondifferentiable",
}


def is_key(value: Any) -> bool:
    """Whether a value is a random key (or several) of the new kind."""
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def inexact(array: Any) -> bool:
    """Whether gradients flow through values of this dtype.

    >>> inexact(jnp.ones(2)), inexact(jnp.arange(2))
    (True, False)
    """
    return bool(jnp.issubdtype(array.dtype, jnp.inexact))


def form(array: Any) -> dict:
    """Dtype and shape of a row."""
    return {"dtype": str(array.dtype), "shape": tuple(np.shape(array))}


class JaxPlace(NamedTuple):
    """Where an equation was made."""

    site: Site = NOWHERE  # the user's innermost line
    called: str = ""  # the function of a library that is called there
    # what the statement binds to its value, where the equation is a part of the outermost call or operation in it
    name: str = ""


def place_of(eqn: Any) -> JaxPlace:
    """The place of an equation in the user's program.

    >>> def double(x):
    ...     y = jnp.tanh(x * 2.0)
    ...     return y
    >>> [place_of(eqn).name for eqn in jax.make_jaxpr(double)(1.0).eqns]
    ['', 'y']
    """
    traceback, called = eqn.source_info.traceback, ""
    for k, frame in enumerate(() if traceback is None else traceback.frames):
        if not own_file(frame.file_name):
            codes, instructions = traceback.raw_frames()
            span = tuple(traceback.code_addr2location(codes[k], instructions[k]))
            return JaxPlace((frame.file_name, frame.line_num), called, bound(frame.file_name, *span))
        called = frame.function_name
    return JaxPlace()


@lru_cache(maxsize=4096)
def bound(file: str, first: int, left: int, last: int, right: int) -> str:
    """The name that a statement binds to the value of an expression, given by its lines and columns; "" where that is
    only a part of it.
    """
    statement = text.at((file, first))
    names = statement.targets
    if len(names) != 1 or not isinstance(names[0], ast.Name):
        return ""
    whole = statement.value is not None and statement.expression((first, last, left, right)) is statement.value
    return names[0].id if whole else ""


def argument_names(function: Any, args: tuple) -> list[list[str]]:
    """For each argument the names of its leaves, such as ``params['w']``.

    >>> argument_names(lambda x, p: None, (1.0, {"w": 2.0}))
    [['x'], ["p['w']"]]
    """
    try:
        parameters = inspect.signature(function).bind(*args).arguments
        heads = [
            f"{name}[{k}]" if isinstance(value, tuple) and len(parameters) < len(args) else name
            for name, value in parameters.items()
            for k in range(len(value) if isinstance(value, tuple) and len(parameters) < len(args) else 1)
        ]
        if own_file(getattr(getattr(function, "__code__", None), "co_filename", "")):  # a library's, for the program's
            heads[:1] = list(inspect.signature(plain(function)).parameters)[:1]
    except (TypeError, ValueError):
        heads = []
    if len(heads) != len(args):
        heads = [f"args[{k}]" for k in range(len(args))]
    return [
        [head + _written(path) for path, _ in jax.tree_util.tree_flatten_with_path(argument)[0]]
        for head, argument in zip(heads, args, strict=True)
    ]


def _written(path: tuple) -> str:
    """The path of a leaf as a program writes it; in what ``flax.nnx`` makes of a module, as in the module.

    >>> _written(jax.tree_util.tree_flatten_with_path({"a": [1.0]})[0][0][0])
    "['a'][0]"
    """
    text = jax.tree_util.keystr(path)
    whole = re.fullmatch(r"(\.states\[\d+\])?(.+?)(\.value)?", text) if "flax.nnx" in sys.modules else None
    if whole is None:
        return text
    return re.sub(r"\['(\w+)'\]", r".\1", whole[2]) if whole[1] else whole[2]
