"""Choose the concrete function for each call to a ``tf.function``, or trace the Python function again.

A :class:`Function` has a :class:`CallKind` for each kind of call. A :class:`CallKind` has a concrete function for each
path through Python's branches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, update_wrapper
from threading import RLock
from typing import Any, Generic, NamedTuple, cast, overload
from weakref import WeakKeyDictionary, ref

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.thread_state import state
from ..engine.tensor.conversion import convert_to_tensor, is_numpy_value
from ..engine.tensor.tensor import EagerTensor, Tensor, wrap_array
from ..engine.types import LIST_OR_TUPLE, Object, OptionalFlag, Params, Returned, Structure, TextList
from ..engine.values.dtypes import as_dtype
from ..engine.values.nest import map_structure
from ..recording.sites import describe_line_of_row
from .concrete_function import (
    ConcreteFunction,
    FirstRunResult,
    convert_function_result,
    join_call_outputs,
    run_and_trace_function,
)
from .effect_rows import EffectLog, thread_effects, write_branch_guard
from .first_run import FirstRun, GuardError, NotRecordableError
from .nested_tensors import list_tensors, replace_tensors
from .row_program import RowProgram
from .settings import EAGER_FUNCTIONS
from .tensor_spec import TensorSpec, build_argument_key

# The maximum number of concrete functions for calls of one kind.
# Each of them belongs to a different path through Python's branches.
MAX_PATHS = 32


class BoundCall(NamedTuple):
    """The arguments of a call, bound to the parameters of the Python function.

    Attributes:
        names: The names of the keyword arguments.
        values: The positional arguments, followed by the keyword arguments in the order of `names`. NumPy arrays have
            been converted to tensors, and all values to the input signature if there is one.
        pack: A function that returns (args, kwargs) for new values in the same order.
    """

    names: TextList
    values: list
    pack: Callable[[Sequence], tuple[tuple, dict]]


class CallKind:
    """The concrete functions for calls of one kind, one for each path through Python's branches.

    Attributes:
        paths: (concrete function, pack_results) pairs. `pack_results` packs result tensors into the structure that the
            Python function returned.
        unguarded_function: The newest concrete function if it has no guards and therefore fits every call, otherwise
            None.
        plain_program: The program of `unguarded_function`, if a call only has to compute this program. Otherwise None.
            The function must have no effects, must not read or assign variables, and must not capture tensors whose
            values can differ between calls.
        pack_results: The `pack_results` of the newest concrete function.
    """

    def __init__(self) -> None:
        """Create an empty collection."""
        self.paths: list[tuple[ConcreteFunction, Callable]] = []
        self.unguarded_function: ConcreteFunction | None = None
        self.plain_program: RowProgram | None = None
        self.pack_results: Any = None

    def add_path(self, concrete_function: ConcreteFunction, pack_results: Callable) -> None:
        """Add the concrete function of a path that Python had not taken before.

        Args:
            concrete_function: The new function.
            pack_results: A function that packs its results into the structure that the Python function returned.
        """
        self.paths.append((concrete_function, pack_results))
        has_guards = any(call.primitive.is_guard for call in concrete_function.effects)
        self.unguarded_function = None if has_guards else concrete_function
        self.plain_program = concrete_function.program if concrete_function.is_plain and not has_guards else None
        self.pack_results = pack_results

    def call_first_function_with_fitting_guards(self, tensors: list, log: EffectLog, first_index: int = 0) -> Structure:
        """Call the first concrete function whose guards hold.

        Args:
            tensors: The tensors among the arguments of the call.
            log: The effects of the call. Each attempt starts again at the first effect.
            first_index: The index of the first path to try.

        Returns:
            The packed results.

        Raises:
            GuardError: If no concrete function fits.
        """
        for concrete_function, pack_results in self.paths[first_index:]:
            log.position = 0
            with suppress(GuardError):
                return pack_results(concrete_function.call_on_tensors(tensors))
        raise GuardError

    def check_path_limit(self, function_name: str) -> None:
        """Raise an error if there are already `MAX_PATHS` paths.

        Args:
            function_name: The name of the Python function, used in the message.

        Raises:
            RuntimeError: If the limit is reached. The message names the line that decides between the paths.
        """
        if len(self.paths) < MAX_PATHS:
            return
        last_function = self.paths[-1][0]
        row = max(call.row for call in last_function.effects if call.primitive.is_guard)
        raise RuntimeError(
            f"Python has taken {MAX_PATHS} different paths through the traced function {function_name!r}, "
            f"because a tensor decides the path in {describe_line_of_row(last_function.traced_rows.record, row)}. Use "
            "tf.cond, tf.while_loop or tf.where there. They need only one recording if they only compute."
        )


class Function(Generic[Params, Returned]):
    """The result of ``tf.function``: a Python function and its concrete functions.

    The first call of each kind runs the Python function and records its operations. Later calls compute the recorded
    rows.

    Attributes:
        python_function: The Python function.
        input_signature: The specs of the positional arguments, or None.

    >>> import minitape as tf
    >>> double = tf.function(lambda x: x * 2)
    >>> double(tf.constant(3.0)).numpy(), double.python_function(3)
    (np.float32(6.0), 6)
    """

    def __init__(
        self,
        python_function: Callable[Params, Returned],
        input_signature: Sequence | None,
        owner: ref[Object] | None = None,
    ):
        """Wrap a Python function.

        Args:
            python_function: The Python function.
            input_signature: A ``tf.TensorSpec`` for each positional argument, nested like the argument, or None.
            owner: A weak reference to the instance if the function is a bound method, otherwise None.
        """
        update_wrapper(self, python_function, updated=())
        self.python_function = python_function
        self.input_signature = input_signature
        self._owner = owner
        self._name = str(getattr(python_function, "__name__", "function"))
        self._signature = inspect.signature(python_function)
        if owner is not None:
            parameters = list(self._signature.parameters.values())
            self._signature = self._signature.replace(parameters=parameters[1:])
        self._kinds_by_key: dict[Any, CallKind] = {}
        # If all arguments of a call are eager tensors, dtypes and shapes alone determine its kind.
        self._kinds_by_types: dict[tuple, CallKind] = {}
        self._bound_functions: Any = WeakKeyDictionary()
        # While one thread traces the function, other threads wait and then find its concrete function.
        self._lock = RLock()
        self._trace_count = 0

    def experimental_get_tracing_count(self) -> int:
        """Return the number of times that the Python function has been traced, as in TensorFlow."""
        return self._trace_count

    def __get__(self, instance: Object, cls: object = None) -> Function[..., Returned]:
        """Return the function bound to an instance. Each instance has separate concrete functions."""
        if instance is None:
            return self
        if instance not in self._bound_functions:
            owner = ref(instance)
            self._bound_functions[instance] = Function(self.python_function, self.input_signature, owner)
        function: Function[..., Returned] = self._bound_functions[instance]
        return function

    def __call__(self, *args: Params.args, **kwargs: Params.kwargs) -> Returned:
        """Call a concrete function that fits these arguments, or trace the Python function.

        While another function is being traced, a call runs the Python function instead. If all arguments are eager
        tensors, their dtypes and shapes alone select the kind of call.
        """
        if EAGER_FUNCTIONS[0]:
            return self._run_python(args, kwargs)
        record = state.record
        if record is not None and record.first_run is not None:
            outer_run = cast(FirstRun, record.first_run)  # The engine declares only an interface.
            return self._run_in_outer_function(outer_run, args, kwargs)
        tensor_types: tuple = ()  # This tuple lists the dtype and the shape of each argument in turn.
        arrays = []
        # The `plain_program` path at the end appends no row and stores no origins, so it is taken only if no `Record`
        # is open and no argument belongs to one.
        needs_row_or_origin = record is not None
        for argument in args:
            if type(argument) is not EagerTensor:
                return self._call_fitting_function_or_trace(args, kwargs)
            value = argument._value
            tensor_types += value.dtype, value.shape
            arrays.append(value)
            if argument._record is not None:
                needs_row_or_origin = True
        kind = None if kwargs else self._kinds_by_types.get(tensor_types)
        if kind is None or kind.unguarded_function is None:
            return self._call_fitting_function_or_trace(args, kwargs, tensor_types)
        if kind.plain_program is not None and not needs_row_or_origin:
            return kind.pack_results([*map(wrap_array, kind.plain_program.compute_fetches(arrays))])
        return kind.pack_results(kind.unguarded_function.call_on_tensors(args))

    def _run_in_outer_function(self, outer_run: FirstRun, args: tuple, kwargs: dict) -> Structure:
        """Run the Python function while another function is being traced. The rows become rows of that function.

        Args:
            outer_run: The first run of the other function.
            args: The positional arguments.
            kwargs: The keyword arguments.
        """
        call = self._bind_arguments(args, kwargs)
        first_row = outer_run.record.next
        returned = map_structure(
            partial(convert_function_result, self._name), self._run_python(*call.pack(call.values))
        )
        return join_call_outputs(outer_run, first_row, list_tensors(call.values), returned)

    def _run_python(self, args: tuple, kwargs: dict) -> Structure:
        owner = () if self._owner is None else (self._owner(),)
        return self.python_function(*owner, *args, **kwargs)

    def _bind_arguments(self, args: tuple, kwargs: dict) -> BoundCall:
        """Bind the arguments of a call to the parameters, and convert them to the input signature."""
        bound_arguments = self._signature.bind(*args, **kwargs)
        bound_arguments.apply_defaults()
        names = list(bound_arguments.kwargs)
        positional_count = len(bound_arguments.args)
        values = [*bound_arguments.args, *bound_arguments.kwargs.values()]
        if self.input_signature is not None:
            values = [*map(_cast_argument, self.input_signature, values), *values[len(self.input_signature) :]]
        values = [
            map_structure(lambda value: convert_to_tensor(value) if is_numpy_value(value) else value, value)
            for value in values
        ]

        def pack_arguments(new_values: Sequence) -> tuple[tuple, dict]:
            keyword_values = zip(names, new_values[positional_count:], strict=True)
            return tuple(new_values[:positional_count]), dict(keyword_values)

        return BoundCall(names, values, pack_arguments)

    def _call_fitting_function_or_trace(
        self, args: tuple, kwargs: dict, tensor_types: tuple | None = None
    ) -> Structure:
        """Call the first concrete function whose guards hold, or trace the Python function.

        1. Try the concrete functions for this kind of call, from oldest to newest.
        2. If none fits, take the lock. Try the functions that other threads have added in the meantime.
        3. If none of these fits either, trace the Python function (`_trace_new_path`). The results of this first run
           are the results of the call, unless a ``Record`` is open. In that case, the new concrete function is called
           as well, so that the open ``Record`` contains a row for the call.

        An `EffectLog` stores the effects that have already happened in failed attempts, so that no effect happens
        twice.

        Args:
            args: The positional arguments.
            kwargs: The keyword arguments.
            tensor_types: The dtype and shape of each argument in turn if all arguments are eager tensors, otherwise
                None. For eager tensors, the kind is also stored for `__call__`.

        Returns:
            The results in the structure that the Python function returned.
        """
        call = self._bind_arguments(args, kwargs)
        tensors = list_tensors(call.values)
        key = (*call.names, *map(build_argument_key, call.values))
        kind = self._kinds_by_key.setdefault(key, CallKind())
        tried_count = len(kind.paths)
        log = EffectLog()
        with TemporaryAttributes(thread_effects, log=log):
            with suppress(GuardError):
                return kind.call_first_function_with_fitting_guards(tensors, log)
            with self._lock:
                with suppress(GuardError):
                    return kind.call_first_function_with_fitting_guards(tensors, log, tried_count)
                log.position = 0
                concrete_function, pack_results, arrays = self._trace_new_path(kind, call, tensors)
                if tensor_types is not None and not kwargs and self.input_signature is None:
                    self._kinds_by_types[tensor_types] = kind
            if state.record is None:
                inputs = [*tensors, *concrete_function.collect_non_argument_feed_tensors()]
                return pack_results(concrete_function.build_outputs_and_assign(inputs, arrays))
            # Under a tape, the first call computes everything twice: only the row of a call saves the values that the
            # gradient reads, and the first run has released them. The log returns the results of effects that already
            # ran.
            log.position = 0
            return pack_results(concrete_function.call_on_tensors(tensors))

    def _trace_new_path(self, kind: CallKind, call: BoundCall, tensors: list) -> FirstRunResult:
        """Run the Python function for a path that no concrete function fits, and add the new concrete function.

        If the run creates variables, a second, tentative run checks that the function creates them only once.

        Args:
            kind: The concrete functions for this kind of call.
            call: The bound arguments.
            tensors: The tensors among the arguments, in the order of ``tf.nest.flatten``.

        Returns:
            The new concrete function, with the results of the first run.

        Raises:
            RuntimeError: If there are already `MAX_PATHS` paths.
            ValueError: If the second run creates a variable again.
        """

        def run_on_copies(*copies: EagerTensor) -> Structure:
            return self._run_python(*call.pack(replace_tensors(call.values, copies)))

        kind.check_path_limit(self._name)
        parameters = [*self._signature.parameters]
        tensor_names = [
            parameters[min(index, len(parameters) - 1)]
            for index, value in enumerate(call.values)
            for _ in list_tensors(value)
        ]
        first_run = FirstRun(self._name, write_branch_guard, tensor_names)
        traced = run_and_trace_function(first_run, run_on_copies, tensors)
        self._trace_count += 1
        if first_run.new_variables:
            with suppress(NotRecordableError):
                run_and_trace_function(FirstRun(self._name), run_on_copies, tensors)
        kind.add_path(traced.concrete_function, traced.pack_results)
        return traced


def _cast_argument(spec: Structure, value: Structure) -> Structure:
    """Convert an argument to its spec in the input signature.

    Raises:
        TypeError: If the dtype or shape does not match.
    """
    if isinstance(spec, LIST_OR_TUPLE):
        return type(spec)(map(_cast_argument, spec, value))
    if not isinstance(spec, TensorSpec):
        return value
    tensor = value if isinstance(value, Tensor) else convert_to_tensor(value, as_dtype(spec.dtype))
    if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        tensor_spec = TensorSpec(tensor.shape, tensor.dtype, spec.name)
        raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {tensor_spec} to {spec}`.")
    return tensor


@overload
def function(
    func: Callable[Params, Returned],
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: OptionalFlag = None,
    reduce_retracing: bool = False,
) -> Function[Params, Returned]: ...
@overload
def function(
    func: None = None,
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: OptionalFlag = None,
    reduce_retracing: bool = False,
) -> Callable[[Callable[Params, Returned]], Function[Params, Returned]]: ...
def function(
    func: Any = None,
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: OptionalFlag = None,
    reduce_retracing: bool = False,
) -> Any:
    """Turn a Python function into a function that records its first call and replays the operations in later calls.

    The Python function runs once for each kind of call. Tensors are distinguished by dtype and shape, and Python values
    by equality. Effects of Python itself, such as print, therefore happen only in a first run. If Python branches on a
    tensor, each path through the branches is recorded separately. ``tf.cond`` and ``tf.while_loop`` need only one
    recording. Gradients of any order flow through calls.

    ``autograph``, ``jit_compile`` and ``reduce_retracing`` have no effect. See
    https://www.tensorflow.org/api_docs/python/tf/function.

    Args:
        func: The Python function. If it is None, the result is a decorator.
        input_signature: A list of ``tf.TensorSpec`` objects, which the dtypes and shapes of the arguments must match.
        autograph: Ignored.
        jit_compile: Ignored.
        reduce_retracing: Ignored.

    Returns:
        A callable object, or a decorator that returns one.

    Raises:
        TypeError: If ``func`` is not callable. A call raises this error if an argument does not match
            ``input_signature``.
        RuntimeError: If Python has taken more than 32 paths in calls of one kind. The call raises this error.

    >>> import minitape as tf
    >>> @tf.function
    ... def f(x):
    ...     print("tracing")
    ...     return x * x
    >>> print(f(tf.constant(2.0)).numpy(), f(tf.constant(3.0)).numpy())
    tracing
    4.0 9.0
    """

    def decorate(python_function: Callable[Params, Returned]) -> Function[Params, Returned]:
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        return Function(python_function, input_signature)

    return decorate if func is None else decorate(func)
