"""Ragged and sparse tensors in a ``tf.function``: their values are placeholders, their structure is part of the trace.

A function that is given (or returns) composite tensors is traced once for each structure: row splits and places are
known while tracing, only the values are not. So everything that moves rows around works as it does outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nest
from ..tensor import Tensor
from .signature import call_arguments
from .spec import is_composite, key_of


def any_composite(args: Any, kwargs: Any) -> bool:
    """True when a composite value is among the arguments."""
    return any(is_composite(v) for v in nest.flatten((args, kwargs)))


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a ``tf.function`` with composite arguments (or results)."""
    values = function._bind(args, kwargs)
    leaves = nest.flatten(values)
    key = (*[_key(leaf) for leaf in leaves], str(nest.map_structure(lambda _: 0, values)))
    known = function._composites.get(key)
    function._note(known is None)
    if known is None:
        known = function._composites[key] = _Trace(function, values)
        function._tracing_count += 1
    return known([_values(v) for v in leaves])


def concrete(function: Any) -> Callable[..., Any]:
    """What ``get_concrete_function`` gives for composite arguments: traces for their structures are made when called."""

    def concrete_function(*args: Any, **kwargs: Any) -> Any:
        return call(function, args, kwargs)

    concrete_function.__name__ = getattr(function, "_name", "function")
    return concrete_function


class _Trace:
    """One trace: a function of plain tensors that puts composites together, and what its results are made of."""

    def __init__(self, function: Any, values: dict[str, Any]) -> None:
        from .function import Function

        models = [v if is_composite(v) else None if _is_input(v) else v for v in nest.flatten(values)]
        structure = nest.map_structure(lambda _: None, values)
        self._inputs = [i for i, v in enumerate(nest.flatten(values)) if _is_input(v)]
        self._result: list[Any] = []

        def plain(*flat: Any) -> Any:
            leaves = list(models)
            for i, tensor in zip(self._inputs, flat, strict=True):
                leaves[i] = _rebuilt(models[i], tensor)
            args, kwargs = call_arguments(function._parameters, nest.pack_sequence_as(structure, leaves))
            out = function._function()(*function._with_owner(args), **kwargs)
            self._result[:] = [out]
            return nest.map_structure(_values, out)

        plain.__name__ = getattr(function, "_name", "function")
        self._inner = Function(plain, None, False)

    def __call__(self, leaves: list[Any]) -> Any:
        tensors = [leaves[i] for i in self._inputs]
        out = self._inner.get_concrete_function(*tensors).call_flat(tensors)
        models = nest.flatten(self._result[0])
        values = nest.flatten(out)
        return nest.pack_sequence_as(
            self._result[0], [_rebuilt(m, v) if is_composite(m) else v for m, v in zip(models, values, strict=True)]
        )


def _is_input(value: Any) -> bool:
    return isinstance(value, Tensor) or is_composite(value)


def _values(value: Any) -> Any:
    kind = type(value).__name__
    return value.flat_values if kind == "RaggedTensor" else value.values if kind == "SparseTensor" else value


def _rebuilt(model: Any, values: Any) -> Any:
    kind = type(model).__name__
    if kind == "RaggedTensor":
        return model.with_flat_values(values)
    if kind == "SparseTensor":
        return type(model)(model.indices, values, model.dense_shape)
    return values


def _key(value: Any) -> Any:
    kind = type(value).__name__
    if kind == "RaggedTensor":
        from ..ragged.parts import all_splits

        flat = value.flat_values
        return kind, flat.dtype, tuple(flat.shape), tuple(s.tobytes() for s in all_splits(value))
    if kind == "SparseTensor":
        return kind, value.dtype, value.indices.array.tobytes(), value.dense_shape.array.tobytes()
    return key_of(value)
