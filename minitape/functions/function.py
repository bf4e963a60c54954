"""``tf.function``: the recordings of a Python function, one for each kind of arguments."""

from __future__ import annotations

import functools
import inspect
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from ..engine.recording.block import During
from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array
from ..engine.tensor.variable import ResourceVariable
from ..engine.values import nest
from ..engine.values.dtypes import as_dtype
from .program import Program
from .recording import Recording, as_result, record
from .rows import Log, effects, guard
from .settings import EAGER_FUNCTIONS
from .spec import Identity, TensorSpec, key_of
from .trace import Again, Trace, Unrecorded

_LITERALS = {bool, int, float, str, type(None)}


MOST = 32  # recordings of one function for calls alike


class Paths:
    """The recordings for calls alike, one for each way that Python took, and what packs their results."""

    def __init__(self) -> None:
        self.known: list[tuple[Recording, Callable]] = []
        self.only: Recording | None = None  # where Python can take one way alone
        self.pack: Any = None

    def add(self, recording: Recording, pack: Callable) -> None:
        """One more way."""
        self.known.append((recording, pack))
        checked = any(call.primitive.checks or call.primitive.bodies for call in recording.effects)
        self.only, self.pack = None if checked else recording, pack

    def refuse_more(self, name: str) -> None:
        """RuntimeError where there are too many, which names the line that decides."""
        if len(self.known) < MOST:
            return
        recording = self.known[-1][0]
        last = [call.row for call in recording.effects if call.primitive.checks][-1]
        path, line, _ = recording.table.record.place_of(last) or ("?", 0, None)
        raise RuntimeError(
            f"Python has taken {MOST} different ways through the traced function {name!r}, and decides by a tensor in "
            f"{path}, line {line}: use tf.cond, tf.while_loop or tf.where there, which are one recording."
        )


