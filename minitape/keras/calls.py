"""What surrounds a layer's own functions.

Name scopes of ``build``, remembered arguments of ``__init__``, errors that name the layer, and what it accepts.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

from ..engine import nest
from ..engine.errors import OpError
from ..engine.tensor import Tensor
from . import base
from .base import name_scope, standardize_dtype, standardize_shape
from .serial import Configured
from .variable import Variable


class InputSpec(Configured):
    """What a layer expects of an input: its rank, its type, or the sizes of some axes.

    ``shape`` (None for any size) sets the rank too, unless ``allow_last_axis_squeeze`` lets a last axis of size 1 be
    missing or there in addition; ``axes`` maps axes to sizes; an ``optional`` input may be None; inputs in a dictionary
    are told apart by ``name``. A layer has one as ``input_spec``, or a list of them, and is called with nothing else.
    Raises TypeError for axes that are no ints, ValueError for axes beyond the rank.

    >>> import minitape as tf
    >>> class Pairs(tf.keras.layers.Layer):
    ...     def __init__(self):
    ...         super().__init__(name="pairs")
    ...         self.input_spec = tf.keras.layers.InputSpec(ndim=2, axes={-1: 2})
    ...     def call(self, x):
    ...         return x
    >>> try:
    ...     Pairs()(tf.ones([1, 3]))
    ... except ValueError as error:
    ...     print(error)
    Input 0 with name 'None' of layer 'pairs' is incompatible with the layer: expected axis -1 of input shape to have \
    value 2, but received input with shape (1, 3)
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, int] | None = None,
        allow_last_axis_squeeze: bool = False,
        name: str | None = None,
        optional: bool = False,
    ) -> None:
        self.dtype = None if dtype is None else standardize_dtype(dtype)
        self.shape = None if shape is None else standardize_shape(shape)
        self.ndim = ndim if self.shape is None else len(self.shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.name, self.optional, self.allow_last_axis_squeeze = name, optional, allow_last_axis_squeeze
        try:
            self.axes = {int(k): v for k, v in (axes or {}).items()}
        except (AttributeError, ValueError, TypeError):
            raise TypeError(f"Argument `axes` must be a dict with integer keys. Received: axes={axes}") from None
        rank = self.ndim or self.max_ndim
        if self.axes and rank is not None and max(self.axes) >= rank:
            raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {rank - 1}")

    def __repr__(self) -> str:
        shown = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        parts = [f"{name}={getattr(self, name)}" for name in shown if getattr(self, name)]
        return f"InputSpec({', '.join(parts)})"

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another one like this.

        >>> import minitape as tf
        >>> spec = tf.keras.layers.InputSpec(ndim=2, axes={-1: 2})
        >>> spec.get_config()["ndim"], tf.keras.layers.InputSpec.from_config(spec.get_config())
        (2, InputSpec(ndim=2, axes={-1: 2}))
        """
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes", "optional")
        return {name: getattr(self, name) for name in names}


def check_inputs(spec: Any, inputs: Any, layer: str) -> None:
    """Raises ValueError when the inputs are not what a layer's ``input_spec`` (one, or a structure) expects."""
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
        if wanted is not None and not (x is None and wanted.optional):
            _check_input(wanted, x, layer, index)


def _check_input(spec: InputSpec, x: Any, layer: str, index: int) -> None:
    if not hasattr(x, "shape"):
        raise ValueError(
            f"Inputs to a layer should be tensors. Got '{x}' (of type {type(x)}) as input for layer '{layer}'."
        )
    shape = standardize_shape(x.shape)
    found = len(shape)
    start = f"Input {index} with name '{spec.name}' of layer '{layer}' is incompatible with the layer: expected "
    if spec.ndim is not None and not spec.allow_last_axis_squeeze and found != spec.ndim:
        raise ValueError(f"{start}ndim={spec.ndim}, found ndim={found}. Full shape received: {shape}")
    if spec.max_ndim is not None and found > spec.max_ndim:
        raise ValueError(f"{start}max_ndim={spec.max_ndim}, found ndim={found}")
    if spec.min_ndim is not None and found < spec.min_ndim:
        raise ValueError(f"{start}min_ndim={spec.min_ndim}, found ndim={found}. Full shape received: {shape}")
    if spec.dtype is not None and standardize_dtype(x.dtype) != spec.dtype:
        raise ValueError(f"{start}dtype={spec.dtype}, found dtype={standardize_dtype(x.dtype)}")
    for axis, value in spec.axes.items():
        if value is not None and shape[axis] not in (value, None):
            raise ValueError(
                f"{start}axis {axis} of input shape to have value {value}, but received input with shape {shape}"
            )
    wanted = spec.shape or ()
    if spec.allow_last_axis_squeeze:
        shape, wanted = (sizes[:-1] if sizes[-1:] == (1,) else sizes for sizes in (shape, wanted))
    if any(None not in pair and pair[0] != pair[1] for pair in zip(wanted, shape, strict=False)):
        raise ValueError(f"{start}shape={spec.shape}, found shape={shape}")


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
        _, *shapes = inspect.signature(build).bind(self, *args, **kwargs).arguments.values()
        self._built_with(*shapes or (None,))
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
        isinstance(x, (Tensor, Variable)) or hasattr(x, "_read") or hasattr(x, "_composite") or base.is_keras_tensor(x)
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
    told._told = True
    return told


def _shown(value: Any) -> Any:
    if is_tensor(value) and not base.is_keras_tensor(value) and not hasattr(value, "_composite"):
        return f"tf.Tensor(shape={value.shape}, dtype={standardize_dtype(value.dtype)})"
    return repr(value)
