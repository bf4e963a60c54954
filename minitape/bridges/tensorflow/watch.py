"""What a program does of TensorFlow inside the block: operations, tapes, reads of variables, values that leave,
gradients.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.eager import context, execute, record
from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.framework import op_callbacks, ops
from tensorflow.python.framework.tensor_util import constant_value  # by which TensorFlow looks at a value itself
from tensorflow.python.ops import custom_gradient, resource_variable_ops, script_ops

from ...engine.recording.block import TemporaryAttributes
from ...engine.recording.frames import own_file
from .graphs import TAPES, has_tapes
from .guard import Guard
from .operations import changes_variable
from .rows import TensorFlowLog
from .sweeps import SweepWatcher, register
from .value import FunctionCall

STEP = "_minitape_step"  # an attribute of a tf.function in which tapes compute gradients
WORDS = {"__enter__": "begins", "__exit__": "ends", "reset": "resets"}
LEAVES = "numpy __array__ __float__ __int__ __bool__ __index__ __complex__".split()


class TensorFlowWatcher:
    """Follows a program from the beginning of the block to its end."""

    def __init__(self, recording: Any, open_functions: bool = False) -> None:
        self.recording = recording
        self.open_functions = open_functions
        self.log: TensorFlowLog = recording.log
        self.guard = Guard(recording)
        self.sweeps = SweepWatcher(self.guard)
        self._custom_calls = 0
        self._custom_op: tuple[str, str] | None = None  # the tf.custom_gradient that runs
        self._applying = 0  # more than 0 in the step of an optimizer
        self._called: FunctionCall | None = None  # the program's call of a tf.function, and the graph that runs
        self._running: Any = None

    # -- the block ---------------------------------------------------------------------------------

    def begin(self) -> None:
        """From now on everything is seen."""
        changes = self.log.seen
        changes.begin()
        changes.note(self._stop)
        op_callbacks.add_op_callback(self._ran)
        changes.note(register)
        tape = tf.GradientTape
        for owner, name, around in (
            *self.sweeps.wraps,
            (pywrap_tfe, "TFE_Py_FastPathExecute", self._execute),
            (resource_variable_ops, "variable_accessed", self._read),
            (Function, "__call__", self._function),
            (ConcreteFunction, "_call_flat", self._call),
            (tape, "jacobian", self._jacobian),
            (tape, "batch_jacobian", self._jacobian),
            (tape, "watch", self._watch),
            (tape, "__exit__", self._border),
            (tape, "stop_recording", self._paused),
            (tape, "reset", self._border),
            (custom_gradient, "_eager_mode_decorator", self._custom),
            (record, "record_operation", self._recorded),
            (iterator_ops.OwnedIterator, "_create_iterator", self._iterator),
            (script_ops, "py_func_common", self._numpy_function),
            *((ops._EagerTensorBase, name, self._left(name)) for name in LEAVES),
        ):
            self._wrap(owner, name, around)
        self.log.seen.wrap(tape, "__enter__", self._begins)
        register()
        # where no one imported Keras, there is none
        if optimizers := sys.modules.get("keras.src.optimizers.base_optimizer"):
            self.log.seen.wrap(optimizers.BaseOptimizer, "apply", self._apply)
            self._wrap(sys.modules["keras.src.backend"], "convert_to_numpy", self._left("__array__"))
        if self.open_functions and not tf.config.functions_run_eagerly():
            changes.note(partial(tf.config.run_functions_eagerly, False))
            tf.config.run_functions_eagerly(True)

    def end(self) -> None:
        """TensorFlow is as it was."""
        self.log.seen.undo()
        self.log.tapes.forget()

    def _stop(self) -> None:
        """Operations are seen no more."""
        if self._ran in context.context().op_callbacks:
            op_callbacks.remove_op_callback(self._ran)
        elif not context.context().op_callbacks:  # Ctrl-C came after half of that
            execute.execute = execute.quick_execute

    def _wrap(self, owner: Any, name: str, around: Any) -> None:
        """Until the block ends, ``around(function, ...)`` runs in place of a function of TensorFlow's, but not while a
        ``tf.function`` is traced.
        """

        def calling(function: Any, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs) if tf.inside_function() else around(function, *args, **kwargs)

        if name in vars(owner):
            self.log.seen.wrap(owner, name, calling)

    # -- what is seen ------------------------------------------------------------------------------

    def _ran(self, op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        if graph is None and self.log.seen.here:  # not while a tf.function is traced
            op = op_type.decode() if isinstance(op_type, bytes) else op_type
            if self._applying and not changes_variable(op):
                return
            if self._custom_op and op != "ReadVariableOp":
                return
            running = self._running if op.startswith("__") else None
            if running is not None:  # what it keeps for its gradient comes behind its results
                outputs = outputs[: len(running.function_type.flat_outputs)]
            elif self._running is None:  # inside of one no tape is open
                self.sweeps.settle()
            self.guard.safely(self.log.wrote, op, inputs, outputs, running and self._called)

    def _function(self, function: Any, called: Any, *args: Any, **kwargs: Any) -> Any:
        """A ``tf.function`` is called."""
        if self.open_functions:
            with TemporaryAttributes(self.log.line, opened=[*self.log.line.opened, called._name]):
                return function(called, *args, **kwargs)
        with TemporaryAttributes(self, _called=self.guard.safely(self.log.called, called, (args, kwargs))):
            return function(called, *args, **kwargs)

    def _call(self, function: Any, concrete: Any, tensor_inputs: Any, captured_inputs: Any) -> Any:
        """The graph of a ``tf.function`` runs."""
        graph, inputs = concrete.graph, [*tensor_inputs, *captured_inputs]
        call = self._called or FunctionCall(None, None, [], 0)
        call.states, call.graph = self.guard.safely(self.log.enters, graph.variables, inputs) or [], graph
        if call.function is not None and has_tapes(graph):
            setattr(call.function, STEP, True)
        with TemporaryAttributes(self, _called=call, _running=concrete):
            try:
                return function(concrete, tensor_inputs, captured_inputs)
            finally:
                self.guard.safely(self.log.ran, inputs, graph)

    # -- what Python does while a graph is made ----------------------------------------------------

    def _custom(self, function: Any, rule: Any, args: Any, kwargs: Any) -> Any:
        """A function with a gradient of the program's own (``tf.custom_gradient``): one row, whatever it computes
        inside.
        """

        @wraps(rule)
        def watched(*given: Any, **named: Any) -> Any:
            result, self.log.rules[op] = rule(*given, **named)
            return result, self.log.rules[op]

        if self._applying or self._custom_op:  # an optimizer sums its gradients over replicas
            return function(rule, args, kwargs)
        self._custom_calls += 1
        # one of TensorFlow's own is a function in what the program calls
        called = rule.__qualname__.split(".<locals>")[-2:][0] if own_file(rule.__code__.co_filename) else rule.__name__
        op = f"{called.rpartition('.')[2]}:{self._custom_calls}"
        if self.open_functions:  # as in a graph, where a variable that is an argument is read before
            args = tf.nest.map_structure(tf.convert_to_tensor, args, expand_composites=True)
        with TemporaryAttributes(self, _custom_op=(op, rule.__name__)):
            return function(watched, args, kwargs)

    def _recorded(self, function: Any, name: str, outputs: Any, inputs: Any, backward: Any, *rest: Any) -> Any:
        """TensorFlow tells its tapes of such a function."""
        op, own = self._custom_op or ("", None)
        if name != own:
            return function(name, outputs, inputs, backward, *rest)

        @wraps(backward)
        def passing(*came: Any) -> Any:
            gives = backward(*came)
            self.sweeps.passed.append((op, None, list(came), list(gives)))
            return gives

        self.guard.safely(self.log.custom, op, inputs, outputs)
        return function(name, outputs, inputs, passing, *rest)

    def _jacobian(self, function: Any, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        """TensorFlow computes all rows of it at once, in a function of its own; without pfor it asks for one gradient
        after the other.
        """
        if not kwargs.get("experimental_use_pfor", True):
            return function(tape, target, sources, *args, **kwargs)
        self.sweeps.settle()
        with self.guard.quietly():
            results = function(tape, target, sources, *args, **kwargs)
        self.guard.safely(
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
            self.guard.safely(self.log.applies, pairs)
        self._applying += eager
        try:
            return function(optimizer, grads, trainable_variables)
        except ValueError as error:
            if not self.recording.is_rerun:
                self._add_reason(error, pairs)
            raise
        finally:
            self._applying -= eager
            self.log.applied = {}

    def _add_reason(self, error: ValueError, pairs: Sequence[tuple]) -> None:
        """Add to an error of Keras's optimizer why it got no gradient."""
        if hasattr(error, "add_note") and pairs and all(gradient is None for gradient, _ in pairs):
            # out of the function that is traced: tf.init_scope() would say that it is still inside of one
            with tf.Graph().as_default(), context.eager_mode(), TemporaryAttributes(self.log.seen, thread=None):
                if (reason := self.guard.safely(self.recording.explain, pairs[0][1])) is not None:
                    error.add_note(f"minitape: {reason}")

    def _execute(self, function: Any, context: Any, op: str, name: Any, *given: Any) -> Any:
        """An operation that runs eagerly. Variables among what it is given TensorFlow would read unseen."""
        if self.recording.is_rerun and changes_variable(op):
            self.log.changes(given[0])
        return function(context, op, name, *map(_read_first, given))

    def _read(self, function: Any, variable: Any) -> Any:
        if self.recording.is_rerun and id(variable.handle) not in self.log.tensors.variables:
            self.guard.safely(self.log.fill, variable)
        self.log.tensors.know(variable)
        return function(variable)

    def _watch(self, function: Any, tape: Any, tensor: Any) -> Any:
        self.sweeps.settle()
        result = function(tape, tensor)
        for value in tf.nest.flatten(tensor, expand_composites=False):
            self.guard.safely(self.log.watched, value, tape)
        return result

    def _begins(self, function: Any, tape: Any) -> Any:
        """A tape's block begins, perhaps in a ``tf.function`` that is traced."""
        if tf.inside_function():
            setattr(tf.compat.v1.get_default_graph(), TAPES, True)
            return function(tape)
        return self._border(function, tape)

    def _border(self, function: Any, tape: Any, *args: Any) -> Any:
        """A tape's block begins or ends, or the tape is reset."""
        self.sweeps.settle()
        self.log.spanned(WORDS[function.__name__], tape)
        return function(tape, *args)

    def _paused(self, function: Any, tape: Any) -> Any:
        self.sweeps.settle()
        return self._pause(tape, function(tape))

    @contextmanager
    def _pause(self, tape: Any, paused: Any) -> Iterator[None]:
        self.log.spanned("pauses", tape)
        with paused:
            yield
        self.log.spanned("goes on", tape)

    def _left(self, name: str) -> Callable:
        def around(function: Any, tensor: Any, *args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(3).f_code  # behind the two functions that stand in its place
            asked_by_library = caller is constant_value.__code__ or (
                name == "__bool__" and own_file(caller.co_filename)
            )
            if not self.guard.quiet and not asked_by_library and isinstance(tensor, ops.EagerTensor):
                self.guard.safely(self.log.leave, tensor, name)
            with self.guard.quietly():
                return function(tensor, *args, **kwargs)

        return around

    def _iterator(self, function: Any, iterator: Any, dataset: Any) -> Any:
        """A dataset is asked for its elements."""
        result = function(iterator, dataset)
        self.guard.safely(self._of_dataset, iterator._iterator_resource, dataset)
        return result

    def _of_dataset(self, iterator: Any, dataset: Any) -> None:
        """Of which tensors and variables the elements of a dataset, and of those behind it, are computed."""
        found, known, waiting = list[Any](), self.log.tensors.variables, [dataset]
        while waiting:
            at = waiting.pop()
            waiting += at._inputs()
            found += getattr(at, "_tensors", ())
            for graph in (function.function.graph for function in at._functions()):
                for variable in graph.variables:
                    self.log.tensors.know(variable)
                found += [value for value, _ in graph.captures]
        self.log.iterates(iterator, [one for one in found if one.dtype.is_floating or id(one) in known])

    def _numpy_function(self, function: Any, called: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        for tensor in tf.nest.flatten(inputs):
            if isinstance(tensor, ops.EagerTensor):
                self.guard.safely(self.log.leave, tensor, "numpy_function")
        return function(called, inputs, *args, **kwargs)


def _read_first(given: Any) -> Any:
    """What an operation is given, with the values of variables in their place."""
    if isinstance(given, tf.Variable):
        return tf.convert_to_tensor(given)
    is_list = isinstance(given, (list, tuple)) and any(isinstance(one, tf.Variable) for one in given)
    return [*map(_read_first, given)] if is_list else given
