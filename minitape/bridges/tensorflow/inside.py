"""Inside of a ``tf.function`` that was called: its graph runs again, one operation after the other, under a recording
of its own.

What Python did while the graph was made (tapes that began and ended, what they watched, gradients,
``tf.custom_gradient``) was noted then, and is done again at the same place. The variables are copies, with the values
that they had: the program's own do not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context, execute
from tensorflow.python.eager.backprop import record_gradient
from tensorflow.python.ops import cond_v2, resource_variable_ops, while_v2
from tensorflow.python.util import tf_stack

from ...engine.recording.block import TemporaryAttributes
from ...engine.recording.frames import own_file
from ...explain.reasons import text
from ...recording.sites import NOWHERE, Site
from .operations import changes_variable, handle_of, name_of, variable_of
from .value import VariableValue

STORES = ("EmptyTensorList", "TensorListPushBack")
# what is noted of a graph, for later blocks, too, as attributes of it
STEPS, TRACED, TWIN, WITHIN, CHANGES = (f"_minitape_{what}" for what in "steps traced twin within changes".split())
READS = ("ReadVariableOp", "ResourceGather", "ResourceGatherNd")
# a scope in which TensorFlow puts a loop or a branch
_FLOW = re.compile(r"(while|cond|case|switch_case|branch)(_\d+)?").fullmatch


class InsideStep(NamedTuple):
    """What Python did while a graph was made."""

    first: int  # the graph had so many operations when it began,
    last: int  # and so many when it ended
    word: str
    site: Site
    subject: Any  # a tape, or a function
    given: Any
    made: Any


def site_of(frames: Any) -> Site:
    """The user's line in a traceback of TensorFlow's, also for code that autograph wrote."""
    found = [(frame.filename, frame.lineno) for frame in frames or ()]
    return next((site for site in reversed(found) if not own_file(site[0])), NOWHERE)


def first_line(site: Site) -> Site:
    """The first line of a statement, which is one line of autograph's."""
    at = text.at(site)
    return site if at is None else at.site


def traced_here() -> Site:
    """The user's line that is being traced."""
    return site_of(tf_stack.extract_stack())


def has_tapes(graph: Any, steps: dict[Any, list[InsideStep]]) -> bool:
    """Whether a tape began while a graph was made, or one of the graphs that it calls."""
    return any(step.word == "begins" for inner in graphs_within(graph) for step in steps.get(inner, ()))


def graphs_of(op: Any) -> Sequence:
    """The graphs that an operation runs."""
    if op.type in ("While", "StatelessWhile"):
        return [while_v2._get_graph(op, "cond", "_cond_graph"), while_v2._get_graph(op, "body", "_body_graph")]
    if op.type in ("If", "StatelessIf", "Case", "StatelessCase"):
        return list(cond_v2.get_func_graphs(op))
    if op.type in ("PartitionedCall", "StatefulPartitionedCall"):
        return [op.graph._get_function(op.get_attr("f").name).graph]
    return []


def graphs_within(graph: Any) -> list:
    """A graph, and all that its operations run."""
    found: list | None = getattr(graph, WITHIN, None)
    if found is None:
        inner = dict.fromkeys(
            below for op in graph.get_operations() for one in graphs_of(op) for below in graphs_within(one)
        )
        found = [graph, *inner]
        setattr(graph, WITHIN, found)
    return found


def copied_into(graph: Any) -> Iterator[tuple]:
    """Small tensors of the program that TensorFlow wrote into a graph as constants: (the constant, the tensor)."""
    captures = graph.function_captures
    return (
        (inside, captures.by_val_external[key])
        for key, inside in captures.by_val_internal.items()
        if inside.op.type == "Const" and isinstance(captures.by_val_external.get(key), tf.Tensor)
    )


def changes_in(graph: Any) -> dict[int, Site]:
    """Which inputs of a graph are variables that it changes, and on which line: nowhere where an optimizer of Keras
    does it.
    """
    known: dict[int, Site] | None = getattr(graph, CHANGES, None)
    if known is not None:
        return known
    found: dict[int, Site] = {}
    places = {id(tensor): number for number, tensor in enumerate(graph.inputs)}
    for op in graph.get_operations():
        inner = next(iter(graphs_of(op)[-1:]), None)
        inputs = list(op.inputs)[:1] if inner is None else list(op.inputs)[-len(inner.inputs) :]
        changed = (
            changes_in(inner) if inner is not None else {0: site_of(op.traceback)} if changes_variable(op.type) else {}
        )
        optimizes = bool(changed) and any("/keras/src/optimizers/" in frame.filename for frame in op.traceback or ())
        for port, site in changed.items():
            if id(inputs[port]) in places:
                found.setdefault(places[id(inputs[port])], NOWHERE if optimizes else site)
    setattr(graph, CHANGES, found)
    return found


