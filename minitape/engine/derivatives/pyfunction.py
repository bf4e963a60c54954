"""Python functions as operations: ``tf.py_function`` and ``tf.numpy_function``.

In a traced function they are other rows (:mod:`minitape.functions.rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..back.tape import GradientTape
from ..recording.block import no_tapes
from ..recording.state import state
from ..table.primitives import Primitive
from ..tensor.convert import convert_to_tensor, is_array
from ..tensor.operation import finish
from ..tensor.tensor import Tensor, new_tensor
from ..values import errors, nest
from ..values.dtypes import DType, as_dtype
from ..values.invalid import invalid
from .custom import arrays_of, with_list

if TYPE_CHECKING:
    from ..tensor.tensor import EagerTensor
    from ..types import Adjoint, Function, Object, Structure, Value


class PythonCall:
    """One run of a py_function: the tape that watched its inputs, for its gradients."""

    __slots__ = ("tape", "inputs", "outputs", "__weakref__")

    def __init__(self, tape: GradientTape | None, inputs: list[EagerTensor], outputs: list[Tensor]) -> None:
        self.tape, self.inputs, self.outputs = tape, inputs, outputs

    def adjoints(self, gs: Sequence[Adjoint]) -> list[Adjoint]:
        """Those of the adjoints of the outputs that belong to outputs with a gradient."""
        return [g for o, g in zip(self.outputs, gs, strict=True) if o.dtype.differentiable]

    def gradient(self, *adjoints: Tensor) -> list[Tensor]:
        """The gradients of the inputs.

        TypeError when an input has a type that has no gradient: TensorFlow promises a zero of that type.
        """
        if self.tape is None:
            raise RuntimeError("this run of a py_function has no gradient: no tape was open")
        targets = [o for o in self.outputs if o.dtype.differentiable]
        sources = [i for i in self.inputs if i.dtype.differentiable]
        found = self.tape.gradient(targets, sources, adjoints)
        other = next((i.dtype.name for i in self.inputs if not i.dtype.differentiable), None)
        if other is not None:
            raise TypeError(f"Cannot convert 0.0 to EagerTensor of dtype {other}")
        # a single number for any shape, as in TensorFlow
        zeros = (new_tensor(i.dtype.as_numpy_dtype(0)) for i in sources)
        return [zero if g is None else convert_to_tensor(g) for g, zero in zip(found, zeros, strict=True)]

    def run_gradient(self, gs: Sequence[Adjoint]) -> list[Tensor]:
        """The gradients for these eager adjoints, out of sight of every tape; errors are those of tf."""
        with no_tapes():
            try:
                return self.gradient(*self.adjoints(gs))
            except errors.OpError:
                raise
            except Exception as error:
                raise python_error(error) from error


@with_list
def _python_rule(gs: Adjoint, z: Adjoint, *inputs: Adjoint, call: PythonCall) -> list[Adjoint]:
    if any(isinstance(one, Tensor) for one in gs):  # recorded: a py_function, too
        return py_function(call.gradient, call.adjoints(gs), [t.dtype for t in call.inputs])
    return [arrays_of(share) for share in call.run_gradient([new_tensor(one) for one in gs])]


PYTHON = Primitive("py_function", lambda *arrays, call: arrays, _python_rule, op="EagerPyFunc", label="py", keep="")


_CLASSES: dict[type[Exception], type[errors.OpError]] = {
    TypeError: errors.InvalidArgumentError,
    ValueError: errors.InvalidArgumentError,
    NotImplementedError: errors.UnimplementedError,
}


def run_python(
    func: Function, inputs: Sequence[Tensor], dtypes: list[DType], differentiate: bool = False
) -> PythonCall:
    """Calls ``func`` with eager tensors and converts what it returns; exceptions become errors of tf."""
    args = [new_tensor(t.array) for t in inputs]
    tape: GradientTape | None = None
    with no_tapes():
        try:
            if not differentiate:
                outputs = _results(func(*args), dtypes)
            else:
                with GradientTape(persistent=True) as tape:
                    tape.watch([a for a in args if a.dtype.differentiable])
                    outputs = _results(func(*args), dtypes)
        except Exception as error:
            raise python_error(error) from error
    if len(outputs) != len(dtypes):
        raise invalid(f"The function returns {len(outputs)} values, but expects to see {len(dtypes)} values: see Tout.")
    return PythonCall(tape, args, outputs)


def python_error(error: Exception) -> errors.OpError:
    """The error of tf for an exception inside a py_function."""
    made = next((theirs for kind, theirs in _CLASSES.items() if isinstance(error, kind)), errors.UnknownError)
    return made(None, None, f"{type(error).__name__}: {error} [Op:EagerPyFunc]")


def _results(value: Structure, dtypes: list[DType]) -> list[Tensor]:
    """The returned values as tensors of the promised dtypes; of a list that is too long, the first ones."""
    values = value if isinstance(value, (list, tuple)) else [] if value is None else [value]
    return [_result(v, dtype) for v, dtype in zip(values, dtypes, strict=False)]


def _result(value: Value, dtype: DType) -> Tensor:
    if hasattr(value, "_read"):
        raise RuntimeError(f"A py_function returns tensors or arrays, got the variable {value}: return its value().")
    if is_array(value) and value.dtype.kind in "fiub" and dtype.kind in "fiub":
        return new_tensor(np.asarray(value).astype(dtype.as_numpy_dtype))
    return convert_to_tensor(value, dtype)


def types_of_results(Tout: Object) -> tuple[list[DType], bool]:
    """The dtypes of ``Tout``, and whether it is a list of them."""
    kinds = list(Tout) if isinstance(Tout, (list, tuple)) else [Tout]
    found = [kind.dtype if type(kind).__name__ == "TensorSpec" else as_dtype(kind) for kind in kinds]
    return found, isinstance(Tout, (list, tuple))


def py_function(
    func: Function | None = None, inp: Object = None, Tout: Object = None, name: str | None = None
) -> Structure:
    """Runs a Python function on eager tensors as one differentiable operation, also inside a traced function.

    ``func`` gets the tensors of ``inp`` and returns one value for each dtype in ``Tout`` (a single one, or a list; an
    empty list for none). Gradients flow through its tf operations; an input that it does not use, or an array that it
    makes with NumPy, has gradient zero; InvalidArgumentError where an input has no gradient, such as an integer.
    Exceptions become errors of tf (ValueError and TypeError: InvalidArgumentError, others: UnknownError). See
    https://www.tensorflow.org/api_docs/python/tf/py_function.

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
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    kinds, several = types_of_results(Tout)
    inputs = tuple(map(convert_to_tensor, inp))
    call = run_python(func, inputs, kinds, differentiate=state.record is not None)
    outputs = [new_tensor(o.array) for o in call.outputs]
    if outputs and call.tape is not None:
        finish(PYTHON, inputs, {"call": call}, tuple(outputs))
    return outputs if several or not outputs else outputs[0]


def numpy_function(
    func: Object = None, inp: Object = None, Tout: Object = None, stateful: bool = True, name: str | None = None
) -> Structure:
    """Runs a Python function on NumPy arrays as an operation; its gradient is None. ``stateful`` has no effect.

    Eagerly ``Tout`` is not looked at, as in TensorFlow: the results keep the dtypes that NumPy gave them. In a
    traced function they must have the dtypes of ``Tout``. See
    https://www.tensorflow.org/api_docs/python/tf/numpy_function.

    >>> import minitape as tf
    >>> tf.numpy_function(np.sinh, [tf.constant([0.0, 1.0])], tf.float32).numpy()
    array([0.       , 1.1752012], dtype=float32)
    """
    result = func(*[np.array(i) for i in inp])
    values = [v if v is None else convert_to_tensor(v) for v in nest.flatten(result)]
    return values[0] if len(values) == 1 else values
