"""A function of JAX that is recorded, with its gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import wraps
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ...explain.reasons import text
from ...recording.rows import RowExit
from ...recording.sites import NOWHERE, Site, here
from ..checkup import FrameworkRecording
from ..recording import RowNumber
from .origin import JaxLeaf, JaxOrigin
from .rows import NUMBERS, JaxExtra, JaxLog, JaxVariable, argument_names, form, inexact
from .run import JaxRun, JaxValues, concrete, jit_disabled
from .sweep import Back

if TYPE_CHECKING:
    from ...explain.reasons.suspects import CheckedRun


class JaxRecording(FrameworkRecording):
    """What a function of JAX computed. ``value`` is its result, ``gradient`` what ``jax.grad`` gives.

    ``error`` is what JAX says against the function or its gradient, or None: then there is no ``value``, or no
    ``gradient``. An argument is asked about by its array, or by its name.

    >>> recording = record(lambda p: jax.lax.stop_gradient(p["w"]) * 2.0, {"w": 3.0})
    >>> recording.explain(recording.value, "p['w']").cause
    'stop_gradient'
    """

    def __init__(self) -> None:
        super().__init__("jax")
        self.log = JaxLog(self)
        self.ran = False  # all equations, and there is a value
        self.value: Any = None
        self.gradient: Any = None
        self.error: Exception | None = None
        self.stopped: Site = NOWHERE  # where an error came up while the equations ran
        # the function, its arguments, and the line that records them
        self.asked: tuple[Any, tuple, Site] = None, (), NOWHERE
        self.given: list[JaxLeaf] = []  # the leaves of the arguments
        self.results: list[JaxVariable] = []  # the leaves of the result
        self.target: int | None = None  # the row of the first
        self.chosen: list[int] = []  # the rows of what is differentiated
        self.unchanged: dict[int, int] = {}  # rows of what was made anew, so often, and is what it was
        self.unreached: set[int] = set()  # those of them that no adjoint came to: their gradient is zero

    def _why(self, target: Any, source: Any) -> Any:
        from .checks import explain_gradient

        if self.failure is not None:
            raise RuntimeError(
                f"The recording ended early, so nothing is known of the gradient: {type(self.failure).__name__}: "
                f"{self.failure}"
            )
        return explain_gradient(self, target, source)

    def _parts_of(self, asked: Any) -> Mapping[str, Any] | None:
        """A name or a tree has one answer: the rows of its leaves."""
        return super()._parts_of(asked) if asked is None else None

    def result_names(self) -> Mapping[int, str]:
        """The function's name for its result."""
        name = getattr(self.asked[0], "__name__", "")
        return {self.target: name} if self.target is not None and name.isidentifier() else {}

    def trained(self) -> dict:
        """The leaves of the arguments that are differentiated, or changed by a gradient, by name."""
        origin, gave = JaxOrigin(*self.asked), {*text.at(self.asked[2]).binds}
        moved = {leaf.row for leaf in self.given for s in origin.steps_of(leaf) if gave.difference(s.binds) & s.reads}
        return self.named([leaf.row for leaf in self.given if leaf.row in moved.union(self.chosen)])

    def follows(self, before: JaxRecording) -> None:
        """The same function was recorded before: which arguments a step has made anew, and not changed."""
        for one, new in zip(before.given, self.given, strict=False):
            known = new.row in self.chosen and not getattr(one.value, "is_deleted", bool)()
            if known and one.value is not new.value and np.array_equal(one.value, new.value):
                self.unchanged[new.row] = before.unchanged.get(one.row, 0) + 1

    def named(self, rows: list[int]) -> dict:
        """Leaves by name."""
        return {self.entries[row].name or f"[{row}]": RowNumber(row) for row in rows}

    def suspect_run(self) -> CheckedRun:
        from .suspects import build_checked_run

        return build_checked_run(self)

    def target_number(self, sweep: Any) -> RowNumber | None:
        return None

    def rows_of(self, source: Any) -> list[int]:
        """The rows that a source of ``explain`` stands for: of a tree those of its leaves, of a number all arguments
        that it may be.
        """
        if isinstance(source, NUMBERS) and not isinstance(source, RowNumber):
            equal = [leaf for leaf in self.given if type(leaf.value) is type(source) and leaf.value == source]
            found = [leaf for leaf in equal if leaf.value is source] or equal
            return [leaf.row for leaf in found if leaf.row in self.chosen] or [leaf.row for leaf in found]
        row = self.row_of(source)
        if row is not None or hasattr(source, "shape"):
            return [] if row is None else [row]
        if isinstance(source, str):
            return [
                leaf.row
                for leaf in self.given
                if (name := self.entries[leaf.row].name or "").startswith((f"{source}[", f"{source}."))
                or name.endswith(f"[{source!r}]")
            ]
        whole = [leaf.row for leaf in self.given if self.asked[1][leaf.argument] is source]
        parts = jax.tree_util.tree_leaves(source)
        return whole or (
            [] if len(parts) == 1 and parts[0] is source else [row for part in parts for row in self.rows_of(part)]
        )

    def row_of(self, value: Any) -> int | None:
        """The last row that stands for an array of the program's, or has a name."""
        found = self.log.row_of(value)
        return super().row_of(value) if found is None else found

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The arguments, by row."""
        return {entry.row: SimpleNamespace(variable=None, tensor=RowNumber(entry.row)) for entry in self.entries}


def record(
    function: Callable,
    *args: Any,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
) -> JaxRecording:
    """Runs ``function(*args)`` and its gradient, as ``jax.value_and_grad(function, argnums, has_aux)`` has it, and
    records both.

    What JAX refuses (a ``float()`` of a traced value, ``x[0] = 1.0``, a wrong shape, a result that is no number) is
    kept as ``recording.error``; an error of the function's own is raised. ``function`` runs to be traced: as under
    ``jit`` where the program compiles it; else an argument that is no float or array is what it is, and a Python
    condition may ask for a value where ``jax.grad`` allows it. Calls of ``jit``, ``scan`` and ``cond`` are opened where
    they depend on an argument; one that would have more than 20,000 rows is one row.

    >>> recording = record(lambda x, n: x**2 * n, 3.0, 2.0, argnums=(0, 1))
    >>> recording.gradient
    (Array(12., dtype=float32, weak_type=True), Array(9., dtype=float32, weak_type=True))
    >>> record(lambda x: x * float(x), 3.0).error
    ConcretizationTypeError(...)
    """
    recording = JaxRecording()
    recording.asked = function, args, here()
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    numbers = tuple(number % len(args) if -len(args) <= number < len(args) else number for number in numbers)
    if not numbers or not all(0 <= number < len(args) for number in numbers):
        raise ValueError(f"argnums={argnums!r} does not fit to {len(args)} argument{'' if len(args) == 1 else 's'}.")
    traced = _traced(recording, function, args, numbers)
    leaves = _arguments(recording, function, args, numbers)
    if traced is not None:
        closed, shape, given, exits = traced
        for how, site, values in exits:
            rows = [leaf.row for leaf in recording.given if any(leaf.value is value for value in values)]
            recording.left += [RowExit(row, how, site, 0) for row in rows]
        with jit_disabled():
            if _forward(recording, closed, [leaves[k] for k in given], shape):
                chosen = [leaf for leaf in leaves if leaf.row in recording.chosen]
                _backward(recording, function, args, argnums, has_aux, chosen)
    recording.log.let_go()
    recording.close()
    return recording


def record_if_bad(gradient: Any, function: Callable, *args: Any, **options: Any) -> JaxRecording | None:
    """Looks at the gradient of a training step, compiled or not; where a part of it is all zeros, NaN or infinite,
    records ``function(*args)``.

    The function runs without the compiler for that, with the same arguments, so that the recording shows the very step
    that was bad. ``options`` are those of ``record``. None stands for a gradient that is good.

    >>> loss = lambda w, x: jax.numpy.sum(jax.numpy.sqrt(w * x))
    >>> step = jax.jit(jax.grad(loss))
    >>> record_if_bad(step(1.0, 2.0), loss, 1.0, 2.0) is None
    True
    >>> record_if_bad(step(0.0, 2.0), loss, 0.0, 2.0).explain("w").cause
    'nan_backward'
    """
    leaves = [leaf for leaf in jax.tree_util.tree_leaves(gradient) if not hasattr(leaf, "dtype") or inexact(leaf)]
    if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        raise TypeError(
            "record_if_bad() looks at numbers, and while a function is traced there are none: call it on what the "
            "compiled step returned."
        )
    return record(function, *args, **options) if _is_bad(leaves) else None


@jax.jit
def _is_bad(leaves: list) -> Any:
    """Whether one of them is all zeros, or not finite."""
    bad = [~jax.numpy.isfinite(leaf).all() | ~jax.numpy.any(leaf) for leaf in leaves]
    return jax.numpy.array(bad, bool).any()


def _traced(recording: JaxRecording, function: Any, args: tuple, numbers: tuple[int, ...]) -> tuple | None:
    """What ``jax.make_jaxpr`` says of the function, which of its arguments' leaves are traced, and what left; None
    where JAX refuses it.

    Where the program compiles the function, JAX traces all leaves. Else those only that are arrays or floats; and where
    that is refused, those that are differentiated, whose values are known then, as in ``jax.grad``.
    """
    from .checks import find_error_site

    leaves, tree = jax.tree_util.tree_flatten(args)
    arguments = [number for number, argument in enumerate(args) for _ in jax.tree_util.tree_leaves(argument)]
    chosen = [k for k, number in enumerate(arguments) if number in numbers]
    floats = [
        k
        for k, leaf in enumerate(leaves)
        if k in chosen or hasattr(leaf, "dtype") or isinstance(leaf, (float, complex))
    ]
    every = list(range(len(leaves)))
    tries = {
        "": [(floats, False), (chosen, True)],
        "itself": [(every, False)],
        "part": [(floats, False)],
    }
    for traced, known in tries[JaxOrigin(function, args, recording.asked[2]).compiled]:
        values = JaxValues([leaves[k] for k in traced])

        def again(*tracers: Any, traced: list[int] = traced, values: JaxValues = values) -> Any:
            values.begin(tracers)
            whole = dict(enumerate(leaves)) | dict(zip(traced, tracers, strict=True))
            return function(*jax.tree_util.tree_unflatten(tree, list(whole.values())))

        try:
            with concrete(values) if known else nullcontext():
                closed, shape = jax.make_jaxpr(wraps(function)(again), return_shape=True)(*[leaves[k] for k in traced])
            recording.error = None
            return closed, shape, traced, values.exits
        except Exception as error:
            said = find_error_site(error)[1] or getattr(error, "__module__", "").startswith("jax")
            if not said and not any(
                word in f"{error} {error.__cause__}"
                for word in (
                    "Tracer",
                    "_IndexUpdate",
                    "forward-mode",
                    "lax.",
                    "scalar-output",
                    "vmap",
                    "must have equal types",
                    "must have identical types",
                )
            ):
                raise
            recording.error = error  # where a later try is refused, too, that is what jax.grad says
    return None


def _arguments(recording: JaxRecording, function: Any, args: tuple, numbers: tuple[int, ...]) -> list[JaxVariable]:
    """The rows of the arguments' leaves; of what is no number, such as a text, there is none."""
    found: list[JaxVariable] = []
    for number, (argument, names) in enumerate(zip(args, argument_names(function, args), strict=True)):
        for leaf, name in zip(jax.tree_util.tree_leaves(argument), names, strict=True):
            if not hasattr(leaf, "dtype") and not isinstance(leaf, NUMBERS):
                found.append(JaxVariable(leaf))
                continue
            found.append(recording.log.leaf(leaf, name, number in numbers))
            recording.given.append(JaxLeaf(leaf, found[-1].known_row, number))
    recording.chosen = [leaf.row for leaf in recording.given if leaf.argument in numbers]
    return found