class Again:
    """One call, once more. ``steps`` says what Python did while graphs were made; ``log`` is where the call's inputs
    come from.
    """

    def __init__(self, log: Any, inner: Any) -> None:
        self.log, self.inner = log, inner
        self.values: dict = {}  # by the identity of a tensor of a graph, or of a handle of the program's
        self.variables: dict = {}  # the copies, by the identities of their handles
        # by the identity of the operation that runs them: TensorFlow may make them anew
        self.graphs: dict[int, Sequence] = {}
        self.tapes: dict = {}
        self.pauses: dict = {}
        self.way: list[str] = []  # which turns and branches it is in
        self.made_up = False  # with stand-ins for what it was given: then an operation may refuse them

    def close(self) -> None:
        """No tape of this run records any more, wherever it ended."""
        for tape in self.tapes.values():
            if tape._recording:
                tape.__exit__(None, None, None)

    def argument_for(self, row: int, wanted: Any) -> Any:
        """The argument of the call for an input: the tensor, or a copy of the variable with the value it had then."""
        entry = self.log.entries[row]
        value, asked = None if entry.value is None else entry.value.known, entry.extra.asked
        if value is None or wanted.dtype != tf.resource:
            return asked if value is None else value
        return self._copy(asked, self.log.tensors.variables[id(asked)].variable, value._numpy().copy())

    def _copy(self, handle: Any, known: Any, value: Any) -> Any:
        copy = tf.Variable(
            value, trainable=known is None or known.trainable, name=None if known is None else name_of(known)
        )
        self.values[id(handle)], self.variables[id(copy.handle)] = copy.handle, copy
        self.inner.tensors.variables[id(copy.handle)] = VariableValue(copy.handle, copy)
        return copy.handle

    def run(self, graph: Any, given: Sequence, until: InsideStep | None = None) -> list:
        """The results of a graph; ``until`` a step, of one that was not traced to its end."""
        self.values.update(zip(map(id, graph.inputs), given, strict=False))
        copied = {id(inside): self.value(outside) for inside, outside in copied_into(graph)}
        self.values |= copied
        steps, passed = list(self.log.steps.get(graph, ())), 0
        # copies that TensorFlow makes of results
        ends = {id(tensor.op) for tensor in graph.outputs if tensor.op.type == "Identity"}
        for number, op in enumerate(graph.get_operations()):
            while steps and steps[0].first <= number:
                passed = max(passed, self._step(steps[0], passed))
                if steps.pop(0) is until:
                    return []
            if number >= passed and op.type != "Placeholder" and not (op.outputs and id(op.outputs[0]) in copied):
                if id(op) in ends:
                    self.values[id(op.outputs[0])] = self.value(op.inputs[0])
                else:
                    self._run(op)
        for step in steps:
            self._step(step, passed)
            if step is until:
                return []
        return [self.value(tensor) for tensor in graph.outputs]

    def capture(self, graph: Any, batch: Sequence = ()) -> list:
        """What a graph is given that was not called: copies of the program's variables, its constants, and a batch
        or stand-ins for the rest.
        """
        outside, self.made_up = {id(inside): value for value, inside in graph.captures}, True
        free = arguments(graph)
        known = {id(tensor): given for tensor, given in zip(free, batch, strict=False) if len(free) == len(batch)}
        return [
            known[id(tensor)] if id(tensor) in known else self._stand_in(tensor, outside.get(id(tensor)))
            for tensor in graph.inputs
        ]

    def _stand_in(self, tensor: Any, outside: Any) -> Any:
        while outside is not None and tf.is_symbolic_tensor(outside):  # captured by the graph around it, too
            outside = {id(inside): value for value, inside in getattr(outside.graph, "captures", ())}.get(id(outside))
        if outside is None:
            return tensor if tensor.dtype in (tf.resource, tf.variant, tf.string) else _some(tensor)
        known = self.log.tensors.variables.get(id(outside))
        variable = None if known is None else variable_of(known.variable)
        if outside.dtype != tf.resource or not isinstance(variable, tf.Variable):
            return outside
        if id(outside) not in self.values:
            value = self._lasting(variable)
            # none is there while a layer is built in the function
            self._copy(outside, variable, value if value.shape == variable.shape else _some(variable))
        return self.values[id(outside)]

    def _lasting(self, variable: Any) -> Any:
        """The value of a variable; where a step has made it NaN, the last one before."""
        now, states = variable.numpy(), [self.log.entries[row].value for row in self.log.tensors.rows_of(variable)]
        finite = [state.known for state in states if state is not None and not state.is_gone and state.facts()[1]]
        return finite[-1].numpy() if finite and now.dtype.kind == "f" and not np.isfinite(now).all() else now

    def value(self, tensor: Any) -> Any:
        """What stands for a tensor here. TensorFlow may make an operation's input after the operation, for a
        gradient.
        """
        if id(tensor) not in self.values and isinstance(tensor, tf.Tensor) and tf.is_symbolic_tensor(tensor):
            self._run(tensor.op)
        return self.values.get(id(tensor), tensor)

    def _values(self, structure: Any) -> Any:
        """The same for everything in a structure; for a variable its copy."""
        found = tf.nest.map_structure(lambda part: self.value(handle_of(part)), structure)
        return tf.nest.map_structure(lambda part: self.variables.get(id(part), part), found)

    # -- what Python did ---------------------------------------------------------------------------

    def _step(self, step: InsideStep, passed: int) -> int:
        """Does it again; the operations before the number that it returns were made by it."""
        if step.first < passed:
            return passed
        self.inner.line.rerun = step.site, []
        if step.word == "gradient":
            args, kwargs = self._values(step.given)
            self._made(step.made, self.tapes[id(step.subject)].gradient(*args, **kwargs))
        elif step.word == "custom":
            self._made(step.made, tf.custom_gradient(step.subject)(*self._values(step.given)))
        elif step.word == "applies":
            self._applies(step)
        else:
            self._tape_step(step)
        return step.last

    def _tape_step(self, step: InsideStep) -> None:
        """A tape begins, ends, pauses, goes on, is reset, or watches something."""
        key = id(step.subject)
        tape: Any = self.tapes.get(key)
        if step.word == "begins":
            watches = step.subject._watch_accessed_variables
            tape = tape or tf.GradientTape(persistent=True, watch_accessed_variables=watches)
            self.tapes[key] = tape.__enter__()
        elif step.word == "ends":
            tape.__exit__(None, None, None)
        elif step.word == "pauses":
            self.pauses[key] = tape.stop_recording()
            self.pauses[key].__enter__()
        elif step.word == "resumes":
            self.pauses.pop(key).__exit__(None, None, None)
        elif step.word == "resets":
            tape.reset()
        else:
            tape.watch(self._values(step.given))

    def _applies(self, step: InsideStep) -> None:
        """An optimizer's step: what it computes is not shown, and the variables keep their values."""
        for gradient, variable in step.given:
            handle = self.value(handle_of(variable))
            self.inner.applies([(self.value(gradient), handle)])
            self.inner.stored([handle])

    def _made(self, before: Any, now: Any) -> None:
        for old, new in zip(tf.nest.flatten(before), tf.nest.flatten(now), strict=True):
            pairs = zip(
                tf.nest.flatten(old, expand_composites=True), tf.nest.flatten(new, expand_composites=True), strict=False
            )
            self.values.update((id(a), b) for a, b in pairs if a is not None and b is not None)

    # -- what the graph does -----------------------------------------------------------------------

    def _run(self, op: Any) -> None:
        given = [self.value(tensor) for tensor in op.inputs]
        if id(op) not in self.graphs:
            self.graphs[id(op)] = graphs_of(op)
        graphs = self.graphs[id(op)]
        self.inner.line.rerun = (
            first_line(site_of(op.traceback)),
            [*self.way, *(part for part in op.name.split("/")[:-1] if not _FLOW(part))],
        )
        if "While" in op.type:
            results = self._while(graphs, given)
        elif graphs and "Call" in op.type:
            results = self.run(graphs[0], given)
        elif graphs:
            taken = self._branch(op, given[0], len(graphs))
            for graph in (*graphs[:taken], *graphs[taken + 1 :]):
                self._does_not_run(graph, given[1:])
            name = f"branch {taken}" if "Case" in op.type else ("then", "else")[taken]
            results = self._run_in(name, graphs[taken], given[1:])
        elif op.type == "Const":
            results = [tf.constant(tf.get_static_value(op.outputs[0]), op.outputs[0].dtype)]
        elif op.outputs or changes_variable(op.type):  # not what prints, or checks
            for tensor in given:
                if id(tensor) in self.variables and op.type in READS:
                    resource_variable_ops.variable_accessed(self.variables[id(tensor)])
            results = _execute(op, given, self._says_something(op, given), self.made_up)
        else:
            results = []
        self.values.update(zip(map(id, op.outputs), results, strict=False))

    def _says_something(self, op: Any, given: list) -> bool:
        """Not of the counters of loops, nor of what TensorFlow stores for a way back."""
        counts = all(tensor.dtype.is_integer or tensor.dtype.is_bool for tensor in (*given, *op.outputs))
        return op.type not in STORES and (not counts or any(map(self.inner.tensors.rows_of, given)))

    def _branch(self, op: Any, number: Any, count: int) -> int:
        if op.type in ("If", "StatelessIf"):
            return 0 if self._is_true(number) else 1
        return int(number) if 0 <= int(number) < count else count - 1

    def _is_true(self, condition: Any) -> bool:
        """The value of a condition as a bool. One computed from rows is read as the program would, and noted."""
        return bool(condition) if self.inner.tensors.rows_of(condition) else bool(condition._numpy())

    def _does_not_run(self, graph: Any, given: list) -> None:
        for tensor, placeholder in zip(given, graph.inputs, strict=False):
            readers = [op for op in placeholder.consumers() if op.type not in READS] or [
                reader for op in placeholder.consumers() for reader in op.outputs[0].consumers()
            ]
            self.inner.idle += [(tensor, site_of(op.traceback)) for op in readers[:1]]

    def _while(self, graphs: Sequence, given: list) -> list:
        (condition, body), turn = graphs, 1
        while self._is_true(self.run(condition, given)[0]):
            given, turn = self._run_in(f"turn {turn}", body, given), turn + 1
        if turn == 1:
            self._does_not_run(body, given)
        return given

    def _run_in(self, name: str, graph: Any, given: list) -> list:
        """A turn of a loop, or a branch."""
        with TemporaryAttributes(self, way=[*self.way, name]):
            return self.run(graph, given)


