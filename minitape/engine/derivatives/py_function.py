"""Define ``tf.py_function`` and ``tf.numpy_function``, which run Python functions as operations.

While a recording is open, ``py_function`` runs the function under a separate tape. The call is a single row of the open
recording. The rule of this row asks the separate tape for the gradients (:class:`PythonCall`).

While a ``tf.function`` is traced, :mod:`minitape.functions.effect_rows` writes the rows of both operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap

import numpy as np

from ..backward.tape import GradientTape
from ..record.interrupt_safe import suspend_recording
from ..record.thread_state import state
from ..table.primitives import Primitive
from ..tensor.conversion import convert_to_tensor, is_numpy_value
from ..tensor.operation import record_operation
from ..tensor.tensor import EagerTensor, Tensor, wrap_array_with_origin
from ..types import (
    LIST_OR_TUPLE,
    Adjoint,
    Adjoints,
    Function,
    Object,
    OptionalFunction,
    OptionalText,
    Structure,
    Tensors,
    Value,
)
from ..values import errors, nest
from ..values.argument_errors import build_argument_error
from ..values.dtypes import DType, as_dtype
from .custom_gradient import convert_share_to_array, wrap_rule_to_receive_adjoint_list


@dataclass(eq=False, slots=True, weakref_slot=True)
class PythonCall:
    """One run of a py_function, with the tape that computes its gradients.

    Attributes:
        tape: The tape that has recorded the run, or None if no gradient was needed.
        inputs: The eager tensors that were passed to the function.
        outputs: The results of the function.
    """

    tape: GradientTape | None
    inputs: list[EagerTensor]
    outputs: Tensors

    def select_differentiable_adjoints(self, adjoints: Sequence[Adjoint]) -> Adjoints:
        """Select the adjoints of the outputs that have a differentiable dtype.

        Args:
            adjoints: An adjoint for each output.
        """
        return [g for output, g in zip(self.outputs, adjoints, strict=True) if output.dtype.differentiable]

    def compute_input_gradients(self, *adjoints: Tensor) -> Tensors:
        """Compute the gradients of the inputs.

        Args:
            *adjoints: The adjoints of the outputs that have a differentiable dtype.

        Returns:
            A tensor for each input. If no output depends on an input, its gradient is a scalar zero, whatever the shape
            of the input.

        Raises:
            RuntimeError: If no tape has recorded the run.
            TypeError: If an input has a dtype without gradients. TensorFlow cannot create a zero of that dtype.
        """
        if self.tape is None:
            raise RuntimeError("this run of a py_function has no gradient, because no tape was open")
        targets = [output for output in self.outputs if output.dtype.differentiable]
        sources = [input_tensor for input_tensor in self.inputs if input_tensor.dtype.differentiable]
        gradients = self.tape.gradient(targets, sources, adjoints)
        integer_dtype = next(
            (input_tensor.dtype.name for input_tensor in self.inputs if not input_tensor.dtype.differentiable), None
        )
        if integer_dtype is not None:
            raise TypeError(f"Cannot convert 0.0 to EagerTensor of dtype {integer_dtype}")
        # As in TensorFlow, an input without a gradient gets a scalar zero, whatever its shape.
        zeros = (wrap_array_with_origin(input_tensor.dtype.as_numpy_dtype(0)) for input_tensor in sources)
        return [zero if g is None else convert_to_tensor(g) for g, zero in zip(gradients, zeros, strict=True)]

    def compute_unrecorded_gradients(self, adjoints: Sequence[Adjoint]) -> Tensors:
        """Compute the gradients of the inputs, without recording the computation on any tape.

        Args:
            adjoints: An eager tensor for each output.

        Returns:
            A tensor for each input.

        Raises:
            OpError: If the computation fails. All other exceptions are converted to an OpError.
        """
        with suspend_recording():
            try:
                return self.compute_input_gradients(*self.select_differentiable_adjoints(adjoints))
            except errors.OpError:
                raise
            except Exception as error:
                raise convert_error_to_op_error(error) from error


@wrap_rule_to_receive_adjoint_list
def _apply_python_rule(adjoints: Adjoint, z: Adjoint, *inputs: Adjoint, call: PythonCall) -> Adjoints:
    if any(isinstance(adjoint, Tensor) for adjoint in adjoints):  # A recorded sweep needs a py_function for its rows.
        return py_function(
            call.compute_input_gradients, call.select_differentiable_adjoints(adjoints), [t.dtype for t in call.inputs]
        )
    return [
        convert_share_to_array(share)
        for share in call.compute_unrecorded_gradients([wrap_array_with_origin(adjoint) for adjoint in adjoints])
    ]


PYTHON = Primitive(
    "py_function", lambda *arrays, call: arrays, _apply_python_rule, op="EagerPyFunc", label="py", keep=""
)


_ERROR_CLASSES: dict[type[Exception], type[errors.OpError]] = {
    TypeError: errors.InvalidArgumentError,
    ValueError: errors.InvalidArgumentError,
    NotImplementedError: errors.UnimplementedError,
}


def run_python_function(
    func: Function, inputs: Sequence[Tensor], result_dtypes: list[DType], needs_gradient: bool
) -> PythonCall:
    """Call a Python function with eager tensors, and convert its results to tensors.

    Args:
        func: The function.
        inputs: The tensors whose values the function receives.
        result_dtypes: The dtype of each result.
        needs_gradient: Whether a tape records the run.

    Returns:
        The run, with its results as ``outputs``.

    Raises:
        OpError: If the function raises an exception or returns too few values.
    """
    arguments = [wrap_array_with_origin(input_tensor.array) for input_tensor in inputs]
    tape = None
    with suspend_recording():
        try:
            if not needs_gradient:
                outputs = _convert_results(func(*arguments), result_dtypes)
            else:
                with GradientTape(persistent=True) as tape:
                    tape.watch([argument for argument in arguments if argument.dtype.differentiable])
                    outputs = _convert_results(func(*arguments), result_dtypes)
        except Exception as error:
            raise convert_error_to_op_error(error) from error
    if len(outputs) != len(result_dtypes):
        raise build_argument_error(
            f"The function returns {len(outputs)} values, but expects to see {len(result_dtypes)} values. Check Tout."
        )
    return PythonCall(tape, arguments, outputs)


def convert_error_to_op_error(error: Exception) -> errors.OpError:
    """Convert an exception from a py_function to the error that TensorFlow raises.

    Args:
        error: The exception. ValueError and TypeError become an InvalidArgumentError, NotImplementedError becomes an
            UnimplementedError, and all others become an UnknownError.
    """
    error_class = next(
        (tf_class for kind, tf_class in _ERROR_CLASSES.items() if isinstance(error, kind)), errors.UnknownError
    )
    return error_class(None, None, f"{type(error).__name__}: {error} [Op:EagerPyFunc]")


def _convert_results(value: Structure, dtypes: list[DType]) -> Tensors:
    """Convert the return value of a Python function to tensors of the declared dtypes.

    If there are too many values, the superfluous values are dropped.
    """
    if isinstance(value, LIST_OR_TUPLE):
        values = value
    elif value is None:
        values = []
    else:
        values = [value]
    return list(starmap(_convert_result, zip(values, dtypes, strict=False)))


def _convert_result(value: Value, dtype: DType) -> Tensor:
    if hasattr(value, "_read_and_watch"):
        raise RuntimeError(
            f"A py_function must return tensors or arrays, but it returned the variable {value}. Return the "
            "variable's value() instead."
        )
    if is_numpy_value(value) and value.dtype.kind in "fiub" and dtype.kind in "fiub":
        return wrap_array_with_origin(np.asarray(value).astype(dtype.as_numpy_dtype))
    return convert_to_tensor(value, dtype)


def parse_result_types(result_types: Object) -> tuple[list[DType], bool]:
    """Return the dtypes in the argument ``Tout``.

    Args:
        result_types: A dtype, a TensorSpec, or a list of them.

    Returns:
        The dtypes, and whether the argument is a list.
    """
    is_list = isinstance(result_types, LIST_OR_TUPLE)
    type_values = result_types if is_list else [result_types]
    dtypes = [kind.dtype if type(kind).__name__ == "TensorSpec" else as_dtype(kind) for kind in type_values]
    return dtypes, is_list


def py_function(
    func: OptionalFunction = None, inp: Object = None, Tout: Object = None, name: OptionalText = None
) -> Structure:
    """Run a Python function on eager tensors as a single differentiable operation, even inside a traced function.

    Gradients flow through the tf operations in the function. The gradient is zero for inputs that the function does not
    use or only reads with NumPy. See https://www.tensorflow.org/api_docs/python/tf/py_function.

    Args:
        func: A function that takes the tensors in ``inp`` and returns a value for each dtype in ``Tout``.
        inp: A list of tensors, variables and other values that can be converted to tensors.
        Tout: The dtype of the result. A list of dtypes for several results, or an empty list for no results.
        name: Ignored in eager execution.

    Returns:
        A tensor of the dtype ``Tout``, or a list of tensors if ``Tout`` is a list.

    Raises:
        ValueError: If ``func`` is not callable.
        InvalidArgumentError: If ``func`` raises ValueError or TypeError, or returns too few values. Computing the
            gradient also raises this error if an input has a dtype without gradients, such as int32.
        UnimplementedError: If ``func`` raises NotImplementedError.
        UnknownError: If ``func`` raises any other exception.

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
    dtypes, is_list = parse_result_types(Tout)
    inputs = tuple(map(convert_to_tensor, inp))
    call = run_python_function(func, inputs, dtypes, needs_gradient=state.record is not None)
    outputs = [wrap_array_with_origin(output.array) for output in call.outputs]
    if outputs and call.tape is not None:
        record_operation(PYTHON, inputs, {"call": call}, tuple(outputs))
    return outputs if is_list or not outputs else outputs[0]


def numpy_function(
    func: Object = None, inp: Object = None, Tout: Object = None, stateful: bool = True, name: OptionalText = None
) -> Structure:
    """Run a Python function on NumPy arrays, as an operation without a gradient.

    As in TensorFlow, eager execution ignores ``Tout``, so the results keep the dtypes of the arrays. In a traced
    function, the results must have the dtypes in ``Tout``. ``stateful`` has no effect. See
    https://www.tensorflow.org/api_docs/python/tf/numpy_function.

    Args:
        func: A function that takes the arrays in ``inp`` and returns an array or a nested structure of arrays.
        inp: A list of tensors, variables and arrays.
        Tout: The dtype of the result, or a list of dtypes.
        stateful: Ignored.
        name: Ignored in eager execution.

    Returns:
        A tensor, or a list of tensors if ``func`` returns several arrays.

    >>> import minitape as tf
    >>> tf.numpy_function(np.sinh, [tf.constant([0.0, 1.0])], tf.float32).numpy()
    array([0.       , 1.1752012], dtype=float32)
    """
    result = func(*[np.array(i) for i in inp])
    values = [v if v is None else convert_to_tensor(v) for v in nest.flatten(result)]
    return values[0] if len(values) == 1 else values
