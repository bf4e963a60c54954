"""``tf.function``: the recordings of a Python function, for each kind of arguments, and each branch of Python."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any, Generic, NamedTuple, overload

from ..engine.record.interrupt_safe import TemporaryAttributes
from ..engine.record.thread_state import state
from ..engine.tensor.conversion import convert_to_tensor, is_numpy_value
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array
from ..engine.types import Params, Returned
from ..engine.values import nest
from ..engine.values.dtypes import as_dtype
from ..recording.sites import describe_line_of_row
from .effect_rows import EffectLog, thread_effects, write_branch_guard
from .first_run import FirstRun, GuardError, NotRecordableError
from .function_recording import FunctionRecording, TracedFunction, convert_function_result, record_function
from .row_program import RowProgram
from .settings import EAGER_FUNCTIONS
from .tensor_spec import TensorSpec, build_argument_key

MAX_RECORDINGS = 32  # recordings of one function for calls alike


class BoundCall(NamedTuple):
    """The arguments of a call: the names of keywords, all values as the input signature wants them, and the function
    that returns (args, kwargs) for other values.
    """

    names: list[str]
    values: list
    pack: Callable[[Sequence], tuple[tuple, dict]]


class BranchRecordings:
    """The recordings for calls alike, one for each branch that Python took, and what packs their results."""

    def __init__(self) -> None:
        self.recordings: list[tuple[FunctionRecording, Callable]] = []
        self.sole_recording: FunctionRecording | None = None  # where Python decides by no tensor
        self.sole_program: RowProgram | None = None  # ... and a call is nothing but its program
        self.pack_results: Any = None

    def add_recording(self, recording: FunctionRecording, pack: Callable) -> None:
        """Add the recording of a branch that Python had not taken before."""
        self.recordings.append((recording, pack))
        has_guards = any(call.primitive.is_guard for call in recording.effects)
        self.sole_recording, self.pack_results = None if has_guards else recording, pack
        self.sole_program = recording.program if recording.is_plain and not has_guards else None

    def check_recording_limit(self, function_name: str) -> None:
        """Raise RuntimeError, which names the line that decides, where there are as many as there may be."""
        if len(self.recordings) < MAX_RECORDINGS:
            return
        recording = self.recordings[-1][0]
        row = max(call.row for call in recording.effects if call.primitive.is_guard)
        raise RuntimeError(
            f"Python has taken {MAX_RECORDINGS} different ways through the traced function {function_name!r}, and "
            f"decides by a tensor in {describe_line_of_row(recording.table.record, row)}: use tf.cond, tf.while_loop "
            "or tf.where there, which are one recording where they only compute."
        )


class Function(Generic[Params, Returned]):
    """The result of ``tf.function``. The first call for each kind of arguments runs the Python function and keeps the
    recording; later calls compute its rows.

    >>> import minitape as tf
    >>> double = tf.function(lambda x: x * 2)
    >>> double(tf.constant(3.0)).numpy(), double.python_function(3)
    (np.float32(6.0), 6)
    """

    def __init__(
        self, python_function: Callable[Params, Returned], input_signature: Sequence | None = None, owner: Any = None
    ) -> None:
        functools.update_wrapper(self, python_function, updated=())
        self.python_function, self.input_signature, self._owner = python_function, input_signature, owner
        self._name = str(getattr(python_function, "__name__", "function"))
        self._signature = inspect.signature(python_function)
        if owner is not None:
            self._signature = self._signature.replace(parameters=[*self._signature.parameters.values()][1:])
        self._recordings_by_key: dict[Any, BranchRecordings] = {}
        # by dtypes and shapes, where all arguments are tensors
        self._recordings_by_types: dict[tuple, BranchRecordings] = {}
        self._bound_functions: Any = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()  # one thread traces, the others wait and find the recording
        self._trace_count = 0

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return self._trace_count

    def __get__(self, instance: Any, cls: Any = None) -> Function[..., Returned]:
        if instance is None:
            return self
        if instance not in self._bound_functions:
            owner = weakref.ref(instance)
            self._bound_functions[instance] = Function(self.python_function, self.input_signature, owner)
        function: Function[..., Returned] = self._bound_functions[instance]
        return function

    def __call__(self, *args: Params.args, **kwargs: Params.kwargs) -> Returned:
        if EAGER_FUNCTIONS[0]:
            return self._run_python(args, kwargs)
        record = state.record
        if record is not None and record.trace is not None:  # in another function its rows are rows of that one
            call = self._bind_arguments(args, kwargs)
            return nest.map_structure(
                functools.partial(convert_function_result, self._name), self._run_python(*call.pack(call.values))
            )
        tensor_types: tuple = ()
        arrays, arguments_record = [], record
        for argument in args:
            if type(argument) is not EagerTensor:
                return self._call_or_trace_recording(args, kwargs)
            value = argument._value
            tensor_types += value.dtype, value.shape
            arrays.append(value)
            if argument._record is not None:
                arguments_record = argument._record
        recordings = None if kwargs else self._recordings_by_types.get(tensor_types)
        if recordings is None or recordings.sole_recording is None:
            return self._call_or_trace_recording(args, kwargs, tensor_types)
        if arguments_record is None and recordings.sole_program is not None:
            return recordings.pack_results([*map(from_array, recordings.sole_program.compute_fetches(arrays))])
        return recordings.pack_results(recordings.sole_recording.call_recording(args))

    def _run_python(self, args: tuple, kwargs: dict) -> Any:
        owner = () if self._owner is None else (self._owner(),)
        return self.python_function(*owner, *args, **kwargs)

    def _bind_arguments(self, args: tuple, kwargs: dict) -> BoundCall:
        """Bind the arguments of a call to the parameters, as the input signature wants them."""
        bound_arguments = self._signature.bind(*args, **kwargs)
        bound_arguments.apply_defaults()
        names, positional_count = list(bound_arguments.kwargs), len(bound_arguments.args)
        values = [*bound_arguments.args, *bound_arguments.kwargs.values()]
        if self.input_signature is not None:
            values = [*map(_cast_argument, self.input_signature, values), *values[len(self.input_signature) :]]
        values = [
            nest.map_structure(lambda value: convert_to_tensor(value) if is_numpy_value(value) else value, value)
            for value in values
        ]
        return BoundCall(
            names,
            values,
            lambda new_values: (
                tuple(new_values[:positional_count]),
                dict(zip(names, new_values[positional_count:], strict=True)),
            ),
        )

    def _call_or_trace_recording(self, args: tuple, kwargs: dict, tensor_types: tuple | None = None) -> Any:
        """Call the first recording whose guards hold, else trace a new one, and return the packed results."""
        names, values, pack_arguments = self._bind_arguments(args, kwargs)
        tensors = [leaf for value in values for leaf in nest.flatten(value) if isinstance(leaf, Tensor)]
        recordings, tried_count = (
            self._recordings_by_key.setdefault((*names, *map(build_argument_key, values)), BranchRecordings()),
            0,
        )
        log = EffectLog()
        with TemporaryAttributes(thread_effects, log=log):
            for lock in (nullcontext(), self._lock):  # another thread may have traced meanwhile
                with lock:
                    for recording, pack_results in recordings.recordings[tried_count:]:
                        tried_count, log.position = tried_count + 1, 0
                        with suppress(GuardError):
                            return pack_results(recording.call_recording(tensors))
                    if lock is self._lock:
                        recordings.check_recording_limit(self._name)
                        log.position = 0
                        recording, pack_results, arrays = self._trace_first_run(values, pack_arguments, tensors)
                        recordings.add_recording(recording, pack_results)
                        if tensor_types is not None and not kwargs and self.input_signature is None:
                            self._recordings_by_types[tensor_types] = recordings
            if state.record is None:
                return pack_results(recording.build_outputs_and_assign(recording.collect_feed_tensors(tensors), arrays))
            log.position = 0  # once more with what a gradient will read; no effect is repeated
            return pack_results(recording.call_recording(tensors))

    def _trace_first_run(self, values: list, pack_arguments: Callable, tensors: list) -> TracedFunction:
        """Record a first run. Where it makes variables it is tried again: another run must not make any."""

        def run_on_copies(*copies: EagerTensor) -> Any:
            remaining = iter(copies)
            new_values = [
                nest.map_structure(lambda leaf: next(remaining) if isinstance(leaf, Tensor) else leaf, value)
                for value in values
            ]
            return self._run_python(*pack_arguments(new_values))

        parameters = [*self._signature.parameters]
        indexed_leaves = [(index, leaf) for index, value in enumerate(values) for leaf in nest.flatten(value)]
        names = [
            parameters[min(index, len(parameters) - 1)] for index, leaf in indexed_leaves if isinstance(leaf, Tensor)
        ]
        trace = FirstRun(self._name, write_branch_guard, names)
        traced = record_function(trace, run_on_copies, tensors)
        self._trace_count += 1
        if trace.new_variables:
            with suppress(NotRecordableError):
                record_function(FirstRun(self._name), run_on_copies, tensors)
        return traced


def _cast_argument(spec: Any, value: Any) -> Any:
    """Return an argument as its part of the input signature wants it; TypeError where it does not fit."""
    if isinstance(spec, (list, tuple)):
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
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Function[Params, Returned]: ...
@overload
def function(
    func: None = None,
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Callable[[Callable[Params, Returned]], Function[Params, Returned]]: ...
def function(
    func: Any = None,
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Any:
    """Makes a Python function run once for each kind of arguments: later calls compute what the first one recorded.

    Tensors are told apart by dtype and shape, Python values by equality. What Python alone does, such as print, happens
    in a first run only. Where Python branches on a tensor, another answer is another recording, 32 at most
    (RuntimeError); ``tf.cond`` and ``tf.while_loop`` are one. ``input_signature``, a list of ``tf.TensorSpec``, checks
    dtypes and shapes (TypeError); ``autograph``, ``jit_compile`` and ``reduce_retracing`` have no effect. Gradients
    flow through calls, to any order. See
    https://www.tensorflow.org/api_docs/python/tf/function.

    >>> import minitape as tf
    >>> @tf.function
    ... def f(x):
    ...     print("tracing")
    ...     return x * x
    >>> print(f(tf.constant(2.0)).numpy(), f(tf.constant(3.0)).numpy())
    tracing
    4.0 9.0
    """

    def decorate(python_function: Any) -> Function:
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        return Function(python_function, input_signature)

    return decorate if func is None else decorate(func)