def _execute(op: Any, given: list, seen: bool, made_up: bool) -> list:
    """Runs one operation of a graph eagerly, as TensorFlow's own functions do; one that refuses ``made_up`` values has
    such a result, too.
    """
    attrs = tuple(
        part for attr in op.op_def.attr for part in (attr.name, _plain_attr(attr.type, op.get_attr(attr.name)))
    )
    try:
        results = execute.quick_execute(op.type.encode(), len(op.outputs), given, attrs, context.context())
    except tf.errors.OpError:
        if not made_up or any(tensor.dtype in (tf.resource, tf.variant, tf.string) for tensor in op.outputs):
            raise
        results = [_some(tensor) for tensor in op.outputs]
    if seen:
        record_gradient(op.type, given, attrs, results)
    for callback in context.context().op_callbacks if seen else ():
        callback(op.type, given, attrs, results, op.name)
    return list(results)


def arguments(graph: Any) -> list:
    """What a graph is given by a call, without what it captured."""
    captured = {id(inside) for _, inside in graph.captures}
    return [tensor for tensor in graph.inputs if id(tensor) not in captured]


def _some(like: Any) -> Any:
    """Numbers of a shape and dtype; of whole numbers, which may be classes, words or a mask, zeros and ones."""
    shape = [] if like.shape.rank is None else [2 if size is None else size for size in like.shape]
    numbers = (
        np.random.default_rng(0).uniform(0.2, 0.8, shape) if like.dtype.is_floating else np.indices(shape).sum(0) % 2
    )
    return tf.constant(numbers, like.dtype)


