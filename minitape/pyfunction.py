"""Python functions as operations: ``tf.py_function`` and ``tf.numpy_function``.

In a graph they run when the graph does (:mod:`minitape.graphs.custom`).
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import errors, nest
from .convert import convert_to_tensor
from .custom import for_batches, no_tapes, plain
from .dtypes import as_dtype
from .ends import UnconnectedGradients
from .invalid import invalid
from .primitives import Primitive
from .record import state
from .tape import GradientTape
from .tensor import EagerTensor, Tensor, finish, wrap


class PythonCall:
    """One run of a py_function: the tape that watched its inputs, for the gradient."""

    __slots__ = ("tape", "inputs", "outputs")

    def __init__(self, tape: GradientTape, inputs: list[Any], outputs: list[Any]) -> None:
        self.tape, self.inputs, self.outputs = tape, inputs, outputs


@for_batches
def _python_rule(gs: Any, z: Any, *inputs: Any, call: PythonCall) -> list[Any]:
    floats = [t for t in call.inputs if t.dtype.differentiable]
    targets = [o for o in call.outputs if o.dtype.differentiable]
    seeds = [one for o, one in zip(call.outputs, gs, strict=True) if o.dtype.differentiable]

    def gradient(*seeds: Any) -> Any:
        found = call.tape.gradient(targets, floats, output_gradients=seeds,
                                   unconnected_gradients=UnconnectedGradients.ZERO)  # fmt: skip
        return [convert_to_tensor(g) for g in found]

    if any(isinstance(one, Tensor) for one in gs):  # recorded: a py_function, too
        shares = iter(py_function(gradient, seeds, [t.dtype for t in floats]))
        return [next(shares) if t.dtype.differentiable else None for t in call.inputs]
    with no_tapes():
        shares = iter(gradient(*[wrap(one) for one in seeds]))
    return [plain(next(shares)) if t.dtype.differentiable else None for t in call.inputs]


PYTHON = Primitive("py_function", lambda *arrays, call: arrays, _python_rule, op="EagerPyFunc", label="py", keep="")


_CODES = (
    (TypeError, "InvalidArgument"), (ValueError, "InvalidArgument"), (StopIteration, "OutOfRange"),
    (MemoryError, "ResourceExhausted"), (NotImplementedError, "Unimplemented"), (BaseException, "Unknown"),
)  # fmt: skip


_numbers = iter(range(1 << 62))


def run_python(
    func: Callable[..., Any], inputs: Sequence[Any], dtypes: list[Any], differentiate: bool = False
) -> PythonCall:
    """Calls ``func`` with eager tensors and converts what it returns; exceptions become errors of tf."""
    number = next(_numbers)
    args = [wrap(t.array) for t in inputs]
    with no_tapes():
        try:
            if not differentiate:
                return PythonCall(None, args, _results(func(*args), dtypes, number))  # type: ignore[arg-type]
            with GradientTape(persistent=True) as tape:
                tape.watch([a for a in args if a.dtype.differentiable])
                outputs = _results(func(*args), dtypes, number)
            return PythonCall(tape, args, outputs)
        except errors.OpError:
            raise
        except Exception as error:
            raise python_error(error) from error


def python_error(error: Exception) -> errors.OpError:
    """The error of tf for an exception inside a py_function, with its traceback as text."""
    name = next(code for kind, code in _CODES if isinstance(error, kind))
    trace = error.__traceback__
    if trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    lines = "\n".join(traceback.format_list(traceback.extract_tb(trace)))
    text = f"{type(error).__name__}: {error}"
    message = f"{text}\nTraceback (most recent call last):\n\n{lines}\n{text}\n\n [Op:EagerPyFunc] name: "
    return getattr(errors, name + "Error")(None, None, message)


def _results(value: Any, dtypes: list[Any], number: int) -> list[EagerTensor]:
    """The returned values as tensors of the promised dtypes."""
    values = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
    if len(dtypes) == 1 and isinstance(value, (list, tuple)) and len(values) != 1:
        values = values[:1] if values and isinstance(values[0], (Tensor, np.ndarray, np.generic)) else [value]
    if len(values) != len(dtypes):
        raise invalid(f"pyfunc_{number} returns {len(values)} values, but expects to see {len(dtypes)} values.",
                             "EagerPyFunc")  # fmt: skip
    return [_result(v, dtype) for v, dtype in zip(values, dtypes, strict=True)]


def _result(value: Any, dtype: Any) -> EagerTensor:
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiub" and dtype.kind in "fiub":
        return wrap(np.asarray(value).astype(dtype.as_numpy_dtype))
    return convert_to_tensor(value, dtype)


def _dtypes_of(Tout: Any) -> tuple[list[Any], bool]:
    if isinstance(Tout, (list, tuple)):
        return [as_dtype(t) for t in Tout], True
    return [as_dtype(Tout)], False


_MISSING = (
    "Missing required argument: 'Tout'\n  If using tf.{0} as a decorator, set `Tout`\n  **by name** above the "
    "function:\n"
    "  `@tf.{0}(Tout=tout)`"
)


def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: str | None = None) -> Any:
    """Runs a Python function on eager tensors as one differentiable operation, also inside a graph.

    ``func`` gets the tensors of ``inp`` and returns one value for each dtype in ``Tout`` (a single one, or a list; an
    empty list for none). Gradients flow through its tf operations; an input that it does not use, or an array that it
    makes with NumPy, has gradient zero. Exceptions become errors of tf (ValueError and TypeError: InvalidArgumentError,
    others: UnknownError). See https://www.tensorflow.org/api_docs/python/tf/py_function.

    >>> import minitape as tf
    >>> def log_huber(x, m):
    ...     return x ** 2 if tf.abs(x) <= m else m ** 2 * (1 - 2 * tf.math.log(m) + tf.math.log(x ** 2))
    >>> x = tf.constant(1.5)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = tf.py_function(log_huber, [x, 2.0], tf.float32)
    >>> print(y.numpy(), tape.gradient(y, x).numpy())
    2.25 3.0
    """
    if Tout is None:
        raise TypeError(_MISSING.format("py_function"))
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: py_function(f, args, Tout, name))
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    dtypes, several = _dtypes_of(Tout)
    inputs = [convert_to_tensor(i) for i in inp]
    if state.graph is not None:
        from .graphs.custom import python_row

        outputs = python_row(func, inputs, dtypes)
    else:
        call = run_python(func, inputs, dtypes, differentiate=state.record is not None)
        outputs = [wrap(o.array) for o in call.outputs]
        if outputs and call.tape is not None:
            finish(PYTHON, tuple(inputs), {"call": call}, tuple(outputs))
    if not outputs:
        return []
    return outputs if several else outputs[0]


def numpy_function(
    func: Any = None, inp: Any = None, Tout: Any = None, stateful: bool = True, name: str | None = None
) -> Any:
    """Runs a Python function on NumPy arrays as an operation; its gradient is None.

    Eagerly ``Tout`` is not looked at, as in TensorFlow: the results keep the dtypes that NumPy gave them. In a graph
    they must have the dtypes of ``Tout``. See https://www.tensorflow.org/api_docs/python/tf/numpy_function.

    >>> import minitape as tf
    >>> tf.numpy_function(np.sinh, [tf.constant([0.0, 1.0])], tf.float32).numpy()
    array([0.       , 1.1752012], dtype=float32)
    """
    if Tout is None:
        raise TypeError(_MISSING.format("numpy_function"))
    if func is None:
        return lambda f: functools.wraps(f)(lambda *args: numpy_function(f, args, Tout, stateful, name))
    return call_numpy(func, inp, Tout, stateful)


def call_numpy(func: Any, inp: Any, Tout: Any, stateful: bool = True) -> Any:
    """What ``numpy_function`` and ``compat.v1.py_func`` do."""
    if state.graph is not None:
        from .graphs.custom import numpy_row

        dtypes, several = _dtypes_of(Tout)
        outputs = numpy_row(func, [convert_to_tensor(i) for i in inp], dtypes, stateful)
        return outputs if several else outputs[0]
    result = func(*[np.array(i) for i in inp])
    values = [v if v is None else convert_to_tensor(v) for v in nest.flatten(result)]
    return values[0] if len(values) == 1 else values
