"""What a program does of TensorFlow inside the block: operations, tapes, reads of variables, values that leave,
gradients.
"""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.eager import backprop, context, execute, imperative_grad
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction, _TapeGradientFunctions
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.framework import op_callbacks, ops
from tensorflow.python.framework.tensor_util import constant_value  # by which TensorFlow looks at a value itself
from tensorflow.python.ops import custom_gradient, resource_variable_ops, script_ops

from ...engine.recording.block import TemporaryAttributes
from ...engine.recording.frames import own_file
from .inside import STEPS, TRACED, TWIN, InsideStep, changes_in, graphs_within, traced_here
from .operations import changes_variable, handle_of
from .rows import Sent, TensorFlowLog
from .value import TracedValue, VariableValue

LEAVES = "numpy __array__ __float__ __int__ __bool__ __index__ __complex__".split()


class TensorFlowWatcher:
    """Follows a program from the beginning of the block to its end."""

    def __init__(self, recording: Any, open_functions: bool = False) -> None:
        self.recording = recording
        self.open_functions = open_functions
        self.log: TensorFlowLog = recording.log
        self.quiet = 0
        self._custom_calls = 0
        self._accessed: dict = {}  # the variables that were read inside of a tf.custom_gradient
        self._applying = 0  # more than 0 in the step of an optimizer
        self._calls: list = []  # the tf.functions that run
        self._called: Any = None  # the graph that ran last,
        self._traces_again = False
        self._function: Any = None  # and the tf.function that the program called
        # operations of the sweep that runs: (op, inputs, came, gives)
        self._passed: list[tuple] = []

    # -- the block ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """From now on everything is seen."""
        changes = self.log.changes
        changes.begin()
        changes.note(self._stop)
        op_callbacks.add_op_callback(self._ran)
        changes.note(_register)
        self._wrap(backprop, "_gradient_function", self._passing)
        _register()
        tape = tf.GradientTape
        for owner, name, around in (
            (resource_variable_ops, "variable_accessed", self._read),
            (imperative_grad, "imperative_grad", self._gradient),
            (ConcreteFunction, "_call_flat", self._call),
            (_TapeGradientFunctions, "_wrap_backward_function", self._backward),
            (tape, "gradient", self._traced),
            (custom_gradient, "_graph_mode_decorator", self._traced_custom),
            (Function, "__call__", self._open if self.open_functions else self._compiled),
            (tape, "jacobian", self._jacobian),
            (tape, "batch_jacobian", self._jacobian),
            (tape, "watch", self._watch),
            (tape, "__enter__", self._border),
            (tape, "__exit__", self._border),
            (tape, "stop_recording", self._paused),
            (tape, "reset", self._reset),
            (custom_gradient, "_eager_mode_decorator", self._custom),
            (iterator_ops.OwnedIterator, "_create_iterator", self._iterator),
            (script_ops, "py_func_common", self._numpy_function),
            *((ops._EagerTensorBase, name, self._left(name)) for name in LEAVES),
        ):
            self._wrap(owner, name, around)
        # where no one imported Keras, there is none
        if optimizers := sys.modules.get("keras.src.optimizers.base_optimizer"):
            self._wrap(optimizers.BaseOptimizer, "apply", self._apply)
            self._wrap(sys.modules["keras.src.backend"], "convert_to_numpy", self._left("__array__"))
        if self.open_functions and not tf.config.functions_run_eagerly():
            changes.note(partial(tf.config.run_functions_eagerly, False))
            tf.config.run_functions_eagerly(True)

    def end(self) -> None:
        """TensorFlow is as it was."""
        self.log.changes.undo()
        self.log.forget_tapes()

    def _stop(self) -> None:
        """Operations are seen no more."""
        if self._ran in context.context().op_callbacks:
            op_callbacks.remove_op_callback(self._ran)
        elif not context.context().op_callbacks:  # Ctrl-C came after half of that
            execute.execute = execute.quick_execute

    def _wrap(self, owner: Any, name: str, around: Any) -> None:
        """Until the block ends, ``around(function, ...)`` runs in place of a function of TensorFlow's."""
        if name in vars(owner):
            self.log.changes.wrap(owner, name, around)

    def _safely(self, write: Callable, *arguments: Any) -> Any:
        """Writes something down. A mistake in that ends the recording, with a warning, and never the program."""
        if self.recording.failure is not None or self.quiet:
            return None
        self.quiet += 1
        try:
            return write(*arguments)
        except Exception as error:
            self.recording.fail(error)
            return None
        finally:
            self.quiet -= 1

    # -- what is seen ------------------------------------------------------------------------------

    def _ran(self, op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is None and self.log.changes.here:  # not while a tf.function is traced
            op = op_type.decode() if isinstance(op_type, bytes) else op_type
            if self._applying and not changes_variable(op):
                return
            if op.startswith("__") and self._calls:  # what it keeps for its gradient comes behind its results
                outputs = outputs[: len(self._calls[-1].function_type.flat_outputs)]
            elif not self._calls:  # inside of one no tape is open
                self._safely(self.log.settle)
            self._safely(
                self.log.wrote, op, inputs, outputs, self._calls[-1] if op.startswith("__") and self._calls else None
            )

    def _call(self, function: Any, concrete: Any, tensor_inputs: Any, captured_inputs: Any) -> Any:
        if not tf.executing_eagerly():
            return function(concrete, tensor_inputs, captured_inputs)
        self._safely(self.log.enters, concrete.graph.variables, [*tensor_inputs, *captured_inputs])
        self._safely(self._remembered, concrete.graph, tensor_inputs)
        self._calls.append(concrete)
        try:
            return function(concrete, tensor_inputs, captured_inputs)
        finally:
            self._calls.pop()
            self._safely(self._ran_through, concrete.graph, [*tensor_inputs, *captured_inputs])

    def _ran_through(self, graph: Any, inputs: Sequence) -> None:
        self.log.ran(inputs, changes_in(graph))

    def _backward(self, function: Any, functions: Any, graph: Any, backward: Any, outputs: Any) -> Any:
        """What the gradient of a ``tf.function`` sends to its inputs."""
        self.quiet += 1  # it makes zeros for lists that a loop keeps
        try:
            back, recorded = function(functions, graph, backward, outputs)
        finally:
            self.quiet -= 1
        name = functions._forward.cached_definition.signature.name

        @wraps(back)
        def passing(*came: Any) -> Any:
            gives = back(*came)
            self._passed.append((name, None, list(came), list(gives)))
            return gives

        return passing, recorded

    # -- what Python does while a graph is made ----------------------------------------------------

    def _remembered(self, graph: Any, given: Sequence) -> None:
        """What was noted of a graph, and of those that it calls, when it was made, perhaps in another block."""
        known, self._called = {id(traced.step) for traced in self.log.traced}, graph
        self.log.given[graph] = [self.log.keep(tensor) for tensor in given]
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
        self.quiet, self._traces_again = self.quiet + 1, True
        try:
            setattr(graph, TWIN, _made_anew(called).get_concrete_function(*args, **kwargs).graph)
        except Exception:  # what runs once only, such as what makes variables, stays as it is
            del self.log.traced[count:]
        finally:
            self.quiet, self._traces_again = self.quiet - 1, False
        setattr(graph, TRACED, self.log.traced[count:])

    @contextmanager
    def _step(self, word: str, subject: Any, given: Any = None) -> Iterator[Callable[[Any], None]]:
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
            with self._step("gradient", subject, (args, kwargs)) as made:
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
        with self._step("custom", rule, args) as made:
            result = function(rule, args, kwargs)
            made(result)
        return result

    def _open(self, function: Any, called: Any, *args: Any, **kwargs: Any) -> Any:
        self.log.opened.append(called._name)
        try:
            return function(called, *args, **kwargs)
        finally:
            self.log.opened.pop()

    def _custom(self, function: Any, rule: Any, args: Any, kwargs: Any) -> Any:
        """A function with a gradient of the program's own (``tf.custom_gradient``): one row, whatever it computes
        inside.
        """

        @wraps(rule)
        def watched(*given: Any, **named: Any) -> Any:
            result, back = rule(*given, **named)
            self.log.rules[op] = back

            @wraps(back)
            def passing(*came: Any, **variables: Any) -> Any:
                gives = back(*came, **variables)
                own = gives[0] if variables else gives
                sent = tf.nest.flatten(own) if isinstance(own, (list, tuple)) else [own]
                if variables:
                    of = {id(handle_of(v)): g for v, g in zip(variables["variables"], gives[1], strict=False)}
                    sent += [of.get(id(handle)) for handle in read]
                self._passed.append((op, None, list(came), sent))
                return gives

            passed: Any = passing
            passed.__signature__ = inspect.signature(back)  # TensorFlow reads it
            return result, passed

        if self._applying:  # an optimizer sums its gradients over replicas
            return function(rule, args, kwargs)
        read: list = []
        self._custom_calls += 1
        # one of TensorFlow's own is a function in what the program calls
        called = rule.__qualname__.split(".<locals>")[-2:][0] if own_file(rule.__code__.co_filename) else rule.__name__
        op = f"{called.rpartition('.')[2]}:{self._custom_calls}"
        inputs = [value for value in tf.nest.flatten((args, kwargs)) if isinstance(handle_of(value), tf.Tensor)]
        rows = self._safely(lambda: [self.log.row_of(handle_of(value)) for value in inputs])
        outer, self._accessed = self._accessed, {}
        self.quiet += 1
        try:
            result = function(watched, args, kwargs)
        finally:
            self.quiet -= 1
            given = {id(handle_of(value)) for value in inputs}
            # variables that it uses inside
            read += [handle for key, handle in self._accessed.items() if key not in given]
            self._accessed = outer | self._accessed
        if rows is not None:
            rows += self._safely(lambda: [self.log.row_of(handle) for handle in read]) or []
            self._safely(
                self.log.custom,
                op,
                rows,
                [tensor for tensor in tf.nest.flatten(result) if isinstance(tensor, tf.Tensor)],
            )
        return result

    def _jacobian(self, function: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        """TensorFlow computes all rows of it at once, in a function of its own; without pfor it asks for one gradient
        after the other.
        """
        if not kwargs.get("experimental_use_pfor", True):
            return function(tape, target, sources, *args, **kwargs)
        self._safely(self._settle, None)
        self.quiet += 1
        try:
            results = function(tape, target, sources, *args, **kwargs)
        finally:
            self.quiet -= 1
        if not tf.inside_function():
            self._safely(
                self.log.jacobian, function.__name__, target, tf.nest.flatten(sources), tf.nest.flatten(results)
            )
        return results

    def _apply(self, function: Any, optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
        """An optimizer's step: the variables have new states, and what it computes is no row."""
        grads = list(grads)
        pairs = list(
            zip(
                grads,
                optimizer._trainable_variables if trainable_variables is None else trainable_variables,
                strict=False,
            )
        )
        eager = tf.executing_eagerly()
        if eager:
            self._safely(self.log.applies, pairs)
        self._applying += eager
        try:
            with nullcontext() if eager else self._step("applies", optimizer, pairs):
                return function(optimizer, grads, trainable_variables)
        except ValueError as error:
            self._add_reason(error, pairs)
            raise
        finally:
            self._applying -= eager
            self.log.applied = {}

    def _add_reason(self, error: ValueError, pairs: Sequence[tuple]) -> None:
        """Add to an error of Keras's optimizer why it got no gradient."""
        if hasattr(error, "add_note") and pairs and all(gradient is None for gradient, _ in pairs):
            # out of the function that is traced: tf.init_scope() would say that it is still inside of one
            with tf.Graph().as_default(), context.eager_mode(), TemporaryAttributes(self.log.changes, thread=None):
                if (reason := self._safely(self.recording.explain, pairs[0][1])) is not None:
                    error.add_note(f"minitape: {reason}")

    def _read(self, function: Any, variable: Any) -> Any:
        if tf.executing_eagerly() or tf.inside_function():
            handle = handle_of(variable)
            known = self.log.variables.get(id(handle))
            if known is None or known.variable is None:
                self.log.variables[id(handle)] = VariableValue(handle, variable)
            self._accessed[id(handle)] = handle
        return function(variable)

    def _watch(self, function: Any, tape: Any, tensor: Any) -> Any:
        if tf.inside_function():
            with self._step("watches", tape, tensor):
                return function(tape, tensor)
        self._safely(self.log.settle)
        for value in tf.nest.flatten(tensor, expand_composites=False):
            self._safely(self._before_watch, value)
        result = function(tape, tensor)
        for value in tf.nest.flatten(tensor, expand_composites=False):
            self._safely(self.log.watched, value, tape)
        return result

    def _before_watch(self, value: Any) -> None:
        if isinstance(value, tf.Variable):
            self.log.variables.setdefault(id(value.handle), VariableValue(value.handle, value))

    def _border(self, function: Any, tape: Any, *args: Any) -> Any:
        """A tape's block begins or ends."""
        word = "begins" if function.__name__ == "__enter__" else "ends"
        if tf.inside_function():  # a tape of a graph that is traced
            with self._step(word, tape):
                return function(tape, *args)
        self._safely(self._settle, tape._tape if word == "ends" else None)
        self.log.spanned(word, tape)
        return function(tape, *args)

    def _paused(self, function: Any, tape: Any) -> Any:
        self._safely(self._settle, None)
        return self._pause(tape, function(tape))

    @contextmanager
    def _pause(self, tape: Any, paused: Any) -> Iterator[None]:
        if tf.inside_function():
            with paused:
                with self._step("pauses", tape):
                    pass
                yield
                with self._step("resumes", tape):
                    pass
            return
        self.log.spanned("pauses", tape)
        with paused:
            yield
        self.log.spanned("goes on", tape)

    def _reset(self, function: Any, tape: Any) -> Any:
        if tf.inside_function():
            with self._step("resets", tape):
                return function(tape)
        self._safely(self._settle, None)
        self.log.spanned("resets", tape)
        return function(tape)

    def _left(self, name: str) -> Callable:
        def around(function: Any, tensor: Any, *args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(2).f_code
            asked_by_library = caller is constant_value.__code__ or (
                name == "__bool__" and self.log.place is None and own_file(caller.co_filename)
            )
            if not self.quiet and not asked_by_library and isinstance(tensor, ops.EagerTensor):
                self._safely(self.log.leave, tensor, name)
            self.quiet += 1
            try:
                return function(tensor, *args, **kwargs)
            finally:
                self.quiet -= 1

        return around

    def _iterator(self, function: Any, iterator: Any, dataset: Any) -> Any:
        """A dataset is asked for its elements: which variables do its functions read?"""
        with TemporaryAttributes(self.log, captured=self._safely(captured_by, dataset, self.log.variables) or []):
            return function(iterator, dataset)

    def _numpy_function(self, function: Any, called: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if tf.executing_eagerly():
            for tensor in tf.nest.flatten(inputs):
                if isinstance(tensor, ops.EagerTensor):
                    self._safely(self.log.leave, tensor, "numpy_function")
        return function(called, inputs, *args, **kwargs)

    def _settle(self, tape: Any) -> None:
        """What is known by now: which results are on a tape, and which variables it watched."""
        self.log.settle()
        if tape is not None:
            self.log.adopt(tape.watched_variables())

    # -- gradients ---------------------------------------------------------------------------------

    def _gradient(
        self,
        function: Any,
        tape: Any,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        sources_raw: Any = None,
        **options: Any,
    ) -> Any:
        """TensorFlow's sweep, asked for the adjoints of what lies between, too."""
        raw = sources if sources_raw is None else sources_raw
        self._safely(self._settle, tape)
        between = self._safely(self._between, target) if not tf.inside_function() else None
        passed: list = []
        if not between:
            with TemporaryAttributes(self, _passed=passed):  # no code asks for it
                return function(tape, target, sources, output_gradients, sources_raw=sources_raw, **options)
        silent = bool(pywrap_tfe.TFE_Py_TapeSetIsEmpty())  # the sweep is not recorded: its operations are no rows
        more = [asked for _, asked in between]
        self.quiet += silent
        try:
            with TemporaryAttributes(self, _passed=passed):
                found = function(
                    tape, target, [*sources, *more], output_gradients, sources_raw=[*raw, *more], **options
                )
        except Exception:
            self.log.failed = len(self.recording.sweeps), between[-1][0]
            raise
        finally:
            self.quiet -= silent
        self._safely(self._note, tape, target, sources, [row for row, _ in between], found, passed, output_gradients)
        if silent:
            self._safely(
                self.log.gave, found[: len(sources)], [row for t in target for row in self.log.rows_of(t)[-1:]]
            )
        return found[: len(sources)]

    def _between(self, target: Sequence) -> list[tuple[int, Any]]:
        """The rows behind the targets, with what a sweep is asked for."""
        stack = [self.log.row_of(t, is_target=True) for t in target]
        seen: set[int] = set()
        while stack:
            row = stack.pop()
            if row not in seen:
                seen.add(row)
                stack += self.log.entries[row].inputs
        # whose zeros have a wrong shape: ask no more than needed
        python = any(self.log.entries[row].op == "EagerPyFunc" for row in seen)
        rows = [
            (row, self.log.entries[row].extra.asked)
            for row in sorted(seen)
            if not python or self.log.entries[row].kind != "constant"
        ]
        return [
            (row, asked)
            for row, asked in rows
            if not isinstance(asked, tf.TensorSpec)
            and (asked.dtype.is_floating or asked.dtype.is_complex or asked.dtype == tf.resource)
        ]

    def _passing(
        self,
        function: Any,
        op_name: str,
        attrs: Any,
        num_inputs: Any,
        inputs: Any,
        outputs: Any,
        out_grads: Any,
        *rest: Any,
    ) -> Any:
        """An operation of the sweep: TensorFlow's own function computes what it gives."""
        gives = function(op_name, attrs, num_inputs, inputs, outputs, out_grads, *rest)
        if self.recording.failure is None:
            self._passed.append(
                (op_name, inputs, list(out_grads), list(gives) if isinstance(gives, (list, tuple)) else [gives])
            )
        return gives

    def _note(
        self, tape: Any, target: Any, sources: Any, rows: list[int], found: Any, passed: list, seeds: Any
    ) -> None:
        """Writes the sweep down."""
        log = self.log
        ends = [row for t in target for row in log.rows_of(t)[-1:]]
        sweep = self.recording.sweep(ends)
        sweep.tape = next((known for known in reversed(log.tapes) if getattr(known.ref(), "_tape", None) is tape), None)
        sweep.at, sweep.site, sweep.way = len(log.entries), log.here(), log.way()
        sweep.gave = [
            (weakref.ref(tensor), gradient is not None) for tensor, gradient in zip(sources, found, strict=False)
        ]
        states = [log.rows_of(tensor) for tensor in sources]
        behind = set(rows)
        sweep.sources = [
            next((row for row in reversed(found) if row in behind), found[-1]) for found in states if found
        ]
        adjoints = dict(zip(rows, found[len(sources) :], strict=True))
        for row, adjoint in adjoints.items():
            if adjoint is not None and (isinstance(adjoint, tf.IndexedSlices) or adjoint.dtype != tf.resource):
                sweep.arrive(row, log.keep(adjoint))
        for tensor, adjoint in zip(sources, found, strict=False):
            for row in log.rows_of(tensor)[-1:]:
                if adjoint is not None and row not in sweep.adjoints:
                    sweep.arrive(row, log.keep(adjoint))
        Sent(log, sweep, adjoints).write(passed)


def _made_anew(function: Function) -> Function:
    """The same function, which was not traced yet."""
    return tf.function(function.python_function, autograph=function._autograph)


def captured_by(dataset: Any, known: dict[int, VariableValue]) -> list:
    """The handles of variables that the functions of a dataset, and of those behind it, read; their variables are
    noted.
    """
    found, waiting = [], [dataset]
    while waiting:
        at = waiting.pop()
        waiting += at._inputs()
        for function in at._functions():
            for variable in function.function.graph.variables:
                known.setdefault(id(variable.handle), VariableValue(variable.handle, variable))
                found.append(variable.handle)
    return found


def _register() -> None:
    """TensorFlow's sweep, which is no Python, asks the function that ``backprop`` has now."""
    pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)