class Function:
    """What ``tf.function`` returns. The first call for each kind of arguments runs the Python function and keeps the
    recording; later calls compute its rows.

    >>> import minitape as tf
    >>> double = tf.function(lambda x: x * 2)
    >>> double(tf.constant(3.0)).numpy(), double.python_function(3)
    (np.float32(6.0), 6)
    """

    def __init__(self, python_function: Callable, input_signature: Sequence | None = None, owner: Any = None) -> None:
        functools.update_wrapper(self, python_function, updated=())
        self.python_function, self.input_signature, self._owner = python_function, input_signature, owner
        self._name = str(getattr(python_function, "__name__", "function"))
        self._signature = inspect.signature(python_function)
        if owner is not None:
            self._signature = self._signature.replace(parameters=[*self._signature.parameters.values()][1:])
        self._paths: dict[Any, Paths] = {}
        self._fast: dict[Any, Paths] = {}  # by types and values, where arguments are tensors and literals
        self._plain: dict[tuple, tuple[Program, Callable]] = {}  # where a call is a program of tensors, by their dtypes
        self._bound: Any = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()  # one thread traces, the others wait and find the recording
        self._traced = 0

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return self._traced

    def __get__(self, instance: Any, cls: Any = None) -> Any:
        if instance is None:
            return self
        if instance not in self._bound:
            owner = weakref.ref(instance)
            self._bound[instance] = Function(self.python_function, self.input_signature, owner)
        return self._bound[instance]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        record = state.record
        if record is None and not kwargs:  # the usual case: tensors that are on no tape
            known: tuple = ()
            arrays = []
            for a in args:
                if type(a) is not EagerTensor or a._record is not None:
                    break
                value = a._value
                known += value.dtype, value.shape
                arrays.append(value)
            else:
                if (found := self._plain.get(known)) is not None and not EAGER_FUNCTIONS[0]:
                    return found[1]([*map(from_array, found[0].run(arrays))])
        if EAGER_FUNCTIONS[0]:
            return self._run(args, kwargs)
        if record is not None and record.trace is not None:
            return self._inlined(args, kwargs)
        key: list = []
        tensors: list[EagerTensor] = []
        if kwargs or not _tell(args, key, tensors):
            return self._call(args, kwargs, None)
        paths = self._fast.get(fast := tuple(key))
        if paths is not None and paths.only is not None:
            return paths.pack(paths.only.call(tensors))
        return self._call(args, kwargs, fast)

    def _run(self, args: tuple, kwargs: dict) -> Any:
        owner = () if self._owner is None else (self._owner(),)
        return self.python_function(*owner, *args, **kwargs)

    def _inlined(self, args: tuple, kwargs: dict) -> Any:
        """In a function that is traced its rows become rows of that one."""
        values, pack = self._bind(args, kwargs)
        found = self._run(*pack(values))
        return nest.map_structure(lambda t: None if t is None else as_result(self._name, t), found)

    def _bind(self, args: tuple, kwargs: dict) -> tuple[list, Callable]:
        """The arguments as the input signature wants them, in the order of parameters, and what makes a call of them."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = [*bound.args, *bound.kwargs.values()]
        if self.input_signature is not None:
            values = [*map(_cast, self.input_signature, values), *values[len(self.input_signature) :]]
        names, places = list(bound.kwargs), len(bound.args)
        return (
            [nest.map_structure(_as_argument, v) for v in values],
            lambda own: (tuple(own[:places]), dict(zip(names, own[places:], strict=True))),
        )

    def _call(self, args: tuple, kwargs: dict, fast: Any) -> Any:
        values, pack = self._bind(args, kwargs)
        tensors = [leaf for v in values for leaf in nest.flatten(v) if isinstance(leaf, Tensor)]
        names = [*kwargs] if kwargs else []
        key = (*sorted(names), *map(key_of, values))
        paths, tried = self._paths.setdefault(key, Paths()), 0

        def run(*copies: EagerTensor) -> Any:
            waiting = iter(copies)
            own = [nest.map_structure(lambda t: next(waiting) if isinstance(t, Tensor) else t, v) for v in values]
            args, kwargs = pack(own)
            return self._run(args, kwargs)

        log = Log()
        with During(effects, log=log):
            for lock in (nullcontext(), self._lock):  # another thread may have traced meanwhile
                with lock:
                    for recording, results in paths.known[tried:]:
                        tried, log.next = tried + 1, 0
                        try:
                            return results(recording.call(tensors))
                        except Again:
                            pass
                    if lock is self._lock:
                        paths.refuse_more(self._name)
                        log.next = 0
                        recording, results, found = self._trace(run, tensors, _names(self._signature, values))
                        paths.add(recording, results)
            if fast is not None and self.input_signature is None and (tensors or not args):
                self._fast[fast] = paths
                self._plain.pop(fast, None)
                if paths.only is recording and recording.plain and len(fast) == 2 * len(tensors):
                    self._plain[fast] = recording.program, results
            _warn(self.python_function)
            if state.record is None:
                return results(recording.outputs(recording.inputs(tensors), found))
            log.next = 0  # once more with what a gradient will read; no effect is repeated
            return results(recording.call(tensors))

    def _trace(self, run: Callable, tensors: list, names: list[str]) -> tuple:
        """A first run. One that makes variables is tried again: another run must not."""
        trace = Trace(self._name, guard)
        made = record(trace, run, tensors, names)
        self._traced += 1
        if trace.created:
            with suppress(Unrecorded):
                record(Trace(self._name), run, tensors, names)
        return made


def _names(signature: inspect.Signature, values: list) -> list[str]:
    """The names of the tensors among the arguments."""
    parameters = [p.name for p in signature.parameters.values()]
    return [
        parameters[min(at, len(parameters) - 1)]
        for at, v in enumerate(values)
        for leaf in nest.flatten(v)
        if isinstance(leaf, Tensor)
    ]


def _tell(values: Sequence, key: list, tensors: list) -> bool:
    """Adds to a key what tells these arguments from others, and their tensors; False where there is more to ask."""
    for a in values:
        kind = type(a)
        if kind is EagerTensor:
            value = a._value
            key += value.dtype, value.shape
            tensors.append(a)
        elif kind in _LITERALS:
            key += kind, a
        elif kind is ResourceVariable:
            key.append(Identity(a))
        elif kind is list or kind is tuple:
            key += kind, len(a)
            if not _tell(a, key, tensors):
                return False
        else:
            return False
    return True


def _as_argument(value: Any) -> Any:
    """NumPy arrays as tensors."""
    if is_array(value):
        return convert_to_tensor(value)
    of_keras = hasattr(value, "_read") and hasattr(value, "_gradient_leaf")
    return value._to_tensor() if of_keras else value


def _cast(spec: Any, value: Any) -> Any:
    """An argument as its part of the input signature wants it; TypeError where it does not fit."""
    if isinstance(spec, (list, tuple)):
        return type(spec)(map(_cast, spec, value))
    if not isinstance(spec, TensorSpec):
        return value
    tensor = value if isinstance(value, Tensor) else convert_to_tensor(value, as_dtype(spec.dtype))
    if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        raise TypeError(
            f"Binding inputs to tf.function failed due to `Can not cast "
            f"{TensorSpec(tensor.shape, tensor.dtype, spec.name)} to {spec}`."
        )
    return tensor


def function(
    func: Any = None,
    input_signature: Sequence | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
) -> Any:
    """Makes a Python function run once for each kind of arguments: later calls compute what the first one recorded.

    Tensors are told apart by dtype and shape, Python values by equality. Python side effects happen at first runs only.
    Where Python branches on a tensor, another answer is another recording, 32 at most; ``tf.cond`` and
    ``tf.while_loop`` are one.
    ``input_signature`` checks dtypes and shapes; the other arguments have no effect. Gradients flow through calls, to
    any order. See https://www.tensorflow.org/api_docs/python/tf/function.

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


_times: dict[Any, int] = {}  # how often the code of a function was traced


def _warn(function: Callable) -> None:
    """Warns of a function that runs in Python again and again: at its fifth time."""
    code = getattr(function, "__code__", function)
    _times[code] = _times.get(code, 0) + 1
    if _times[code] == 5:
        logging.getLogger("tensorflow").warning(
            "5 out of the last 5 calls to %r triggered tf.function retracing. Tracing is expensive and the excessive "
            "number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing tensors with "
            "different shapes, (3) passing Python objects instead of tensors.",
            function,
        )
