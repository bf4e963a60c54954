"""What several kinds of layers share: the shape of the output, and the weights that most of them have."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import constraints, initializers, regularizers
from ..base import convert
from ..layer import Layer


def length(x: Any, axis: int) -> Any:
    """How long an axis is: a number, or a tensor where only a run of the graph knows it."""
    return tf.shape(x)[axis] if x.shape[axis] is None else x.shape[axis]


class SameShape(Layer):
    """A layer whose output has the shape of its input."""

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape."""
        return input_shape


class OverAxes(SameShape):
    """A layer over ``axis``, one or several, whose output has the shape of its input."""

    axis: Any
    _repeats_axis = True  # in the error, as Keras does in all of them but one

    def _axes(self) -> list[int]:
        """The axes as a list."""
        return [self.axis] if isinstance(self.axis, int) else list(self.axis)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The input's shape; ValueError for an axis that is not there."""
        for axis in self._axes():
            if not -len(input_shape) <= axis < len(input_shape):
                end = f" Received: axis={self.axis}" if self._repeats_axis else ""
                raise ValueError(f"Axis {axis} is out of bounds for input shape {tuple(input_shape)}.{end}")
        return input_shape


class Weighted(Layer):
    """A layer whose kinds of weights ("kernel", "bias") are each said by an initializer, a regularizer and a constraint."""

    def _set_kind(self, kind: str, initializer: Any, regularizer: Any, constraint: Any) -> None:
        """Takes the arguments that say what one kind of weights will be."""
        setattr(self, f"{kind}_initializer", initializers.get(initializer))
        setattr(self, f"{kind}_regularizer", regularizers.get(regularizer))
        setattr(self, f"{kind}_constraint", constraints.get(constraint))

    def _weight(self, name: str, kind: str, shape: Any, initializer: Any = None) -> Any:
        """Creates a weight of a kind; ``initializer`` takes the place of the kind's own."""
        return self.add_weight(
            shape,
            getattr(self, f"{kind}_initializer") if initializer is None else initializer,
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
            name=name,
        )

    activation: Any
    bias: Any

    def _finished(self, out: Any) -> Any:
        """The bias added and the activation applied; neither has to be there."""
        if self.bias is not None:
            out = out + self.bias
        return out if self.activation is None else self.activation(out)


class KernelAndBias(Weighted):
    """A layer that computes with a kernel, then adds a bias, then applies an activation."""

    def _add_weights(self, shape: tuple[int, ...], outputs: int | None = None) -> tuple[Any, Any]:
        """Creates a kernel of this shape and a bias for ``outputs``, by default as many as the kernel's last axis has.

        The bias is None without ``use_bias``.
        """
        kernel = self._weight("kernel", "kernel", shape)
        count = shape[-1:] if outputs is None else (outputs,)
        return kernel, self._weight("bias", "bias", count) if self.use_bias else None


class ScaleAndOffset(Weighted, OverAxes):
    """A layer that multiplies what it normalised over ``axis`` by ``gamma`` and adds ``beta``."""

    def __init__(self, center: bool, scale: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.center, self.scale = center, scale
        self.gamma = self.beta = None
        self.supports_masking = True

    def _add_weights(self, shape: tuple[int, ...]) -> None:
        """Creates ``gamma`` (with ``scale``) and ``beta`` (with ``center``)."""
        if self.scale:
            self.gamma = self._weight("gamma", "gamma", shape)
        if self.center:
            self.beta = self._weight("beta", "beta", shape)

    def _scale_and_offset(self, shape: list[Any], dtype: str) -> tuple[Any, Any]:
        """``gamma`` and ``beta`` in a shape that broadcasts and of this type; None for one that is not there."""
        scale, offset = (None if v is None else tf.reshape(convert(v, dtype), shape) for v in (self.gamma, self.beta))
        return scale, offset
