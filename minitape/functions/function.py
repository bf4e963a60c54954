"""``tf.function``: the recordings of a Python function, for each kind of arguments, and each way that Python takes."""

from __future__ import annotations

import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any, Generic, overload

from ..engine.recording.block import TemporaryAttributes
from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array
from ..engine.types import Given, Made
from ..engine.values import nest
from ..engine.values.dtypes import as_dtype
from ..recording.sites import line_of
from .program import Program
from .recording import FunctionRecording, as_result, record
from .rows import Log, effects, guard
from .settings import EAGER_FUNCTIONS
from .spec import TensorSpec, key_of
from .trace import FirstRun, OtherWay, Unrecorded

MOST = 32  # recordings of one function for calls alike


class Ways:
    """The recordings for calls alike, one for each way that Python took, and what packs their results."""

    def __init__(self) -> None:
        self.known: list[tuple[FunctionRecording, Callable]] = []
        self.only: FunctionRecording | None = None  # where Python can take one way alone
        self.program: Program | None = None  # ... and a call is nothing but its program
        self.pack: Any = None

    def add(self, recording: FunctionRecording, pack: Callable) -> None:
        """One more way."""
        self.known.append((recording, pack))
        checked = any(call.primitive.checks for call in recording.effects)
        self.only, self.pack = None if checked else recording, pack
        self.program = recording.program if recording.plain and not checked else None

    def refuse_more(self, name: str) -> None:
        """RuntimeError where there are too many, which names the line that decides."""
        if len(self.known) < MOST:
            return
        recording = self.known[-1][0]
        row = max(call.row for call in recording.effects if call.primitive.checks)
        raise RuntimeError(
            f"Python has taken {MOST} different ways through the traced function {name!r}, and decides by a tensor in "
            f"{line_of(recording.table.record, row)}: use tf.cond, tf.while_loop or tf.where there, which are one "
            "recording where they only compute."
        )