def _forward(recording: JaxRecording, closed: Any, leaves: list[JaxVariable], shape: Any) -> bool:
    """Runs the function; False where a value in it is none."""
    log, run = recording.log, JaxRun(recording.log)
    try:
        results = run.run_closed(closed, leaves)
    except jax.errors.UnexpectedTracerError as error:
        recording.error, recording.stopped = error, run.failed
        return False
    for result in results:
        if result.row is None:  # computed from no argument
            result.value = jax.numpy.asarray(result.value)
            result.row = recording.leaf(
                log.keep(result.value),
                kind="constant",
                site=result.site,
                differentiable=False,
                extra=JaxExtra(),
                **form(result.value),
            )
        log.remember(result.value, result.row)
    recording.ran, recording.results = True, results
    recording.value = jax.tree_util.tree_unflatten(
        jax.tree_util.tree_structure(shape), [result.value for result in results]
    )
    recording.target = results[0].row if results else None
    return True


def _backward(
    recording: JaxRecording,
    function: Any,
    args: tuple,
    argnums: Any,
    has_aux: bool,
    chosen: list[JaxVariable],
) -> None:
    """JAX's backward pass from a result that is one float to arguments that are floats; otherwise what JAX says against
    it.
    """
    pair = isinstance(recording.value, tuple) and len(recording.value) == 2
    value = recording.value[0] if has_aux and pair else None if has_aux else recording.value
    one = isinstance(value, jax.Array) and value.shape == () and jax.numpy.issubdtype(value.dtype, jax.numpy.floating)
    mistake: Exception = AssertionError("JAX takes a result that is no number")
    try:
        gradients = None
        if one and all(inexact(leaf.value) for leaf in chosen):
            assert recording.target is not None
            back = Back(recording.log, recording.target, chosen)
            gradients = back.gradients(jax.numpy.ones_like(value))
    except Exception as error:
        mistake = error
    if gradients is None:
        try:
            with jit_disabled(False):  # a number that jit traces is what it is without
                jax.eval_shape(jax.grad(function, argnums, has_aux=has_aux), *args)
        except Exception as said:
            recording.error = said
        else:
            recording.fail(mistake)
        return
    recording.sweeps.append(sweep := back.sweep)
    sweep.asked, sweep.sources = "grad", recording.chosen
    recording.unreached = {leaf.known_row for leaf in chosen} - sweep.adjoints.keys()
    for leaf, gradient in zip(chosen, gradients, strict=True):
        if leaf.known_row in recording.unreached:
            sweep.arrive(leaf.known_row, recording.log.keep(gradient))
    wanted = tuple(args[number] for number in (argnums if isinstance(argnums, tuple) else (argnums,)))
    tree = jax.tree_util.tree_unflatten(jax.tree_util.tree_structure(wanted), gradients)
    recording.gradient = tree if isinstance(argnums, tuple) else tree[0]
