"""Ragged and sparse tensors in a ``tf.function``: their values are placeholders, their structure is part of the trace.

A function that is given (or returns) composite tensors is traced once for each structure: row splits and places are
known while tracing, only the values are not. So everything that moves rows around works as it does outside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine import nest
from ..engine.tensor import Tensor
from .carried import packed, parts_of, rebuilt
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
    return known(leaves)


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
            waiting = iter(flat)
            for i in self._inputs:
                leaves[i] = rebuilt(models[i], waiting, True)
            args, kwargs = call_arguments(function._parameters, nest.pack_sequence_as(structure, leaves))
            out = function._function()(*function._with_owner(args), **kwargs)
            self._result[:] = [out]
            return nest.map_structure(lambda v: parts_of(v, True), out)

        plain.__name__ = getattr(function, "_name", "function")
        self._inner = Function(plain, None, False)

    def __call__(self, leaves: list[Any]) -> Any:
        tensors = [part for i in self._inputs for part in parts_of(leaves[i], True)]
        out = self._inner.get_concrete_function(*tensors).call_flat(tensors)
        return packed(self._result[0], nest.flatten(out), None, True)


def _is_input(value: Any) -> bool:
    return isinstance(value, Tensor) or is_composite(value)


def _key(value: Any) -> Any:
    if not is_composite(value):
        return key_of(value)
    parts = parts_of(value, True)
    taken = set(map(id, parts))
    fixed = [part.array.tobytes() for part in value._components() if id(part) not in taken]
    return type(value).__name__, *[(part.dtype, str(part.shape)) for part in parts], *fixed
