"""``tf.function``: the recordings of a Python function, one for each kind of arguments."""

from __future__ import annotations

import functools
import inspect
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array, new_tensor
from ..engine.tensor.variable import ResourceVariable
from ..engine.values import nest
from ..engine.values.dtypes import as_dtype
from .deferred import put_off
from .recording import Recording, record
from .settings import EAGER_FUNCTIONS
from .spec import Identity, TensorSpec, key_of
from .trace import Again

_LITERALS = {bool, int, float, str, type(None)}


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
        self._recordings: dict[Any, Recording] = {}
        self._fast: dict[Any, Recording] = {}  # by types and values, where arguments are tensors and literals
        self._bound: Any = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()  # one thread traces, the others wait and find the recording
        self._traced = 0

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function ran."""
        return self._traced

    def __get__(self, instance: Any, cls: Any = None) -> Any:
        if instance is None:
            return self
        if instance not in self._bound:
            owner = weakref.ref(instance)
            self._bound[instance] = Function(self.python_function, self.input_signature, owner)
        return self._bound[instance]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.graph is not None:
            return put_off(self, args, kwargs)
        if EAGER_FUNCTIONS[0]:
            return self._run(args, kwargs)
        tensors: list[EagerTensor] = []
        key: list = []
        if not kwargs and _tell(args, key, tensors):
            known = self._fast.get(tuple(key))
            if known is not None:
                try:
                    if (
                        known.plain
                        and len(known.paths) == 1
                        and state.record is None
                        and not any([t._record for t in tensors])
                    ):
                        return known.pack([*map(from_array, known.program.run([t._value for t in tensors]))])
                    return known.run(tensors)
                except Again:
                    pass
        return self._call(args, kwargs, tuple(key) if len(tensors) or not args else None)

    def _run(self, args: tuple, kwargs: dict) -> Any:
        owner = () if self._owner is None else (self._owner(),)
        return self.python_function(*owner, *args, **kwargs)

    def _call(self, args: tuple, kwargs: dict, fast: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = [*bound.args, *bound.kwargs.values()]
        if self.input_signature is not None:
            values = [*map(_cast, self.input_signature, values), *values[len(self.input_signature) :]]
        values = [nest.map_structure(_as_argument, v) for v in values]
        names, places = list(bound.kwargs), len(bound.args)
        given = [leaf for v in values for leaf in nest.flatten(v)]
        tensors = [leaf for leaf in given if isinstance(leaf, Tensor)]
        key = (*names, *map(key_of, values))
        with self._lock:
            known = self._recordings.get(key)
            if known is not None:
                try:
                    return known.run(tensors)
                except Again:  # of something that hangs on values
                    pass

            def run(*copies: EagerTensor) -> Any:
                waiting = iter(copies)
                own = [nest.map_structure(lambda t: next(waiting) if isinstance(t, Tensor) else t, v) for v in values]
                return self._run(tuple(own[:places]), dict(zip(names, own[places:], strict=True)))

            made, _, first = record(self._name, run, tensors, _names(self._signature, values))
            self._traced += 1
            if known is not None:
                made.paths = known.paths
                made.paths.append(made)
            self._recordings[key] = made
            if fast is not None and self.input_signature is None:
                self._fast[fast] = made
            _warn(self.python_function)
        return made.pack(made.call(tensors, first))

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself, after a run on zeros in the place of each TensorSpec; unknown sizes are taken to be 1."""
        import numpy as np

        def zeros(leaf: Any) -> Any:
            if not isinstance(leaf, TensorSpec):
                return leaf
            return new_tensor(np.zeros([n or 1 for n in leaf.shape.as_list()], leaf.dtype.as_numpy_dtype)[()])

        given = self.input_signature if self.input_signature is not None and not args else args
        self(
            *[nest.map_structure(zeros, a) for a in given],
            **{k: nest.map_structure(zeros, v) for k, v in kwargs.items()},
        )
        return self


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
    Python cannot branch on a tensor that hangs on the arguments: use ``tf.cond``, ``tf.while_loop``, ``tf.where``.
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
