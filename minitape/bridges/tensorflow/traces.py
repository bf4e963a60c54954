"""What Python does while TensorFlow makes a graph of a function, and the calls of such functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.ops import custom_gradient

from ...engine.recording.block import TemporaryAttributes
from .guard import Guard
from .inside import STEPS, TRACED, TWIN, InsideStep, graphs_within, traced_here
from .value import TracedValue


class TraceWatcher:
    """Notes, with each graph, which tapes begin and end, what they watch and are asked for, while it is made."""

    def __init__(self, guard: Guard, open_functions: bool) -> None:
        self.guard, self.recording, self.log = guard, guard.recording, guard.recording.log
        self._called: Any = None  # the graph that ran last,
        self._function: Any = None  # and the tf.function that the program called
        self._traces_again = False
        self.wraps = (
            (tf.GradientTape, "gradient", self._traced),
            (custom_gradient, "_graph_mode_decorator", self._traced_custom),
            (Function, "__call__", self._open if open_functions else self._compiled),
        )

    def remembered(self, graph: Any, given: Sequence) -> None:
        """What was noted of a graph, and of those that it calls, when it was made, perhaps in another block."""
        known, self._called = {id(traced.step) for traced in self.log.traced}, graph
        self.log.given[graph] = [self.log.tensors.keep(tensor) for tensor in given]
        for traced in (traced for inner in graphs_within(graph) for traced in getattr(inner, TRACED, ())):
            if self._function is not None:
                setattr(self._function, TRACED, True)
            if id(traced.step) not in known:
                self.log.traced.append(traced._replace(before=len(self.recording.sweeps)))
                for inner in graphs_within(traced.graph):
                    self.log.steps.setdefault(inner, getattr(inner, STEPS, []))

    def _compiled(self, function: Any, called: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of a ``tf.function``. One that computes gradients, and was made before any block, is traced once
        more, without a run: so it is known what its tapes were asked.
        """
        if not tf.executing_eagerly():
            return function(_made_anew(called) if self._traces_again else called, *args, **kwargs)
        self._called, self._function = None, called
        result = function(called, *args, **kwargs)
        graph, self._function = self._called, None
        within = [] if graph is None or hasattr(graph, TRACED) else graphs_within(graph)
        if within and not any(getattr(inner, TRACED, ()) for inner in within):
            setattr(graph, TRACED, [])  # its operations are looked through once
            if any("gradient_tape" in op.name for inner in within for op in inner.get_operations()):
                self._trace_again(called, graph, args, kwargs)
        return result

    def _trace_again(self, called: Any, graph: Any, args: Any, kwargs: Any) -> None:
        count = len(self.log.traced)
        with self.guard.quietly(), TemporaryAttributes(self, _traces_again=True):
            try:
                setattr(graph, TWIN, _made_anew(called).get_concrete_function(*args, **kwargs).graph)
            except Exception:  # what runs once only, such as what makes variables, stays as it is
                del self.log.traced[count:]
        setattr(graph, TRACED, self.log.traced[count:])

    @contextmanager
    def step(self, word: str, subject: Any, given: Any = None) -> Iterator[Callable[[Any], None]]:
        """Notes it, with the operations that it made."""
        graph = tf.compat.v1.get_default_graph()
        steps, first, site = self.log.steps.setdefault(graph, []), len(graph.get_operations()), traced_here()
        setattr(graph, STEPS, steps)
        made: list = []
        number = len(steps)
        steps.append(InsideStep(first, first, word, site, subject, given, None))
        yield made.append
        steps[number] = InsideStep(
            first, len(graph.get_operations()), word, site, subject, given, made[0] if made else None
        )

    def _traced(self, function: Any, subject: Any, *args: Any, **kwargs: Any) -> Any:
        """A gradient that a tape is asked for, also while a function is traced."""
        if tf.executing_eagerly():
            return function(subject, *args, **kwargs)
        graph = tf.compat.v1.get_default_graph()
        number = len(self.log.steps.get(graph, ()))
        try:
            with self.step("gradient", subject, (args, kwargs)) as made:
                result = function(subject, *args, **kwargs)
                made(result)
        finally:
            given = inspect.signature(function).bind(subject, *args, **kwargs).arguments
            step, before = self.log.steps[graph][number], len(self.recording.sweeps)
            traced = TracedValue(graph, step, given["target"], given["sources"], before)
            self.log.traced.append(traced)
            setattr(graph, TRACED, [*getattr(graph, TRACED, ()), traced])
        return result

    def _traced_custom(self, function: Any, rule: Any, args: Any, kwargs: Any) -> Any:
        with self.step("custom", rule, args) as made:
            result = function(rule, args, kwargs)
            made(result)
        return result

    def _open(self, function: Any, called: Any, *args: Any, **kwargs: Any) -> Any:
        self.log.line.opened.append(called._name)
        try:
            return function(called, *args, **kwargs)
        finally:
            self.log.line.opened.pop()


def _made_anew(function: Function) -> Function:
    """The same function, which was not traced yet."""
    return tf.function(function.python_function, autograph=function._autograph)
