"""Derivatives of your own: ``tf.custom_gradient`` and what is made with it, ``recompute_grad`` and ``grad_pass_through``.

A custom operation is one row on the tape, like any other; its rule calls the user's Python function. Where a graph is
being built the row is put there instead (:mod:`minitape.graphs.custom`), and Python runs when the graph does.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import nest
from .above import above
from .backward import UnconnectedGradients, flat_leaf, like_flat
from .batch import Batch
from .block import Elsewhere, block
from .convert import convert_to_tensor
from .forward import follow_custom
from .operation import finish
from .primitives import Primitive
from .slices import IndexedSlices
from .state import state
from .tape import GradientTape
from .tensor import EagerTensor, Tensor, wrap

# -- state of the thread ----------------------------------------------------------------------------------------------


def no_tapes() -> contextlib.AbstractContextManager[None]:
    """Runs the block eagerly, out of sight of every tape and graph of this thread."""
    return Elsewhere(record=None, tapes=[], graph=None, by=None, _scope=())


@block
def unrecorded() -> Iterator[None]:
    """No tape records the block; where a graph is being built it goes on."""
    with contextlib.ExitStack() as stack:
        for tape in reversed(state.tapes):
            stack.enter_context(tape.stop_recording())
        yield


def variables_read() -> contextlib.AbstractContextManager[dict[int, Any]]:
    """Collects the trainable variables that are read in the block."""
    found: dict[int, Any] = {}
    return Elsewhere(found, readers=(*state.readers, found))


def plain(share: Any) -> Any:
    """What a rule returns in a sweep over arrays: the array of a tensor, slices with their arrays."""
    if isinstance(share, IndexedSlices):
        shape = share._dense_shape
        return IndexedSlices(plain(share._values), plain(share._indices), plain(shape))
    return share.array if isinstance(share, EagerTensor) else share


def as_tensor(g: Any) -> Any:
    """An adjoint as the tensor that user code expects."""
    return g if g is None or isinstance(g, Tensor) else wrap(g)


# -- custom_gradient --------------------------------------------------------------------------------------------------


class CustomCall:
    """One call of a function with its own gradient: the rule of its row."""

    __slots__ = ("grad_fn", "variables", "count", "name", "structure")

    def __init__(
        self, name: str, grad_fn: Callable[..., Any], variables: list[Any], count: int, structure: Any
    ) -> None:
        self.name, self.grad_fn, self.variables, self.count, self.structure = name, grad_fn, variables, count, structure

    def shares(self, gs: Sequence[Any]) -> list[Any]:
        """The gradients of the arguments and then of the variables, as the user's function gives them."""
        if self.structure is not None:
            gs = [like_flat(model, g) for model, g in zip(nest.flatten(self.structure), gs, strict=True)]
        if self.variables:
            input_grads, variable_grads = self.grad_fn(*gs, variables=self.variables)
            if len(variable_grads) != len(self.variables):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            input_grads, variable_grads = self.grad_fn(*gs), []
        flat = [flat_leaf(g) for g in nest.flatten(input_grads)]
        if len(flat) != self.count:
            raise ValueError(
                f"custom_gradient function expected to return {self.count} gradients, but returned {len(flat)} instead."
            )
        return [_share(g, gs[0]) for g in flat + variable_grads]


def _share(g: Any, like: Any) -> Any:
    """What a user's gradient function returns: numbers and arrays become tensors of the upstream gradient's type."""
    if isinstance(g, (int, float, complex, np.ndarray, np.generic)):
        return convert_to_tensor(np.asarray(g).astype(like.dtype.as_numpy_dtype))
    return g if g is None or isinstance(g, (Tensor, IndexedSlices)) else convert_to_tensor(g)


