"""How the arguments of a ``tf.function`` become placeholders, keys and text."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from .. import nest
from ..convert import convert_to_tensor
from ..tensor import Tensor
from .given import VariableSpec
from .spec import TensorSpec, is_array, show

_EMPTY = inspect.Parameter.empty


class Signature:
    """The bound arguments of one trace: ``values`` maps names to values in which tensors are TensorSpecs."""

    def __init__(self, parameters: Any, values: dict[str, Any], name: str) -> None:
        self.parameters, self.values, self.name = parameters, values, name

    def leaves(self) -> list[tuple[str, Any]]:
        """(argument's name, leaf) for each leaf of each argument."""
        found = []
        for name, value in self.values.items():
            kind = self.parameters[name].kind if name in self.parameters else None
            if kind is inspect.Parameter.VAR_KEYWORD:
                found += [(key, leaf) for key, part in value.items() for leaf in nest.flatten(part)]
            elif kind is inspect.Parameter.VAR_POSITIONAL:
                found += [(f"{name}_{i}", leaf) for i, part in enumerate(value) for leaf in nest.flatten(part)]
            else:
                found += [(name, leaf) for leaf in nest.flatten(value)]
        return found

    def specs(self) -> Any:
        """The specs as (positional arguments, keyword arguments)."""
        named = {
            name: nest.map_structure(
                lambda v, n=name: TensorSpec(v.shape, v.dtype, n) if isinstance(v, TensorSpec) else v, value
            )
            for name, value in self.values.items()
        }
        return call_arguments(self.parameters, named)

    # -- text ---------------------------------------------------------------------------------------------------------

    def text(self, body: Any, variables: Sequence[Any], held: Sequence[int]) -> str:
        """TensorFlow's ``pretty_printed_signature``."""
        lines = ["Input Parameters:"]
        for name, value in self.values.items():
            kind = self.parameters[name].kind if name in self.parameters else inspect.Parameter.POSITIONAL_OR_KEYWORD
            if kind is inspect.Parameter.VAR_POSITIONAL:
                lines += [f"  {name}_{i} (POSITIONAL_ONLY): {show(v)}" for i, v in enumerate(value)]
            elif kind is inspect.Parameter.VAR_KEYWORD:
                lines += [f"  {key} (KEYWORD_ONLY): {show(v)}" for key, v in value.items()]
            else:
                lines.append(f"  {name} ({kind.name}): {show(value)}")
        if len(lines) == 1:
            lines.append("  None")
        lines += ["Output Type:", f"  {_output(body)}", "Captures:"]
        captures = [f"  {id(v)}: TensorSpec(shape=(), dtype=tf.resource, name=None)" for v in variables]
        captures += [f"  {row}: {show(body.graph.tensors[row])}" for row in held]
        return "\n".join([*lines, *(captures or ["  None"])])

    def short(self, body: Any) -> str:
        """The signature on one line."""
        parts = []
        for name, value in self.values.items():
            kind = self.parameters[name].kind if name in self.parameters else None
            if kind is inspect.Parameter.KEYWORD_ONLY and "*" not in parts:
                parts.append("*")
            parts.append(f"{name}: {show(value)}")
        return f"({', '.join(parts)}) -> {_output(body)}"

    # -- calls of the concrete function -------------------------------------------------------------------------------

    def flat(self, concrete: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """The tensors and variables of a call of the concrete function, after the checks that TensorFlow makes."""
        try:
            bound = inspect.Signature(list(self._traced_parameters())).bind(*args, **kwargs)
        except TypeError as error:
            if self._only_tensors_given(args, kwargs, concrete):  # the flat way
                return self._only_tensors(args, kwargs, concrete), []
            raise self._refused(str(error), args, kwargs, concrete) from None
        tensors = []
        variables: dict[int, Any] = {}
        for name, want in self.values.items():
            got = bound.arguments.get(name, want)
            tensors += self._matched(want, got, variables, args, kwargs, concrete)
        concrete.check(tensors)
        for tensor, place in zip(tensors, concrete.body.inputs, strict=True):
            if not place.shape.is_compatible_with(tensor.shape):
                if self._only_tensors_given(args, kwargs, concrete):  # which has no eye for shapes
                    return self._only_tensors(args, kwargs, concrete), []
                raise self._refused(f"Can not cast {show(tensor)} to {show(place)}", args, kwargs, concrete)
        return tensors, [variables[alias] for alias in sorted(variables)]

    def _traced_parameters(self) -> Iterator[inspect.Parameter]:
        """The parameters without the defaults that are part of the trace."""
        for name, parameter in self.parameters.items():
            yield parameter.replace(default=_EMPTY) if name in self.values else parameter

    def _matched(
        self, want: Any, got: Any, variables: dict[int, Any], args: Any, kwargs: Any, concrete: Any
    ) -> list[Any]:
        """The tensors of one argument; its variables are added to ``variables``."""
        wants, gots = nest.flatten(want), nest.flatten(got)
        if len(wants) == 1 and isinstance(want, TensorSpec):
            gots = [got]
        tensors = []
        for w, g in zip(wants, gots, strict=True):
            if isinstance(w, TensorSpec):
                if isinstance(g, TensorSpec):
                    raise self._refused("missing a required argument", args, kwargs, concrete)
                try:
                    tensors.append(g if isinstance(g, Tensor) else convert_to_tensor(g, w.dtype))
                except (TypeError, ValueError) as error:
                    raise self._refused(str(error), args, kwargs, concrete) from None
            elif isinstance(w, VariableSpec) and w.fits(g):
                variables[w.alias_id] = g
            elif hasattr(w, "_read"):
                continue
            elif w is not g and not (type(w) is type(g) and w == g):
                raise self._refused(f"Can not cast {g!r} to {show(w)}", args, kwargs, concrete)
        return tensors

    def _only_tensors_given(self, args: Any, kwargs: Any, concrete: Any) -> bool:
        names = [t.op.name for t in concrete.body.inputs]
        tensors = all(isinstance(v, Tensor) or hasattr(v, "_read") for v in (*args, *kwargs.values()))
        return tensors and len(args) + len(kwargs) == len(names) and all(k in names for k in kwargs)

    def _only_tensors(self, args: Any, kwargs: Any, concrete: Any) -> list[Any]:
        names = [t.op.name for t in concrete.body.inputs]
        given = dict(zip(names, args, strict=False)) | kwargs
        tensors = [convert_to_tensor(given[n]) for n in names]
        concrete.check(tensors)
        return tensors

    def _flat_reason(self, concrete: Any, args: Any, kwargs: Any) -> str:
        names = [t.op.name for t in concrete.body.inputs]
        flat = f"{self.name}({', '.join(names)})"
        if len(args) > len(names):
            return f"{flat} takes {len(names)} positional arguments, got {len(args)}."
        extra = [k for k in kwargs if k not in names]
        if extra:
            return f"{flat} got unexpected keyword arguments: {', '.join(extra)}."
        missing = [n for n in names[len(args) :] if n not in kwargs]
        if missing:
            return f"{flat} missing required arguments: {', '.join(missing)}."
        at, bad = next(((i, v) for i, v in enumerate(args) if not isinstance(v, Tensor)), (0, None))
        return f"{flat}: expected argument #{at}(zero-based) to be a Tensor; got {type(bad).__name__} ({bad})."

    def _refused(self, why: str, args: Any, kwargs: Any, concrete: Any) -> TypeError:
        return TypeError(
            f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and kwargs: {kwargs} for "
            f"signature: {self.short(concrete.body)}.\nFallback to flat signature also failed due to: "
            f"{self._flat_reason(concrete, args, kwargs)}"
        )


def _output(body: Any) -> str:
    flat = iter(body.flat)
    return show(nest.map_structure(lambda _: next(flat), body.result))


def text_of_parameters(parameters: Any, specs: dict[str, Any]) -> str:
    """The signature as "Binding inputs" errors show it; with an input signature, ``specs``, defaults are types too."""
    parts, star = [], False
    for p in parameters.values():
        if p.kind is inspect.Parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        text = p.name
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            text, star = "*" + text, True
        elif p.kind is inspect.Parameter.VAR_KEYWORD:
            text = "**" + text
        typed = p.name in specs or (bool(specs) and p.default is not _EMPTY)
        if typed:
            text += f": {show(specs.get(p.name, p.default))}"
        if p.default is not _EMPTY:
            text += (" = " if typed else "=") + "<captured_default_value>"
        parts.append(text)
    return f"({', '.join(parts)})"


def spread_positional(parameters: dict[str, inspect.Parameter], count: int) -> dict[str, inspect.Parameter]:
    """The parameters with one for each of the ``count`` specs of an input signature that ``*args`` takes: ``args_0``, ...

    >>> [*spread_positional(dict(inspect.signature(lambda x, *xs: x).parameters), 3)]
    ['x', 'xs_0', 'xs_1']
    """
    before = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    star = next((p for p in parameters.values() if p.kind is p.VAR_POSITIONAL), None)
    if star is None:
        return parameters
    extra = range(max(count - len(before), 0))
    found = [p.replace(default=_EMPTY) if extra else p for p in before]
    found += [inspect.Parameter(f"{star.name}_{i}", inspect.Parameter.POSITIONAL_OR_KEYWORD) for i in extra]
    found += [p for p in parameters.values() if p not in before and p is not star]
    return {p.name: p for p in found}


def as_spec(value: Any) -> Any:
    """A leaf of the arguments as it is kept in a signature: tensors and arrays as specs."""
    if isinstance(value, TensorSpec):
        return TensorSpec(value.shape, value.dtype, value.name)
    if isinstance(value, Tensor) or is_array(value):
        tensor = value if isinstance(value, Tensor) else convert_to_tensor(value)
        return TensorSpec(tensor.shape, tensor.dtype)
    return value


def call_arguments(parameters: Any, values: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values as (positional arguments, keyword arguments); one that names no parameter is positional."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, value in values.items():
        kind = parameters[name].kind if name in parameters else None
        if kind is inspect.Parameter.VAR_POSITIONAL:
            args += list(value)
        elif kind is inspect.Parameter.VAR_KEYWORD:
            kwargs.update(value)
        elif kind is inspect.Parameter.KEYWORD_ONLY:
            kwargs[name] = value
        else:
            args.append(value)
    return tuple(args), kwargs
