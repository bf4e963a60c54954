"""Derivatives of your own: ``tf.custom_gradient`` and what is made with it, ``recompute_grad`` and
``grad_pass_through``.

A custom operation is one row on the tape, like any other; its rule calls the user's Python function. While a
function is traced it is another one (:mod:`minitape.functions.custom`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..back.tape import GradientTape
from ..hooks import hooks
from ..recording.block import ThreadContext, block
from ..recording.rows import LEAF
from ..recording.state import append_item, first_run, state
from ..table.primitives import TABLE, Primitive
from ..tensor.convert import convert_to_tensor
from ..tensor.operation import finish
from ..tensor.tensor import EagerTensor, Tensor, new_tensor
from ..values import nest

if TYPE_CHECKING:
    from ..table.primitives import Rule
    from ..tensor.variable import ResourceVariable
    from ..types import Adjoint, Function, Object, Result, Structure

# -- state of the thread ---------------------------------------------------------------------------


@block
def without_tapes() -> Iterator[None]:
    """No tape records the block; a function that is traced goes on."""
    with contextlib.ExitStack() as stack:
        for tape in reversed(state.tapes):
            stack.enter_context(tape.stop_recording())
        yield


def variables_read() -> contextlib.AbstractContextManager[dict[int, ResourceVariable]]:
    """Collects the trainable variables that are read in the block."""
    found: dict[int, ResourceVariable] = {}
    return ThreadContext(found, read_variables=(*state.read_variables, found))


@block
def one_part(name: str) -> Iterator[None]:
    """For pictures the rows of the block are one part, if they are several operations."""
    record = state.record
    if record is None:
        yield
        return
    first, before = record.next, record.scopes
    path = before[-1][1] if before else ()
    record.scopes = [*before, (first, (*path, name))]
    try:
        yield
    finally:
        several = sum(record.cell(row)[0] != LEAF for row in range(first, record.next)) > 1
        record.scopes = append_item(record.scopes, (record.next, path)) if several else before


def arrays_of(share: Adjoint) -> Adjoint:
    """Replaces tensors in what a rule returned by their arrays, for a sweep over arrays."""
    return share.array if isinstance(share, EagerTensor) else share


def as_tensor(g: Adjoint) -> Tensor | None:
    """An adjoint as the tensor that user code expects."""
    return g if g is None or isinstance(g, Tensor) else new_tensor(g)


# -- custom_gradient -------------------------------------------------------------------------------


class CustomCall:
    """One call of a function with its own gradient: the rule of its row."""

    __slots__ = ("grad_fn", "variables", "count", "name", "structure")

    def __init__(
        self, name: str, grad_fn: Function, variables: list[ResourceVariable], count: int, structure: Structure
    ) -> None:
        self.name, self.grad_fn, self.variables, self.count, self.structure = name, grad_fn, variables, count, structure

    def shares(self, gs: Sequence[Adjoint]) -> list[Adjoint]:
        """The gradients of the arguments and then of the variables, as the user's function gives them."""
        if self.variables:
            input_grads, variable_grads = self.grad_fn(*gs, variables=self.variables)
            if len(variable_grads) != len(self.variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            input_grads, variable_grads = self.grad_fn(*gs), []
        flat = nest.flatten(input_grads)
        if len(flat) != self.count:
            raise ValueError(
                f"custom_gradient function expected to return {self.count} gradients, but returned {len(flat)} instead."
            )
        return [_share(g, gs[0]) for g in flat + variable_grads]


def _share(g: Adjoint, like: Tensor) -> Adjoint:
    """The result of a user's gradient function: numbers and arrays become tensors of the upstream gradient's type."""
    if isinstance(g, (int, float, complex, np.ndarray, np.generic)):
        return convert_to_tensor(np.asarray(g).astype(like.dtype.as_numpy_dtype))
    return g if g is None or isinstance(g, Tensor) else convert_to_tensor(g)


def with_list(rule: Rule) -> Rule:
    """A rule that gets a list of adjoints also where its call has one output."""

    @functools.wraps(rule)
    def of_list(g: Adjoint, z: Adjoint, *inputs: Adjoint, **attrs: object) -> Adjoint:
        return rule(list(g) if isinstance(g, (list, tuple)) else [g], z, *inputs, **attrs)

    return of_list


@with_list
def _custom_rule(gs: Adjoint, z: Adjoint, *inputs: Adjoint, call: CustomCall) -> list[Adjoint]:
    recorded = any(isinstance(one, Tensor) for one in gs)
    shares = call.shares([as_tensor(one) for one in gs])
    return shares if recorded else [arrays_of(s) for s in shares]


CUSTOM = Primitive(
    "custom_gradient", lambda *arrays, call: arrays, _custom_rule, op="IdentityN", label="custom", keep=""
)


def _check_gradient(grad_fn: Function, variables: list[ResourceVariable]) -> None:
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
    return custom_gradient if f is None else Bind(f)


class Bind:
    """A function with its own gradient; in a class body it binds like a method."""

    def __init__(self, f: Function) -> None:
        functools.update_wrapper(self, f)
        self._f = f

    def __get__(self, instance: object, cls: object = None) -> Bind:
        if instance is None:
            return self
        return Bind(functools.wraps(self._f)(functools.partial(self._f, instance)))

    def __call__(self, *args: Object, **kwargs: Object) -> Structure:
        with one_part(getattr(self._f, "__name__", "custom")):
            if first_run() is not None:
                return hooks.custom_row(self._f, args, kwargs)
            return call_as_row(self._f, args, kwargs, _row_now)


def call_as_row(f: Function, args: Sequence[Object], kwargs: dict[str, Object], row: Function) -> Structure:
    """Calls a function with its own gradient: ``row(call, results, inputs)`` writes the row, and gives its outputs."""
    with variables_read() as read:
        result, grad_fn = f(*args, **kwargs)
    arguments = nest.flatten(list(args))
    given = [*arguments, *nest.flatten(kwargs)]
    variables = [v for v in read.values() if all(v is not g for g in given)]
    _check_gradient(grad_fn, variables)
    inputs = [a._read() if hasattr(a, "_read") else convert_to_tensor(a) for a in [*arguments, *variables]]
    models = nest.flatten(result)
    results = [convert_to_tensor(t) for t in models]
    outputs = row(
        CustomCall(getattr(f, "__name__", "custom"), grad_fn, variables, len(arguments), result), results, inputs
    )
    return nest.pack_sequence_as(result, [t for m, t in zip(models, outputs, strict=True)])


def _row_now(call: CustomCall, results: list[EagerTensor], inputs: list[Tensor]) -> list[EagerTensor]:
    record = state.record
    if record is not None and all(row is None or row in record.untracked for row in map(record.find, inputs)):
        return [TABLE["identity"](t) for t in results]  # no argument is watched: the rows of the function itself count
    outputs = [new_tensor(t.array) for t in results]
    finish(CUSTOM, tuple(inputs), {"call": call}, tuple(outputs))
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
    def run(*args: Object, **kwargs: Object) -> Structure:
        with without_tapes():
            result = f(*args, **kwargs)

        def grad(*upstream: Result, variables: Sequence[ResourceVariable] = ()) -> Structure:
            shares = _recompute(f, args, kwargs, upstream, variables)
            count = len(nest.flatten(args))
            return (shares[:count], shares[count:]) if variables else shares

        return result, grad

    return functools.wraps(f)(run)


def _recompute(
    f: Function,
    arguments: Sequence[Object],
    kwargs: dict[str, Object],
    upstream: Sequence[Result],
    variables: Sequence[ResourceVariable],
) -> list[Result]:
    """The gradients of the arguments and variables of ``f``, which runs again under a tape of its own."""
    with GradientTape() as tape:
        copies = [
            TABLE["identity"](a._read() if hasattr(a, "_read") else convert_to_tensor(a))
            for a in nest.flatten(arguments)
        ]
        tape.watch(copies)  # which warns of those that have no gradient, as TensorFlow does
        result = f(*nest.pack_sequence_as(arguments, copies), **kwargs)
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
    def run(*args: Object, **kwargs: Object) -> Structure:
        def grad(*upstream: Result, variables: Sequence[ResourceVariable] = ()) -> Structure:
            return (upstream, [None] * len(variables)) if variables else upstream

        return f(*args, **kwargs), grad

    return functools.wraps(f)(run)