def for_batches(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A rule that calls user code gets the adjoints of a batch one by one."""

    @functools.wraps(rule)
    def each(g: Any, z: Any, *inputs: Any, **attrs: Any) -> Any:
        gs = list(g) if isinstance(g, (list, tuple)) else [g]
        size = next((len(one.data) for one in gs if isinstance(one, Batch)), None)
        if size is None:
            return rule(gs, z, *inputs, **attrs)
        rows = [
            rule([one.data[k] if isinstance(one, Batch) else one for one in gs], z, *inputs, **attrs)
            for k in range(size)
        ]
        return [_stack_batch(column) for column in zip(*rows, strict=True)]

    return each


def _stack_batch(shares: Any) -> Any:
    if shares[0] is None:
        return None
    return Batch(np.stack([s.dense() if isinstance(s, IndexedSlices) else s for s in shares]))


@for_batches
def _custom_rule(gs: Any, z: Any, *inputs: Any, call: CustomCall) -> list[Any]:
    recorded = any(isinstance(one, Tensor) for one in gs)
    shares = call.shares([as_tensor(one) for one in gs])
    shares = [s if s is None or isinstance(s, IndexedSlices) or s.dtype.differentiable else None for s in shares]
    return shares if recorded else [plain(s) for s in shares]


CUSTOM = Primitive(
    "custom_gradient", lambda *arrays, call: arrays, _custom_rule, op="IdentityN", label="custom", keep=""
)


def check_gradient_arguments(grad_fn: Any, variables: list[Any]) -> None:
    """Raises TypeError when a function that reads variables has a gradient that does not ask for them."""
    if not callable(grad_fn):
        raise TypeError("unsupported callable")
    if not variables:
        return
    spec = inspect.getfullargspec(grad_fn)
    if "variables" not in spec.args and "variables" not in spec.kwonlyargs and not spec.varkw:
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables: "
            f"{variables}"
        )


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorator: ``f(*args)`` returns a result and a function that computes the gradients of its arguments.

    ``grad_fn(*upstream)`` gets one upstream gradient for each tensor of the result (zeros for those that the target
    does not depend on) and returns one gradient (or None) for each positional argument; keyword arguments are passed on,
    in a graph they raise ValueError. If ``f`` reads variables, ``grad_fn`` must
    accept ``variables=`` and return ``(gradients of the arguments, gradients of the variables)``. Differentiable to any
    order, as far as ``grad_fn`` is made of tf operations. Raises TypeError when ``variables`` is missing, and
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
    if f is None:
        return custom_gradient

    return Bind(f)


class Bind:
    """A function with its own gradient; in a class body it binds like a method."""

    def __init__(self, f: Callable[..., Any], owner: tuple[Any, ...] = ()) -> None:
        functools.update_wrapper(self, f)
        self._f, self._owner = f, owner

    def __get__(self, instance: Any, cls: Any = None) -> Bind:
        if instance is None:
            return self
        return Bind(functools.wraps(self._f)(functools.partial(self._f, instance)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.graph is not None:
            refuse_keywords(kwargs)
            return above.custom_call(self._f, args)
        return _custom_eager(self._f, args, kwargs)


def refuse_keywords(kwargs: dict[str, Any]) -> None:
    """Raises ValueError where a graph is built: as in TensorFlow, keyword arguments belong to eager calls."""
    if kwargs and state.graph is not None:
        raise ValueError(
            "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled."
        )


def _custom_eager(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with variables_read() as read:
        result, grad_fn = f(*args, **kwargs)
    arguments = [flat_leaf(a) for a in nest.flatten(list(args))]
    inputs = [*arguments, *nest.flatten(kwargs)]
    variables = [v for v in read.values() if all(v is not i for i in inputs)]
    check_gradient_arguments(grad_fn, variables)
    tensors = [_input(a) for a in [*arguments, *variables]]
    if state.record is not None and not any(_hot(t) for t in tensors):  # no argument is watched: f's own rows count
        return nest.map_structure(lambda t: like_flat(t, wrap_again(convert_to_tensor(flat_leaf(t)))), result)
    models = nest.flatten(result)
    results = [convert_to_tensor(flat_leaf(t)) for t in models]
    outputs = [wrap(t.array) for t in results]
    call = CustomCall(f.__name__, grad_fn, variables, len(arguments), result)
    finish(CUSTOM, tuple(tensors), {"call": call}, tuple(outputs))
    follow_custom(results, outputs)
    return nest.pack_sequence_as(result, [like_flat(m, t) for m, t in zip(models, outputs, strict=True)])


def _hot(tensor: Any) -> bool:
    row = state.record.find(tensor)
    return row is not None and row not in state.record.cold


def _input(value: Any) -> Any:
    return value._read() if hasattr(value, "_read") else convert_to_tensor(value)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, but its intermediate values are computed again for the gradient instead of being kept.

    The gradients of the arguments and of the trainable variables that ``f`` reads are those of ``f``. Keyword arguments
    are passed on and get no gradient; in a graph they raise ValueError. See https://www.tensorflow.org/api_docs/python/tf/recompute_grad.

    >>> import minitape as tf
    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.recompute_grad(lambda t: t * t)(x)
    >>> print(tape.gradient(y, x).numpy())
    6.0
    """

    @functools.wraps(f)
    def inner(*args: Any, **kwargs: Any) -> Any:
        refuse_keywords(kwargs)

        @custom_gradient
        def recomputed(*arguments: Any) -> Any:
            with unrecorded():
                result = f(*arguments, **kwargs)

            def grad(*upstream: Any, variables: Any = None) -> Any:
                def again(*seeds: Any) -> Any:
                    return _recomputed(f, arguments, kwargs, seeds, variables), functools.partial(_no_transpose, f)

                shares = custom_gradient(again)(*upstream)
                count = len(nest.flatten(arguments))
                return (shares[:count], shares[count:]) if variables else shares

            return result, grad

        return recomputed(*args)

    return inner


def _recomputed(f: Any, arguments: Any, kwargs: dict[str, Any], seeds: Sequence[Any], variables: Any) -> list[Any]:
    """The gradients of the arguments and variables of ``f``, which runs again under a tape of its own."""
    with GradientTape() as tape:
        copies = [wrap_again(convert_to_tensor(a) if not hasattr(a, "_read") else a.value())
                  for a in nest.flatten(arguments)]  # fmt: skip
        tape.watch(copies)  # which warns of those that have no gradient, as TensorFlow does
        result = f(*nest.pack_sequence_as(arguments, copies), **kwargs)
    return tape.gradient(result, [*copies, *(variables or [])], output_gradients=list(seeds),
                         unconnected_gradients=UnconnectedGradients.ZERO)  # fmt: skip


def _no_transpose(f: Any, *upstream: Any, **options: Any) -> Any:
    """The derivative with respect to the upstream gradient: nothing was kept to compute it."""
    raise NotImplementedError(f"recompute_grad tried to transpose grad of {f.__name__}. Consider not using "
                              "recompute_grad in forward modeautodiff")  # fmt: skip


def wrap_again(tensor: Any) -> Any:
    """The same tensor as a value of its own, still connected where an outer tape records."""
    from .operation import apply
    from .primitives import TABLE

    return apply(TABLE["identity"], (tensor,), {})


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
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
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*upstream: Any, **options: Any) -> Any:
            variables = options.get("variables")
            if variables is not None:
                return upstream, [None] * len(variables)
            return upstream

        return f(*args, **kwargs), grad

    return functools.wraps(f)(lambda *args, **kwargs: passing(*args, **kwargs))
