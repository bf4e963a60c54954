"""How the arguments of a ``tf.function`` become placeholders, keys and text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from inspect import Parameter
from typing import TYPE_CHECKING, Any

from ..engine.recording.state import state
from ..engine.tensor.convert import convert_to_tensor, is_array
from ..engine.tensor.tensor import Tensor
from ..engine.values import nest
from .spec import TensorSpec, show

if TYPE_CHECKING:
    from ..engine.types import Value
    from .body import GraphBody
    from .concrete import ConcreteFunction
    from .types import Arguments, Names, Variable

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

    def specs(self) -> Any:
        """The specs as (positional arguments, keyword arguments)."""

        def with_name(name: str, value: Value) -> Any:
            if name in self.parameters and self.parameters[name].kind is Parameter.VAR_KEYWORD:
                return {key: with_name(key, part) for key, part in value.items()}
            return nest.map_structure(
                lambda v: TensorSpec(v.shape, v.dtype, v.name or name) if isinstance(v, TensorSpec) else v, value
            )

        named = {name: with_name(name, value) for name, value in self.values.items()}
        return call_arguments(self.parameters, named)

    # -- text --------------------------------------------------------------------------------------

    def text(self, body: GraphBody, variables: Sequence[Variable], held: Sequence[int]) -> str:
        """TensorFlow's ``pretty_printed_signature``."""
        lines = ["Input Parameters:", *(f"  {p.name} ({p.kind.name}): {show(v)}" for p, v in self.bound_values)]
        if len(lines) == 1:
            lines.append("  None")
        lines += ["Output Type:", f"  {show(body.result)}", "Captures:"]
        captures = [f"  {id(v)}: TensorSpec(shape=(), dtype=tf.resource, name=None)" for v in variables]
        captures += [f"  {row}: {show(body.graph.tensors[row])}" for row in held]
        return "\n".join([*lines, *(captures or ["  None"])])

    def short(self, body: GraphBody) -> str:
        """The signature on one line."""
        parts, kinds = [], [p.kind for p, _ in self.bound_values]
        for at, (parameter, value) in enumerate(self.bound_values):
            if parameter.kind is _KEYWORD and _KEYWORD not in kinds[:at]:
                parts.append("*")
            parts.append(f"{parameter.name}: {show(value)}")
            if parameter.kind is _PLACED and _PLACED not in kinds[at + 1 :]:
                parts.append("/")
        return f"({', '.join(parts)}) -> {show(body.result)}"

    # -- calls of the concrete function ------------------------------------------------------------

    def flat(self, concrete: ConcreteFunction, args: Arguments, kwargs: Names) -> list:
        """The tensors of a call of the concrete function, after the checks that TensorFlow makes.

        They may be given as the traced function takes its arguments, or else flat: as tensors by their names.
        """
        try:
            tensors = self._structured(args, kwargs)
        except TypeError as error:
            why = (
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and kwargs: {kwargs} "
                f"for signature: {self.short(concrete.body)}.\nFallback to flat signature also failed due to: "
            )
            try:
                tensors = self._by_name(concrete, args, kwargs)
            except TypeError as other:
                raise TypeError(f"{why}{other}") from None
        concrete.check(tensors)
        return tensors

    def _structured(self, args: Arguments, kwargs: Names) -> list:
        parameters, wants = zip(*self.bound_values, strict=True) if self.values else ((), ())
        bound = inspect.Signature(parameters).bind(*args, **kwargs)
        return [
            tensor
            for parameter, want in zip(parameters, wants, strict=True)
            for tensor in _match(want, cast(want, bound.arguments[parameter.name]))
        ]

    def _by_name(self, concrete: ConcreteFunction, args: Arguments, kwargs: Names) -> list:
        places = {t.op.name: t for t in concrete.body.inputs}
        names = list(places)
        label = f"{self.name}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{label} takes {len(names)} positional arguments, got {len(args)}.")
        missing = sorted(n for n in names[len(args) :] if n not in kwargs)
        if missing:
            raise TypeError(f"{label} missing required arguments: {', '.join(missing)}.")
        for name in kwargs:
            if name in names[: len(args)]:
                raise TypeError(f"{label} got two values for '{name}'.")
        extra = sorted(k for k in kwargs if k not in places)
        if extra:
            raise TypeError(f"{label} got unexpected keyword arguments: {', '.join(extra)}.")
        given = [*args, *(kwargs[n] for n in names[len(args) :])]
        for at, value in enumerate(given):
            if not isinstance(value, Tensor) and not hasattr(value, "_read"):
                raise TypeError(
                    f"{label}: expected argument #{at}(zero-based) to be a Tensor; got "
                    f"{type(value).__name__} ({value})."
                )
        tensors = [convert_to_tensor(v) for v in given]
        if state.graph is not None:  # outside of graphs the kernels alone look at shapes
            for tensor, place in zip(tensors, places.values(), strict=True):
                if not place.shape.is_compatible_with(tensor.shape):
                    raise TypeError(
                        f"Tensor {tensor} is not compatible with the shape this function was traced with. Expected "
                        f"shape {place.shape}, but got shape {tensor.shape}.\n\nIf you called get_concrete_function, "
                        "you may need to pass a tf.TensorSpec(..., shape=...) with a less specific shape, having None "
                        "on axes which can vary."
                    )
        return tensors


def _match(want: Any, got: Any) -> list:
    """The tensors of one argument; TypeError where anything else is not what the trace was made for."""
    tensors = []
    for w, g in zip(nest.flatten(want), nest.flatten(got), strict=True):
        if isinstance(g, TensorSpec):
            raise TypeError("missing a required argument")
        if isinstance(w, TensorSpec):
            tensors.append(g)
        elif w is not g and not (type(w) is type(g) and w == g):
            raise TypeError(f"Can not cast {g!r} to {show(w)}")
    return tensors


def text_of_parameters(parameters: Any, specs: Names) -> str:
    """The signature as "Binding inputs" errors show it; with an input signature, ``specs``, defaults are types too."""
    parts, star = [], False
    for p in parameters.values():
        if p.kind is Parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        text = p.name
        if p.kind is Parameter.VAR_POSITIONAL:
            text, star = "*" + text, True
        elif p.kind is Parameter.VAR_KEYWORD:
            text = "**" + text
        typed = p.name in specs or (bool(specs) and p.default is not _EMPTY)
        if typed:
            kind = specs.get(p.name, p.default)
            text += f": {kind if isinstance(kind, TensorSpec) else show(kind)}"
        if p.default is not _EMPTY:
            text += (" = " if typed else "=") + "<captured_default_value>"
        parts.append(text)
    return f"({', '.join(parts)})"


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
    if isinstance(spec, dict):
        if not isinstance(value, dict):
            raise NoCast(f"Can not cast {value!r} to a Dict type.")
        if set(spec) != set(value):
            raise NoCast(f"{value} has different keys with the TraceType {show(spec)}.")
        return type(value)((k, cast(spec[k], value[k])) for k in value)
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
