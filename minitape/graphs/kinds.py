"""``tf.types.experimental``: the kinds of functions, the type of one trace, and how an argument says what its type is."""

from __future__ import annotations

import abc
import inspect
from typing import Any, Protocol, Union, runtime_checkable

import numpy as np

from ..engine.tensor import Tensor
from .concrete import ConcreteFunction
from .function import Function

PolymorphicFunction = GenericFunction = Function
TensorLike = Union[Tensor, int, float, bool, str, bytes, complex, tuple, list, np.ndarray, np.generic]  # noqa: UP007


class Callable(metaclass=abc.ABCMeta):  # noqa: B024 - its kinds are registered
    """What ``tf.function`` makes: functions, and their traces.

    >>> import minitape as tf
    >>> isinstance(tf.function(lambda x: x), tf.types.experimental.Callable)
    True
    """


Callable.register(Function)
Callable.register(ConcreteFunction)


class FunctionType(inspect.Signature):
    """The type of one trace: its parameters with their types, and the type of what it returns (``output``).

    >>> import minitape as tf
    >>> double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([], tf.float32))
    >>> print(double.function_type)
    (x: TensorSpec(shape=(), dtype=tf.float32, name=None)) -> TensorSpec(shape=(), dtype=tf.float32, name=None)
    >>> double.function_type.output
    TensorSpec(shape=(), dtype=tf.float32, name=None)
    """

    _concrete: ConcreteFunction

    @classmethod
    def of(cls, concrete: ConcreteFunction) -> FunctionType:
        """The type of a trace."""
        from ..engine import nest
        from .spec import TensorSpec

        kinds = {n: p.kind for n, p in concrete.signature.parameters.items()}
        parameters = [
            inspect.Parameter(name, kinds.get(name, inspect.Parameter.POSITIONAL_OR_KEYWORD), annotation=spec)
            for name, spec in concrete.signature.values.items()
        ]
        flat = iter(concrete.body.flat)
        result = nest.map_structure(lambda _: _spec(next(flat), TensorSpec), concrete.body.result)
        made = cls(parameters, return_annotation=result)
        made._concrete = concrete
        return made

    __slots__ = ("_concrete",)

    output = property(lambda self: self.return_annotation, doc="The type of what it returns.")

    def __str__(self) -> str:
        return self._concrete.pretty_printed_signature(False)

    def __repr__(self) -> str:
        return self._concrete.pretty_printed_signature()


def _spec(tensor: Any, kind: Any) -> Any:
    return None if tensor is None else kind(tensor.shape, tensor.dtype)


class TraceType(metaclass=abc.ABCMeta):
    """What a ``tf.function`` tells calls apart by: arguments of equal types share a trace.

    A class defines ``__eq__``, ``__hash__`` and the three methods below; its objects are what ``__tf_tracing_type__`` of an
    argument returns.

    >>> import minitape as tf
    >>> class ByName(tf.types.experimental.TraceType):
    ...     def __init__(self, it): self.it = it
    ...     def is_subtype_of(self, other): return self == other
    ...     def most_specific_common_supertype(self, others): return self
    ...     def placeholder_value(self, placeholder_context=None): return self.it
    ...     def __eq__(self, other): return isinstance(other, ByName) and self.it.name == other.it.name
    ...     def __hash__(self): return hash(self.it.name)
    >>> class Thing:
    ...     name = "thing"
    ...     def __tf_tracing_type__(self, context): return ByName(self)
    >>> @tf.function
    ... def f(thing, x):
    ...     print("tracing", thing.name)
    ...     return x + 1
    >>> f(Thing(), tf.constant(1)).numpy(), f(Thing(), tf.constant(2)).numpy()
    tracing thing
    (np.int32(2), np.int32(3))
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: TraceType) -> bool:
        """True when what has this type may stand for what has the other."""
        raise NotImplementedError

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Any) -> TraceType | None:
        """The type that covers this one and the others, or None."""
        raise NotImplementedError

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """What the function is traced with in the place of the argument."""
        raise NotImplementedError

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...

    @abc.abstractmethod
    def __hash__(self) -> int: ...


@runtime_checkable
class SupportsTracingProtocol(Protocol):
    """What has a method ``__tf_tracing_type__(context)``, which returns a :class:`TraceType`.

    >>> import minitape as tf
    >>> class Thing:
    ...     def __tf_tracing_type__(self, context): ...
    >>> isinstance(Thing(), tf.types.experimental.SupportsTracingProtocol)
    True
    """

    def __tf_tracing_type__(self, context: Any) -> TraceType: ...
