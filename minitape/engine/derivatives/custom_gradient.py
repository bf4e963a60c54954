"""Define the functions for user-defined gradients, such as ``tf.custom_gradient`` and ``recompute_grad``.

A call to a function with a custom gradient is one row of the tape. The rule of this row calls the user's Python
function. While a ``tf.function`` is traced, :mod:`minitape.functions.traced_custom_gradient` writes the row.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial, update_wrapper, wraps

import numpy as np

from ..backward.tape import GradientTape
from ..hooks import hooks
from ..record.interrupt_safe import ThreadContext, make_interrupt_safe_context_manager
from ..record.row_parts import LEAF
from ..record.thread_state import append_to_list_or_tuple, get_current_first_run, state
from ..table.primitives import TABLE, Primitive, Rule
from ..tensor.conversion import convert_to_tensor
from ..tensor.operation import record_operation
from ..tensor.tensor import EagerTensor, Tensor, wrap_array_with_origin
from ..tensor.variable import ResourceVariable
from ..types import LIST_OR_TUPLE, Adjoint, Adjoints, Function, Object, OptionalFunction, Result, Structure, Tensors
from ..values.nest import flatten, pack_sequence_as

# -- state of the thread ---------------------------------------------------------------------------


@make_interrupt_safe_context_manager
def pause_open_tapes() -> Iterator[None]:
    """Pause all open tapes during the block. The first run of a ``tf.function`` continues to record."""
    with ExitStack() as stack:
        for tape in reversed(state.tapes):
            stack.enter_context(tape.stop_recording())
        yield


def collect_trainable_variable_reads() -> AbstractContextManager[dict[int, ResourceVariable]]:
    """Collect the trainable variables that are read in the block.

    Returns:
        A context manager that returns a dictionary of the variables, keyed by id. The dictionary is filled during the
        block.
    """
    variables_by_id: dict[int, ResourceVariable] = {}
    return ThreadContext(variables_by_id, read_variables=(*state.read_variables, variables_by_id))


@make_interrupt_safe_context_manager
def group_rows_in_picture(group_name: str) -> Iterator[None]:
    """Show the operations in the block as one group in pictures, unless the block contains only one operation.

    Args:
        group_name: The name of the group.
    """
    record = state.record
    if record is None:
        yield
        return
    first_row = record.next
    outer_scopes = record.scopes
    path = outer_scopes[-1][1] if outer_scopes else ()
    record.scopes = [*outer_scopes, (first_row, (*path, group_name))]
    try:
        yield
    finally:
        has_several = sum(record.read_integer_cells(row).code != LEAF for row in range(first_row, record.next)) > 1
        record.scopes = append_to_list_or_tuple(record.scopes, (record.next, path)) if has_several else outer_scopes


def convert_share_to_array(share: Adjoint) -> Adjoint:
    """Convert a tensor to an array for a plain sweep. Return any other share unchanged.

    Args:
        share: A tensor, an array or None.
    """
    return share.array if isinstance(share, EagerTensor) else share


def convert_adjoint_to_tensor(adjoint: Adjoint) -> Tensor | None:
    """Convert an adjoint to a tensor for user code.

    Args:
        adjoint: An array, a NumPy scalar, a tensor or None. Tensors and None are returned unchanged.
    """
    return adjoint if adjoint is None or isinstance(adjoint, Tensor) else wrap_array_with_origin(adjoint)


# -- custom_gradient -------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class CustomCall:
    """One call to a function with a custom gradient.

    Attributes:
        name: The name of the function.
        grad_fn: The user's function that computes the gradients of this call.
        variables: The trainable variables that the function has read.
        argument_count: The number of positional arguments after flattening.
    """

    name: str
    grad_fn: Function
    variables: list[ResourceVariable]
    argument_count: int

    def compute_shares(self, adjoints: Sequence[Adjoint]) -> Adjoints:
        """Call the user's gradient function to compute the gradients with respect to the arguments and variables.

        Args:
            adjoints: The adjoint of each output, as an array, a tensor or None.

        Returns:
            A share or None for each argument, followed by the same for each variable. The shares are tensors if an
            adjoint is a tensor, otherwise arrays.

        Raises:
            ValueError: If the function returns the wrong number of gradients.
        """
        tensors: Adjoints = [convert_adjoint_to_tensor(adjoint) for adjoint in adjoints]
        if self.variables:
            input_grads, variable_grads = self.grad_fn(*tensors, variables=self.variables)
            if len(variable_grads) != len(self.variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            input_grads = self.grad_fn(*tensors)
            variable_grads = []
        flat_gradients = flatten(input_grads)
        if len(flat_gradients) != self.argument_count:
            raise ValueError(
                f"custom_gradient function expected to return {self.argument_count} gradients, but returned "
                f"{len(flat_gradients)} instead."
            )
        shares = [_convert_user_gradient(g, tensors[0]) for g in flat_gradients + variable_grads]
        is_recorded = any(isinstance(adjoint, Tensor) for adjoint in adjoints)
        return shares if is_recorded else [convert_share_to_array(share) for share in shares]


def _convert_user_gradient(g: Adjoint, upstream_gradient: Tensor) -> Adjoint:
    """Convert a result of the user's gradient function to a tensor.

    Args:
        g: A value to convert. A tensor or None is returned unchanged.
        upstream_gradient: The first adjoint of the call. Numbers and arrays are converted to its dtype.
    """
    if isinstance(g, (int, float, complex, np.ndarray, np.generic)):
        return convert_to_tensor(np.asarray(g).astype(upstream_gradient.dtype.as_numpy_dtype))
    return g if g is None or isinstance(g, Tensor) else convert_to_tensor(g)


def wrap_rule_to_receive_adjoint_list(rule: Rule) -> Rule:
    """Make a rule receive a list of adjoints, even if its call has only one output.

    Args:
        rule: A rule for all inputs. Its first argument is a list of adjoints.

    Returns:
        A rule whose first argument is either the adjoint of a single output or a list of adjoints.
    """

    @wraps(rule)
    def call_with_list(g: Adjoint, z: Adjoint, *inputs: Adjoint, **attrs: object) -> Adjoint:
        return rule(list(g) if isinstance(g, LIST_OR_TUPLE) else [g], z, *inputs, **attrs)

    return call_with_list


@wrap_rule_to_receive_adjoint_list
def _apply_custom_rule(adjoints: Adjoint, z: Adjoint, *inputs: Adjoint, call: CustomCall) -> Adjoints:
    return call.compute_shares(adjoints)


CUSTOM = Primitive(
    "custom_gradient", lambda *arrays, call: arrays, _apply_custom_rule, op="IdentityN", label="custom", keep=""
)


def _require_variables_parameter(grad_fn: Function, variables: list[ResourceVariable]) -> None:
    """Check that a gradient function has the parameter ``variables`` if its function reads variables.

    Raises:
        TypeError: If the parameter is missing.
    """
    if not variables:
        return
    spec = inspect.getfullargspec(grad_fn)
    if "variables" not in spec.args + spec.kwonlyargs and not spec.varkw:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
            f"{variables}"
        )


def custom_gradient(f: OptionalFunction = None) -> Function:
    """Decorate a function that defines its own gradient.

    ``f(*args)`` returns a result and a function ``grad_fn``, which computes the gradients of the arguments.
    ``grad_fn(*upstream)`` receives an upstream gradient for each tensor in the result. An upstream gradient is zero if
    the target does not depend on that tensor. ``grad_fn`` returns a gradient or None for each positional argument of
    ``f``. Keyword arguments are passed to ``f``, but have no gradient.

    If ``f`` reads variables, ``grad_fn`` must accept ``variables=`` and return ``(gradients of the arguments, gradients
    of the variables)``. The result can be differentiated to any order if ``grad_fn`` consists of tf operations. See
    https://www.tensorflow.org/api_docs/python/tf/custom_gradient.

    Args:
        f: The function. If it is None, the decorator itself is returned.

    Returns:
        A function with the same arguments as ``f``. The new function returns only the result. In a class body, the new
        function becomes a method.

    Raises:
        TypeError: If ``f`` reads variables and ``grad_fn`` does not accept ``variables``. The call raises this error.
        ValueError: If ``grad_fn`` returns the wrong number of gradients. The gradient computation raises this error.

    >>> import minitape as tf
    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return x, lambda dy: tf.minimum(dy, 1.0)
    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = clipped(x) * 5.0
    >>> print(tape.gradient(y, x).numpy())
    1.0
    """
    return custom_gradient if f is None else CustomGradientFunction(f)


class CustomGradientFunction:
    """A function with a custom gradient. In a class body, it is bound like a method."""

    def __init__(self, function: Function):
        """Wrap a function that returns its result and a gradient function."""
        update_wrapper(self, function)
        self._function = function

    def __get__(self, instance: object, cls: object = None) -> CustomGradientFunction:
        """Return the method of an instance, or the function itself if it is read from the class."""
        if instance is None:
            return self
        return CustomGradientFunction(wraps(self._function)(partial(self._function, instance)))

    def __call__(self, *args: Object, **kwargs: Object) -> Structure:
        """Call the function and record the call as one row.

        Args:
            *args: The positional arguments, which have gradients.
            **kwargs: The keyword arguments, which have no gradients.

        Returns:
            The result of the function, with its values converted to tensors.

        Raises:
            TypeError: If the function reads variables and its gradient function does not accept ``variables``.
        """
        with group_rows_in_picture(getattr(self._function, "__name__", "custom")):
            if get_current_first_run() is not None:
                return hooks.write_custom_gradient_row(self._function, args, kwargs)
            return call_with_custom_gradient(self._function, args, kwargs, _record_custom_call)


def call_with_custom_gradient(
    function: Function, args: Sequence[Object], kwargs: dict[str, Object], write_row: Function
) -> Structure:
    """Call a function with a custom gradient, and record the call.

    Args:
        function: A function that returns its result and a gradient function.
        args: The positional arguments.
        kwargs: The keyword arguments, which have no gradient.
        write_row: ``write_row(call, results, inputs)`` writes the row of a ``CustomCall`` and returns its outputs.

    Returns:
        The outputs in the structure of the function's result.

    Raises:
        TypeError: If the function reads variables and its gradient function does not accept ``variables``.
    """
    with collect_trainable_variable_reads() as variables_by_id:
        result, grad_fn = function(*args, **kwargs)
    arguments = flatten(list(args))
    passed_values = [*arguments, *flatten(kwargs)]
    variables = [variable for variable in variables_by_id.values() if all(variable is not g for g in passed_values)]
    _require_variables_parameter(grad_fn, variables)
    inputs = [
        argument._read_and_watch() if hasattr(argument, "_read_and_watch") else convert_to_tensor(argument)
        for argument in [*arguments, *variables]
    ]
    results = [convert_to_tensor(leaf) for leaf in flatten(result)]
    call = CustomCall(getattr(function, "__name__", "custom"), grad_fn, variables, len(arguments))
    outputs = write_row(call, results, inputs)
    return pack_sequence_as(result, [*outputs])


def _record_custom_call(call: CustomCall, results: list[EagerTensor], inputs: Tensors) -> list[EagerTensor]:
    record = state.record
    if record is not None and all(row is None or row in record.untracked for row in map(record.find_row, inputs)):
        # No argument is watched, so gradients flow through the rows that the function itself wrote.
        return [TABLE["identity"](result) for result in results]
    outputs = [wrap_array_with_origin(result.array) for result in results]
    record_operation(CUSTOM, tuple(inputs), {"call": call}, tuple(outputs))
    return outputs


def recompute_grad(f: Function) -> Function:
    """Wrap a function so that its intermediate values are recomputed for the gradient instead of being kept.

    The wrapper does not change the gradients of the arguments and of the trainable variables that ``f`` reads. See
    https://www.tensorflow.org/api_docs/python/tf/recompute_grad.

    Args:
        f: The function. Its keyword arguments have no gradient.

    Returns:
        A function with the same arguments and result as ``f``.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.recompute_grad(lambda t: t * t)(x)
    >>> print(tape.gradient(y, x).numpy())
    6.0
    """

    @custom_gradient
    def call_without_tapes(*args: Object, **kwargs: Object) -> Structure:
        with pause_open_tapes():
            result = f(*args, **kwargs)

        def compute_gradients(*upstream: Result, variables: Sequence[ResourceVariable] = ()) -> Structure:
            with GradientTape() as tape:
                copies = [
                    TABLE["identity"](
                        argument._read_and_watch()
                        if hasattr(argument, "_read_and_watch")
                        else convert_to_tensor(argument)
                    )
                    for argument in flatten(args)
                ]
                tape.watch(copies)  # As in TensorFlow, this warns about arguments that have no gradient.
                again = f(*pack_sequence_as(args, copies), **kwargs)
            shares = tape.gradient(
                again, [*copies, *variables], output_gradients=upstream, unconnected_gradients="zero"
            )
            return (shares[: len(copies)], shares[len(copies) :]) if variables else shares

        return result, compute_gradients

    return wraps(f)(call_without_tapes)


def grad_pass_through(f: Function) -> Function:
    """Wrap a function so that its gradient is the gradient of the identity (a straight-through estimator).

    The upstream gradients are passed to the arguments unchanged. See
    https://www.tensorflow.org/api_docs/python/tf/grad_pass_through.

    Args:
        f: The function. Its result contains one tensor for each positional argument, of the same shape.

    Returns:
        A function with the same arguments and result as ``f``. The gradients of variables that ``f`` reads are None.

    >>> import minitape as tf
    >>> x = tf.Variable(1.7)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> print(y.numpy(), tape.gradient(y, x).numpy())
    2.0 1.0
    """

    @custom_gradient
    def call_function(*args: Object, **kwargs: Object) -> Structure:
        def pass_through(*upstream: Result, variables: Sequence[ResourceVariable] = ()) -> Structure:
            return (upstream, [None] * len(variables)) if variables else upstream

        return f(*args, **kwargs), pass_through

    return wraps(f)(call_function)