def _plain_attr(kind: str, value: Any) -> Any:
    """An attribute in the form in which operations that run eagerly take it."""
    if kind.startswith("list("):
        return [_plain_attr(kind[5:-1], part) for part in value]
    make = {"type": execute.make_type, "shape": execute.make_shape}.get(kind)
    return value if make is None else make(value, kind)


def run_again(recording: Any, inner: Any, row: int, watched: Sequence[int], seeds: Sequence) -> tuple[list, list]:
    """Runs the call of a row again, in the block of ``inner``; returns (inputs, results). Where inputs are ``watched``,
    a tape goes back to them from the results, with the adjoints that came to these."""
    log, entry = recording.log, recording.entries[row]
    graph = entry.extra.function.graph
    inner.log.line.rerun = entry.site, []
    with (
        closing(Again(log, inner.log)) as run,
        tf.GradientTape(persistent=True, watch_accessed_variables=False) if watched else nullcontext() as tape,
    ):
        given = [run.argument_for(number, wanted) for number, wanted in zip(entry.inputs, graph.inputs, strict=True)]
        for number, tensor in zip(entry.inputs, given, strict=True):
            if tape is not None and number in watched:
                tape.watch(run.variables.get(id(tensor), tensor))
        run.run(graph, given)
    results = [_plain(run, tensor) for tensor in graph.outputs[: len(seeds)]]
    if tape is not None and any(seed is not None for seed in seeds):
        ends = [(result, seed) for result, seed in zip(results, seeds, strict=True) if seed is not None]
        tape.gradient([result for result, _ in ends], given, output_gradients=[seed for _, seed in ends])
    inner.log.line.rerun = None
    return [run.variables.get(id(tensor), tensor) for tensor in given], results


def _plain(run: Again, tensor: Any) -> Any:
    """A result, without the copies that TensorFlow makes of it at the end of a function."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return run.value(tensor)
