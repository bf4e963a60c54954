"""What JAX's tracers know while a function is traced as ``jax.grad`` traces it without ``jit``: a Python condition may ask for a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal

from .changes import Changes
from .jax_run import evaluate
from .site import Site, here

try:
    from jax._src.config import eager_constant_folding
    from jax._src.interpreters.partial_eval import DynamicJaxprTracer as Tracer
except ImportError:  # another JAX: conditions on values are refused then, as under jit
    Tracer = None


class Values:
    """The values of the tracers of one trace, computed where somebody asks.

    >>> values = Values([3.0])
    >>> def loss(x):
    ...     values.begin([x])
    ...     return x * 2.0 if x > 0 else x
    >>> with concrete(values):
    ...     print(len(jax.make_jaxpr(loss)(3.0).eqns))
    2
    """

    def __init__(self, leaves: Sequence[Any]) -> None:
        self.leaves = leaves
        self.trace: Any = None
        self.exits: list[tuple[Any, Site, Any]] = []  # dtype of what was asked for, where, and the argument that it was
        self._known: dict[Any, Any] = {}

    def begin(self, tracers: Sequence[Any]) -> None:
        """The function begins, with these tracers of its arguments' leaves."""
        if tracers and hasattr(tracers[0], "parent"):
            self.trace = tracers[0]._trace
            self._known = {tracer.val: leaf for tracer, leaf in zip(tracers, self.leaves, strict=True)}

    def of(self, tracer: Any) -> Any:
        """The value of a tracer; None for one of another trace, such as of a function under ``jit``."""
        waiting = [tracer]
        while tracer._trace is self.trace and waiting:
            missing = [] if self._has(waiting[-1]) else [given for given in waiting[-1].parent.in_tracers if not self._has(given)]
            if missing:
                waiting += missing
                continue
            at = waiting.pop()
            if not self._has(at):
                with jax.ensure_compile_time_eval():
                    results = evaluate(at.parent, *map(self._value, at.parent.in_tracers))
                self._known.update(zip(at.parent.outvars, results, strict=True))
        return self._value(tracer) if tracer._trace is self.trace else None

    def asked(self, tracer: Any) -> Any:
        """The same, for what Python goes on with."""
        value = self.of(tracer)
        self.exits.append((tracer.dtype, here(), next((leaf for leaf in self.leaves if leaf is value), None)))
        return value

    def _has(self, tracer: Any) -> bool:
        return isinstance(tracer.val, Literal) or tracer.val in self._known or tracer.val in self.trace.frame.constvar_to_val

    def _value(self, tracer: Any) -> Any:
        if isinstance(tracer.val, Literal):
            return tracer.val.val
        return self._known[tracer.val] if tracer.val in self._known else self.trace.frame.constvar_to_val[tracer.val]


@contextmanager
def concrete(values: Values) -> Iterator[None]:
    """In the block the tracers of one trace know their values, and what depends on none of them is computed at once."""
    changes = Changes()
    changes.begin()
    try:
        if Tracer is None:
            yield
            return
        changes.wrap(Tracer, "to_concrete_value", lambda function, tracer: values.asked(tracer) if tracer._trace is values.trace else function(tracer))
        for name in ("__array__", "__float__"):
            changes.wrap(Tracer, name, partial(_whole, values, name))
        with eager_constant_folding(True):
            yield
    finally:
        changes.undo()


def _whole(values: Values, name: str, function: Callable[..., Any], tracer: Any, *args: Any, **kwargs: Any) -> Any:
    """NumPy and Python may have what no derivative passes, whole numbers and conditions, which ``jax.grad`` does not trace."""
    known = tracer._trace is values.trace and not jax.numpy.issubdtype(tracer.dtype, jax.numpy.inexact)
    return getattr(np.asarray(values.of(tracer)), name)(*args, **kwargs) if known else function(tracer, *args, **kwargs)
