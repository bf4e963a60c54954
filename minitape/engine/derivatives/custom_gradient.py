"""Derivatives of your own: ``tf.custom_gradient`` and what is made with it, ``recompute_grad`` and
``grad_pass_through``.

A custom operation is one row on the tape, like any other; its rule calls the user's Python function. While a
function is traced it is another one (:mod:`minitape.functions.traced_custom_gradient`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..backward.tape import GradientTape
from ..hooks import hooks
from ..record.interrupt_safe import ThreadContext, make_interrupt_safe
from ..record.row_parts import LEAF
from ..record.thread_state import append_to_list_or_tuple, get_current_first_run, state
from ..table.primitives import TABLE, Primitive
from ..tensor.conversion import convert_to_tensor
from ..tensor.operation import record_operation
from ..tensor.tensor import EagerTensor, Tensor, create_tensor
from ..values import nest

if TYPE_CHECKING:
    from ..table.primitives import Rule
    from ..tensor.variable import ResourceVariable
    from ..types import Adjoint, Function, Object, Result, Structure

# -- state of the thread ---------------------------------------------------------------------------


@make_interrupt_safe
def pause_open_tapes() -> Iterator[None]:
    """Run the block without any tape recording it; a function that is traced goes on."""
    with contextlib.ExitStack() as stack:
        for tape in reversed(state.tapes):
            stack.enter_context(tape.stop_recording())
        yield


def collect_trainable_variable_reads() -> contextlib.AbstractContextManager[dict[int, ResourceVariable]]:
    """Collect, by id, the trainable variables that are read in the block."""
    variables_by_id: dict[int, ResourceVariable] = {}
    return ThreadContext(variables_by_id, read_variables=(*state.read_variables, variables_by_id))


@make_interrupt_safe
def group_rows_in_picture(group_name: str) -> Iterator[None]:
    """Show the rows of the block as one part in pictures, if they are several operations."""
    record = state.record
    if record is None:
        yield
        return
    first_row, outer_scopes = record.next, record.scopes
    path = outer_scopes[-1][1] if outer_scopes else ()
    record.scopes = [*outer_scopes, (first_row, (*path, group_name))]
    try:
        yield
    finally:
        has_several = sum(record.read_integer_cells(row).op != LEAF for row in range(first_row, record.next)) > 1
        record.scopes = append_to_list_or_tuple(record.scopes, (record.next, path)) if has_several else outer_scopes


def convert_share_to_array(share: Adjoint) -> Adjoint:
    """Return the array of a share that is a tensor, for a sweep over arrays; other shares as they are."""
    return share.array if isinstance(share, EagerTensor) else share


def convert_adjoint_to_tensor(adjoint: Adjoint) -> Tensor | None:
    """Return an adjoint as the tensor that user code expects."""
    return adjoint if adjoint is None or isinstance(adjoint, Tensor) else create_tensor(adjoint)


# -- custom_gradient -------------------------------------------------------------------------------


class CustomCall:
    """One call of a function with its own gradient: the rule of its row."""

    __slots__ = ("grad_fn", "variables", "argument_count", "name", "structure")

    def __init__(
        self, name: str, grad_fn: Function, variables: list[ResourceVariable], argument_count: int, structure: Structure
    ) -> None:
        self.name, self.grad_fn, self.variables, self.argument_count, self.structure = (
            name,
            grad_fn,
            variables,
            argument_count,
            structure,
        )

    def compute_shares(self, adjoints: Sequence[Adjoint]) -> list[Adjoint]:
        """Compute the gradients of the arguments and then of the variables, as the user's function gives them."""
        if self.variables:
            input_grads, variable_grads = self.grad_fn(*adjoints, variables=self.variables)
            if len(variable_grads) != len(self.variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            input_grads, variable_grads = self.grad_fn(*adjoints), []
        flat_gradients = nest.flatten(input_grads)
        if len(flat_gradients) != self.argument_count:
            raise ValueError(
                f"custom_gradient function expected to return {self.argument_count} gradients, but returned "
                f"{len(flat_gradients)} instead."
            )
        return [_convert_user_gradient(g, adjoints[0]) for g in flat_gradients + variable_grads]


def _convert_user_gradient(g: Adjoint, upstream_gradient: Tensor) -> Adjoint:
    """Convert the result of a user's gradient function: numbers and arrays become tensors in the dtype of
    ``upstream_gradient``.
    """
    if isinstance(g, (int, float, complex, np.ndarray, np.generic)):
        return convert_to_tensor(np.asarray(g).astype(upstream_gradient.dtype.as_numpy_dtype))
    return g if g is None or isinstance(g, Tensor) else convert_to_tensor(g)


def pass_adjoints_as_list(rule: Rule) -> Rule:
    """Return a rule that gets a list of adjoints also where its call has one output."""

    @functools.wraps(rule)
    def call_with_list(g: Adjoint, z: Adjoint, *inputs: Adjoint, **attrs: object) -> Adjoint:
        return rule(list(g) if isinstance(g, (list, tuple)) else [g], z, *inputs, **attrs)

    return call_with_list


@pass_adjoints_as_list
def _apply_custom_rule(adjoints: Adjoint, z: Adjoint, *inputs: Adjoint, call: CustomCall) -> list[Adjoint]:
    is_recorded = any(isinstance(adjoint, Tensor) for adjoint in adjoints)
    shares = call.compute_shares([convert_adjoint_to_tensor(adjoint) for adjoint in adjoints])
    return shares if is_recorded else [convert_share_to_array(share) for share in shares]


CUSTOM = Primitive(
    "custom_gradient", lambda *arrays, call: arrays, _apply_custom_rule, op="IdentityN", label="custom", keep=""
)


def _check_accepts_variables(grad_fn: Function, variables: list[ResourceVariable]) -> None:
    """Raises TypeError when a function that reads variables has a gradient that does not ask for them."""
    if variables:
        spec = inspect.getfullargspec(grad_fn)
        if "variables" not in (*spec.args, *spec.kwonlyargs) and not spec.varkw:
            raise TypeError(
                "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
                f"{variables}"
            )


def custom_gradient(f: Function | None = None) -> Function:
    """Decorator: ``f(*args)`` returns a result and a function that computes the gradients of its arguments.

    ``grad_fn(*upstream)`` gets one upstream gradient for each tensor of the result (zeros for those that the target
    does not depend on) and returns one gradient (or None) for each positional argument; keyword arguments are passed
    on. If ``f`` reads variables, ``grad_fn`` must accept ``variables=`` and return
    ``(gradients of the arguments, gradients of the variables)``. Differentiable to any order, as far as ``grad_fn`` is
    made of tf operations. Raises TypeError when ``variables`` is missing, and
    ValueError for a wrong number of gradients. See https://www.tensorflow.org/api_docs/python/tf/custom_gradient.

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
    """A function with its own gradient; in a class body it binds like a method."""

    def __init__(self, function: Function) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __get__(self, instance: object, cls: object = None) -> CustomGradientFunction:
        if instance is None:
            return self
        return CustomGradientFunction(functools.wraps(self._function)(functools.partial(self._function, instance)))

    def __call__(self, *args: Object, **kwargs: Object) -> Structure:
        with group_rows_in_picture(getattr(self._function, "__name__", "custom")):
            if get_current_first_run() is not None:
                return hooks.write_custom_gradient_row(self._function, args, kwargs)
            return call_with_custom_gradient(self._function, args, kwargs, _record_custom_call)


def call_with_custom_gradient(
    function: Function, args: Sequence[Object], kwargs: dict[str, Object], write_row: Function
) -> Structure:
    """Call a function with its own gradient: ``write_row(call, results, inputs)`` writes the row, and gives its
    outputs.
    """
    with collect_trainable_variable_reads() as variables_by_id:
        result, grad_fn = function(*args, **kwargs)
    arguments = nest.flatten(list(args))
    passed_values = [*arguments, *nest.flatten(kwargs)]
    variables = [variable for variable in variables_by_id.values() if all(variable is not g for g in passed_values)]
    _check_accepts_variables(grad_fn, variables)
    inputs = [
        argument._read_state() if hasattr(argument, "_read_state") else convert_to_tensor(argument)
        for argument in [*arguments, *variables]
    ]
    result_leaves = nest.flatten(result)
    results = [convert_to_tensor(result_tensor) for result_tensor in result_leaves]
    outputs = write_row(
        CustomCall(getattr(function, "__name__", "custom"), grad_fn, variables, len(arguments), result), results, inputs
    )
    return nest.pack_sequence_as(
        result, [result_tensor for leaf, result_tensor in zip(result_leaves, outputs, strict=True)]
    )


def _record_custom_call(call: CustomCall, results: list[EagerTensor], inputs: list[Tensor]) -> list[EagerTensor]:
    record = state.record
    if record is not None and all(row is None or row in record.untracked for row in map(record.find_row, inputs)):
        return [
            TABLE["identity"](result) for result in results
        ]  # no argument is watched: the rows of the function itself count
    outputs = [create_tensor(result.array) for result in results]
    record_operation(CUSTOM, tuple(inputs), {"call": call}, tuple(outputs))
    return outputs


def recompute_grad(f: Function) -> Function:
    """``f``, but its intermediate values are computed again for the gradient instead of being kept.

    The gradients of the arguments and of the trainable variables that ``f`` reads are those of ``f``. Keyword arguments
    are passed on and get no gradient. See https://www.tensorflow.org/api_docs/python/tf/recompute_grad.

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
            shares = _recompute_gradients(f, args, kwargs, upstream, variables)
            count = len(nest.flatten(args))
            return (shares[:count], shares[count:]) if variables else shares

        return result, compute_gradients

    return functools.wraps(f)(call_without_tapes)


def _recompute_gradients(
    function: Function,
    arguments: Sequence[Object],
    kwargs: dict[str, Object],
    upstream: Sequence[Result],
    variables: Sequence[ResourceVariable],
) -> list[Result]:
    """Compute the gradients of the arguments and variables of ``function``, which runs again under its own tape."""
    with GradientTape() as tape:
        copies = [
            TABLE["identity"](
                argument._read_state() if hasattr(argument, "_read_state") else convert_to_tensor(argument)
            )
            for argument in nest.flatten(arguments)
        ]
        tape.watch(copies)  # which warns of those that have no gradient, as TensorFlow does
        result = function(*nest.pack_sequence_as(arguments, copies), **kwargs)
    return tape.gradient(
        result,
        [*copies, *variables],
        output_gradients=upstream,
        unconnected_gradients="zero",
    )


def grad_pass_through(f: Function) -> Function:
    """``f`` whose gradient is that of the identity: the upstream gradient passes through (straight-through estimator).

    See https://www.tensorflow.org/api_docs/python/tf/grad_pass_through.

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

    return functools.wraps(f)(call_function)
