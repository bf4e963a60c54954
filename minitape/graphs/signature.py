"""How the arguments of a ``tf.function`` become placeholders, keys and text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from .spec import TensorSpec

if TYPE_CHECKING:
    from ..engine.types import Value
    from .types import Names

_EMPTY = Parameter.empty
_NAMED, _PLACED = Parameter.POSITIONAL_OR_KEYWORD, Parameter.POSITIONAL_ONLY
_KEYWORD = Parameter.KEYWORD_ONLY


class Signature:
    """The bound arguments of one trace: ``values`` maps names to values in which tensors are TensorSpecs."""

    def __init__(self, parameters: Any, values: Names, name: str) -> None:
        self.parameters, self.values, self.name = parameters, values, name

    @property
    def bound_values(self) -> Iterator[tuple[Parameter, Any]]:
        """Yields (parameter, value) for each argument of the trace; each item of ``*args`` and ``**kwargs`` is one."""
        spread = any(p.kind is p.VAR_POSITIONAL for p in self.parameters.values())
        for name, value in self.values.items():
            kind = self.parameters[name].kind if name in self.parameters else _NAMED
            if kind is Parameter.VAR_KEYWORD:
                yield from ((Parameter(re.sub(r"\W", "_", k), _KEYWORD), part) for k, part in value.items())
            elif kind is Parameter.VAR_POSITIONAL:
                yield from ((Parameter(f"{name}_{i}", _PLACED), part) for i, part in enumerate(value))
            else:
                yield Parameter(name, _PLACED if spread and kind is _NAMED else kind), value

    def leaves(self) -> list[tuple[str, Any]]:
        """(argument's name, leaf) for each leaf of each argument."""
        return [(p.name, leaf) for p, value in self.bound_values for leaf in nest.flatten(value)]


    # -- text --------------------------------------------------------------------------------------



    # -- calls of the concrete function ------------------------------------------------------------









def spread_positional(parameters: dict[str, Parameter], count: int) -> dict[str, Parameter]:
    """The parameters with one for each of the ``count`` specs of an input signature that ``*args`` takes: ``args_0``,
    ...

    >>> [*spread_positional(dict(inspect.signature(lambda x, *xs: x).parameters), 3)]
    ['x', 'xs_0', 'xs_1']
    """
    before = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    star = next((p for p in parameters.values() if p.kind is p.VAR_POSITIONAL), None)
    if star is None:
        return parameters
    extra = range(max(count - len(before), 0))
    found = [p.replace(default=_EMPTY) if extra else p for p in before]
    found += [Parameter(f"{star.name}_{i}", Parameter.POSITIONAL_OR_KEYWORD) for i in extra]
    found += [p for p in parameters.values() if p not in before and p is not star]
    return {p.name: p for p in found}


def as_spec(value: Value) -> Any:
    """A leaf of the arguments as it is kept in a signature: tensors and arrays as specs."""
    if isinstance(value, TensorSpec):
        return TensorSpec(value.shape, value.dtype, value.name)
    if isinstance(value, Tensor) or is_array(value):
        tensor = value if isinstance(value, Tensor) else convert_to_tensor(value)
        return TensorSpec(tensor.shape, tensor.dtype)
    return value


def call_arguments(parameters: Any, values: Names) -> tuple[tuple, Names]:
    """The values as (positional arguments, keyword arguments); one that names no parameter is positional."""
    args: list = []
    kwargs: Names = {}
    for name, value in values.items():
        kind = parameters[name].kind if name in parameters else None
        if kind is Parameter.VAR_POSITIONAL:
            args += list(value)
        elif kind is Parameter.VAR_KEYWORD:
            kwargs.update(value)
        elif kind is Parameter.KEYWORD_ONLY:
            kwargs[name] = value
        else:
            args.append(value)
    return tuple(args), kwargs


# tensors with rows or places, their types
_ROWS = ("RaggedTensor", "SparseTensor", "RaggedTensorSpec", "SparseTensorSpec")


class NoCast(TypeError):
    """Why an argument does not fit its part of the input signature."""


def cast(spec: Any, value: Value) -> Any:
    """An argument as its part of the input signature wants it; NoCast says why it does not fit."""
    if isinstance(spec, (list, tuple)):
        kind = list if isinstance(spec, list) else tuple
        if not isinstance(value, kind):
            raise NoCast(f"Can not cast {value!r} to {kind.__name__} type.")
        if len(spec) != len(value):
            raise NoCast(f"Expected {value} to have length of {len(spec)}")
        parts = [cast(s, v) for s, v in zip(spec, value, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else kind(parts)
    try:
        return _cast_leaf(spec, value)
    except NoCast:
        raise
    except (ValueError, TypeError) as error:
        raise NoCast(str(error)) from error


def _cast_leaf(spec: Any, value: Value) -> Any:
    if not isinstance(spec, TensorSpec):
        return value
    if isinstance(value, TensorSpec):
        if not value.is_subtype_of(spec):
            raise NoCast(f"Can not cast {value!r} to {spec}")
        return value
    tensor = value
    if is_array(value) and value.dtype.kind in "SU" and spec.dtype.kind != "s":
        tensor = convert_to_tensor(value.astype(spec.dtype.as_numpy_dtype))  # which NumPy refuses in its own words
    elif not isinstance(value, Tensor):
        tensor = convert_to_tensor(value, spec.dtype)
    if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
        raise NoCast(f"Can not cast {TensorSpec(tensor.shape, tensor.dtype, spec.name)} to {spec}")
    return tensor


def with_tensors(values: Names) -> Names:
    """The arguments with NumPy values and variables of Keras turned into tensors."""
    for name, value in values.items():
        if isinstance(value, Tensor):
            continue
        if isinstance(value, (list, tuple, dict)):
            values[name] = nest.map_structure(_as_argument, value)
        else:
            values[name] = _as_argument(value)
    return values


def _as_argument(value: Value) -> Any:
    if is_array(value):
        return convert_to_tensor(value)
    if type(value).__name__ in _ROWS:
        raise TypeError(
            f"In minitape a tf.function takes no {type(value).__name__}: give it the tensors of which that is made."
        )
    of_keras = hasattr(value, "_read") and hasattr(value, "_gradient_leaf")
    return value._to_tensor() if of_keras else value  # TensorFlow knows its own variables only