class Function(Generic[Given, Made]):
    """The result of ``tf.function``. The first call for each kind of arguments runs the Python function and keeps the
    recording; later calls compute its rows.

    >>> import minitape as tf
    >>> double = tf.function(lambda x: x * 2)
    >>> double(tf.constant(3.0)).numpy(), double.python_function(3)
    (np.float32(6.0), 6)
    """

    def __init__(
        self, python_function: Callable[Given, Made], input_signature: Sequence | None = None, owner: Any = None
    ) -> None:
        functools.update_wrapper(self, python_function, updated=())
        self.python_function, self.input_signature, self._owner = python_function, input_signature, owner
        self._name = str(getattr(python_function, "__name__", "function"))
        self._signature = inspect.signature(python_function)
        if owner is not None:
            self._signature = self._signature.replace(parameters=[*self._signature.parameters.values()][1:])
        self._ways: dict[Any, Ways] = {}
        self._of_tensors: dict[tuple, Ways] = {}  # by dtypes and shapes, where all arguments are tensors
        self._bound: Any = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()  # one thread traces, the others wait and find the recording
        self._traced = 0

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return self._traced

    def __get__(self, instance: Any, cls: Any = None) -> Function[..., Made]:
        if instance is None:
            return self
        if instance not in self._bound:
            owner = weakref.ref(instance)
            self._bound[instance] = Function(self.python_function, self.input_signature, owner)
        found: Function[..., Made] = self._bound[instance]
        return found

    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Made:
        if EAGER_FUNCTIONS[0]:
            return self._run(args, kwargs)
        record = state.record
        if record is not None and record.trace is not None:  # in another function its rows are rows of that one
            _, values, pack = self._bind(args, kwargs)
            return nest.map_structure(functools.partial(as_result, self._name), self._run(*pack(values)))
        kinds: tuple = ()
        arrays, noted = [], record
        for a in args:
            if type(a) is not EagerTensor:
                return self._call(args, kwargs)
            value = a._value
            kinds += value.dtype, value.shape
            arrays.append(value)
            if a._record is not None:
                noted = a._record
        ways = None if kwargs else self._of_tensors.get(kinds)
        if ways is None or ways.only is None:
            return self._call(args, kwargs, kinds)
        if noted is None and ways.program is not None:
            return ways.pack([*map(from_array, ways.program.run(arrays))])
        return ways.pack(ways.only.call(args))

    def _run(self, args: tuple, kwargs: dict) -> Any:
        owner = () if self._owner is None else (self._owner(),)
        return self.python_function(*owner, *args, **kwargs)

    def _bind(self, args: tuple, kwargs: dict) -> tuple:
        """The names of keywords, all arguments as the input signature wants them, and what makes a call of them."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        names, places = list(bound.kwargs), len(bound.args)
        values = [*bound.args, *bound.kwargs.values()]
        if self.input_signature is not None:
            values = [*map(_cast, self.input_signature, values), *values[len(self.input_signature) :]]
        values = [nest.map_structure(lambda v: convert_to_tensor(v) if is_array(v) else v, v) for v in values]
        return names, values, lambda own: (tuple(own[:places]), dict(zip(names, own[places:], strict=True)))

    def _call(self, args: tuple, kwargs: dict, kinds: tuple | None = None) -> Any:
        """A call that goes the first way that fits, or a new one."""
        names, values, pack = self._bind(args, kwargs)
        tensors = [leaf for v in values for leaf in nest.flatten(v) if isinstance(leaf, Tensor)]
        ways, tried = self._ways.setdefault((*names, *map(key_of, values)), Ways()), 0
        log = Log()
        with TemporaryAttributes(effects, log=log):
            for lock in (nullcontext(), self._lock):  # another thread may have traced meanwhile
                with lock:
                    for recording, results in ways.known[tried:]:
                        tried, log.next = tried + 1, 0
                        with suppress(OtherWay):
                            return results(recording.call(tensors))
                    if lock is self._lock:
                        ways.refuse_more(self._name)
                        log.next = 0
                        recording, results, found = self._trace(values, pack, tensors)
                        ways.add(recording, results)
                        if kinds is not None and not kwargs and self.input_signature is None:
                            self._of_tensors[kinds] = ways
            if state.record is None:
                return results(recording.outputs(recording.inputs(tensors), found))
            log.next = 0  # once more with what a gradient will read; no effect is repeated
            return results(recording.call(tensors))

    def _trace(self, values: list, pack: Callable, tensors: list) -> tuple:
        """A first run. Where it makes variables it is tried again: another run must not make any."""

        def run(*copies: EagerTensor) -> Any:
            waiting = iter(copies)
            own = [nest.map_structure(lambda t: next(waiting) if isinstance(t, Tensor) else t, v) for v in values]
            return self._run(*pack(own))

        parameters = [*self._signature.parameters]
        flat = [(at, leaf) for at, v in enumerate(values) for leaf in nest.flatten(v)]
        names = [parameters[min(at, len(parameters) - 1)] for at, leaf in flat if isinstance(leaf, Tensor)]
        trace = FirstRun(self._name, guard, names)
        made = record(trace, run, tensors)
        self._traced += 1
        if trace.new_variables:
            with suppress(Unrecorded):
                record(FirstRun(self._name), run, tensors)
        return made


def _cast(spec: Any, value: Any) -> Any:
    """An argument as its part of the input signature wants it; TypeError where it does not fit."""
    if isinstance(spec, (list, tuple)):
        return type(spec)(map(_cast, spec, value))
    if not isinstance(spec, TensorSpec):
        return value
    tensor = value if isinstance(value, Tensor) else convert_to_tensor(value, as_dtype(spec.dtype))
    if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        given = TensorSpec(tensor.shape, tensor.dtype, spec.name)
        raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {given} to {spec}`.")
    return tensor


@overload
def function(
    func: Callable[Given, Made],
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Function[Given, Made]: ...
@overload
def function(
    func: None = None,
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Callable[[Callable[Given, Made]], Function[Given, Made]]: ...
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

    def decorated(inner: Any) -> Function:
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        return Function(inner, input_signature)

    return decorated if func is None else decorated(func)
