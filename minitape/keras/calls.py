"""What surrounds the functions of a layer: what its inputs have to be, the name scope of ``build``, errors of
``call``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..engine.tensor.tensor import EagerTensor, Tensor
from ..engine.values import nest
from ..engine.values.errors import OpError
from . import base
from .base import name_scope, standardize_dtype, standardize_shape
from .variable import Variable


@dataclass
class InputSpec:
    """What a layer expects of an input: its rank, or the sizes of some axes.

    ``axes`` maps axes to sizes; of a ``shape`` (None for any size) a last axis of size 1 may be missing, or there in
    addition. Inputs in a dictionary are told apart by ``name``.
    """

    ndim: int | None = None
    min_ndim: int | None = None
    axes: dict[int, int | None] = field(default_factory=dict)
    shape: tuple[int | None, ...] | None = None
    name: str | None = None


def check_inputs(spec: Any, inputs: Any, layer: str) -> None:
    """Raises ValueError when the inputs are not what a layer's ``input_spec`` (one, or a structure) expects."""
    if type(spec) is InputSpec and not nest.is_nested(inputs):
        _check_input(spec, inputs, layer, 0)
        return
    specs = nest.flatten(spec)
    names = [s.name for s in specs if s is not None]
    if isinstance(inputs, dict) and len(names) == len(specs) and all(names):
        missing = next((name for name in names if name not in inputs), None)
        if missing is not None:
            raise ValueError(
                f'Missing data for input "{missing}". You passed a data dictionary with keys {list(inputs)}. Expected '
                f"the following keys: {names}"
            )
        inputs = [inputs[name] for name in names]
    found = nest.flatten(inputs)
    if len(found) != len(specs):
        raise ValueError(
            f'Layer "{layer}" expects {len(specs)} input(s), but it received {len(found)} input tensors. Inputs '
            f"received: {found}"
        )
    for index, (x, wanted) in enumerate(zip(found, specs, strict=True)):
        if wanted is not None:
            _check_input(wanted, x, layer, index)


def _check_input(spec: InputSpec, x: Any, layer: str, index: int) -> None:
    if not hasattr(x, "shape"):
        raise ValueError(
            f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for layer '{layer}'."
        )
    shape = x._dims if type(x) is EagerTensor else standardize_shape(x.shape)
    for wrong in _unfit(spec, shape):
        raise ValueError(
            f"Input {index} with name '{spec.name}' of layer '{layer}' is incompatible with the layer: expected {wrong}"
        )


def _unfit(spec: InputSpec, shape: tuple[int | None, ...]) -> Iterator[str]:
    """What a layer expects of a shape and does not find."""
    found = len(shape)
    if spec.ndim is not None and found != spec.ndim:
        yield f"ndim={spec.ndim}, found ndim={found}. Full shape received: {shape}"
    if spec.min_ndim is not None and found < spec.min_ndim:
        yield f"min_ndim={spec.min_ndim}, found ndim={found}. Full shape received: {shape}"
    for axis, value in spec.axes.items():
        if value is not None and shape[axis] not in (value, None):
            yield f"axis {axis} of input shape to have value {value}, but received input with shape {shape}"
    if spec.shape:
        inner, wanted = (sizes[:-1] if sizes[-1:] == (1,) else sizes for sizes in (shape, spec.shape))
        if any(None not in pair and pair[0] != pair[1] for pair in zip(wanted, inner, strict=False)):
            yield f"shape={spec.shape}, found shape={inner}"


def wrapped_build(build: Callable) -> Callable[..., None]:
    """``build`` inside the layer's name scope; when the outermost one is done the layer is built."""

    @functools.wraps(build)
    def in_scope(self: Any, *args: Any, **kwargs: Any) -> None:
        if self.__dict__.get("_building"):  # the build of a base class
            build(self, *args, **kwargs)
            return
        self._building = True
        try:
            with name_scope(self.name, caller=self):
                self.path = base.current_path()
                build(self, *args, **kwargs)
        finally:
            self._building = False
        _, *shapes = inspect.signature(build).bind(self, *args, **kwargs).arguments.values()
        self._built_with(*shapes or (None,))

    return in_scope


def is_tensor(x: Any) -> bool:
    """True for what a layer computes with: tensors, variables, composites and symbolic tensors."""
    return (
        isinstance(x, (Tensor, Variable)) or hasattr(x, "_read") or hasattr(x, "_composite") or base.is_keras_tensor(x)
    )


def all_tensors(value: Any) -> bool:
    """True for a structure that holds tensors and nothing else."""
    leaves = nest.flatten(value)
    return bool(leaves) and all(is_tensor(leaf) for leaf in leaves)


def with_arguments(
    error: Exception, class_name: str, signature: inspect.Signature, args: Any, kwargs: Any
) -> Exception:
    """The error with a text that names the layer and shows its arguments; itself when it has been told already."""
    if hasattr(error, "_told"):
        return error
    bound = signature.bind(*args, **kwargs).arguments  # raises what is wrong with the call itself in Keras's words
    lines = [
        f"  • {name}={nest.map_structure(_shown, bound[name]) if name in bound else parameter.default}"
        for name, parameter in signature.parameters.items()
    ]
    message = error.message if isinstance(error, OpError) else error.args[0] if error.args else ""
    text = (
        f"Exception encountered when calling {class_name}.call().\n\n\x1b[1m{message}\x1b[0m\n\nArguments received by "
        f"{class_name}.call():\n" + "\n".join(lines)
    )
    try:
        again: Any = type(error)(None, None, text) if isinstance(error, OpError) else type(error)(text)
    except TypeError:
        again = RuntimeError(text)
    again._told = True
    return again


def _shown(value: Any) -> Any:
    if is_tensor(value) and not base.is_keras_tensor(value) and not hasattr(value, "_composite"):
        return f"tf.Tensor(shape={value.shape}, dtype={standardize_dtype(value.dtype)})"
    return repr(value)
