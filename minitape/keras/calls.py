"""What surrounds a layer's own functions.

Name scopes of ``build``, remembered arguments of ``__init__``, errors that name the layer, and what it accepts.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

from .. import nest
from ..errors import OpError
from ..tensor import Tensor
from . import base
from .base import name_scope, standardize_dtype, standardize_shape
from .variable import Variable


class InputSpec:
    """What a layer expects of an input: its rank, type, or the sizes of some axes."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else standardize_dtype(dtype)
        self.shape = None if shape is None else standardize_shape(shape)
        self.ndim = ndim if shape is None else len(self.shape or ())
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(k): v for k, v in (axes or {}).items()}

    def __repr__(self) -> str:
        parts = [f"{name}={value}" for name, value in vars(self).items() if value]
        return f"InputSpec({', '.join(parts)})"

    def check(self, x: Any, layer: str, index: int = 0) -> None:
        """Raises ValueError when ``x`` is not what the layer expects."""
        if not hasattr(x, "shape"):
            raise ValueError(
                f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for layer '{layer}'."
            )
        shape = standardize_shape(x.shape)
        found = len(shape)
        start = f"Input {index} with name 'None' of layer '{layer}' is incompatible with the layer: expected "
        if self.ndim is not None and found != self.ndim:
            raise ValueError(f"{start}ndim={self.ndim}, found ndim={found}. Full shape received: {shape}")
        if self.max_ndim is not None and found > self.max_ndim:
            raise ValueError(f"{start}max_ndim={self.max_ndim}, found ndim={found}")
        if self.min_ndim is not None and found < self.min_ndim:
            raise ValueError(f"{start}min_ndim={self.min_ndim}, found ndim={found}. Full shape received: {shape}")
        if self.dtype is not None and standardize_dtype(x.dtype) != self.dtype:
            raise ValueError(f"{start}dtype={self.dtype}, found dtype={standardize_dtype(x.dtype)}")
        for axis, value in self.axes.items():
            if value is not None and shape[axis] not in (value, None):
                raise ValueError(
                    f"{start}axis {axis} of input shape to have value {value}, but received input with shape {shape}"
                )
        for expected, size in zip(self.shape or (), shape, strict=False):
            if expected is not None and size is not None and expected != size:
                raise ValueError(f"{start}shape={self.shape}, found shape={shape}")


def wrapped_build(build: Any) -> Any:
    """``build`` inside the layer's name scope; when the outermost one is done the layer is built."""

    @functools.wraps(build)
    def in_scope(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.__dict__.get("_building"):
            return build(self, *args, **kwargs)
        object.__setattr__(self, "_building", True)
        try:
            with name_scope(self.name, caller=self):
                self._path = base.current_path()
                build(self, *args, **kwargs)
        finally:
            object.__setattr__(self, "_building", False)
        shapes = inspect.signature(build).bind(self, *args, **kwargs).arguments
        self._built_with(next((v for name, v in shapes.items() if name != "self"), None))
        return None

    return in_scope


def remembered_init(init: Any) -> Any:
    """``__init__`` whose arguments are kept for ``get_config``."""

    @functools.wraps(init)
    def remembering(self: Any, *args: Any, **kwargs: Any) -> None:
        if "_init_arguments" not in self.__dict__:
            try:
                bound = inspect.signature(init).bind(self, *args, **kwargs)
                bound.apply_defaults()
                found = dict(list(bound.arguments.items())[1:])
                rest = [p.name for p in inspect.signature(init).parameters.values() if p.kind is p.VAR_KEYWORD]
                extra = found.pop(rest[0], {}) if rest else {}
                object.__setattr__(self, "_init_arguments", {**found, **extra})
            except TypeError:
                pass
        init(self, *args, **kwargs)

    return remembering


def once(variables: Iterator[Variable]) -> list[Variable]:
    """Each variable once, in the order in which they come."""
    found: dict[int, Variable] = {}
    for variable in variables:
        found.setdefault(id(variable), variable)
    return list(found.values())


def is_tensor(x: Any) -> bool:
    """True for what a layer computes with: tensors, variables, composites and symbolic tensors."""
    return (
        isinstance(x, (Tensor, Variable))
        or hasattr(x, "_read")
        or hasattr(x, "_composite")
        or base.is_keras_tensor(x)
    )


def all_tensors(value: Any) -> bool:
    """True for a structure that holds tensors and nothing else."""
    leaves = nest.flatten(value)
    return bool(leaves) and all(is_tensor(leaf) for leaf in leaves)


def shapes_of(value: Any) -> Any:
    """The shapes of a structure of tensors."""
    return nest.map_structure(lambda x: standardize_shape(x.shape), value)


def with_arguments(error: Exception, class_name: str, signature: Any, args: Any, kwargs: Any) -> Exception:
    """The error with a text that names the layer and shows its arguments; itself when it has been told already."""
    if hasattr(error, "_told"):
        return error
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return error
    lines = []
    for parameter in signature.parameters.values():
        value = nest.map_structure(_shown, bound[parameter.name]) if parameter.name in bound else parameter.default
        lines.append(f"  • {parameter.name}={value}")
    if not lines:
        return error
    message = error.message if isinstance(error, OpError) else (error.args[0] if error.args else "")
    text = (
        f"Exception encountered when calling {class_name}.call().\n\n\x1b[1m{message}\x1b[0m\n\nArguments received by "
        f"{class_name}.call():\n" + "\n".join(lines)
    )
    try:
        told = type(error)(None, None, text) if isinstance(error, OpError) else type(error)(text)
    except TypeError:
        told = RuntimeError(text)
    told._told = True  # type: ignore[attr-defined]
    return told


def _shown(value: Any) -> Any:
    if is_tensor(value) and not base.is_keras_tensor(value) and not hasattr(value, "_composite"):
        return f"tf.Tensor(shape={value.shape}, dtype={standardize_dtype(value.dtype)})"
    return repr(value)
