"""A dense layer whose product is any einsum."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ... import tf
from .. import activations
from ..initializers import VarianceScaling
from ..layer import InputSpec
from .common import Weighted


class EinsumDense(Weighted):
    """``activation(einsum(equation, inputs, kernel) + bias)``.

    ``equation`` tells the axes of the inputs, of the kernel and of the outputs, and may begin (or end) inputs and outputs
    with "...". ``output_shape`` is that of the outputs without the batch (an int for one axis), None where the size is that
    of the inputs. ``bias_axes`` are the letters of the axes that have a bias; None means no bias. Integers become the
    dtype of the layer. Raises ValueError for an equation of another form, for an axis that is nowhere else, and for sizes
    that contradict each other.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.EinsumDense("abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de")
    >>> layer(tf.ones([7, 4, 5])).shape
    TensorShape([7, 4, 2, 3])
    >>> [tuple(w.shape) for w in layer.weights]
    [(5, 2, 3), (2, 3)]
    """

    _config = (
        "output_shape equation activation bias_axes kernel_initializer bias_initializer kernel_regularizer "
        "bias_regularizer activity_regularizer kernel_constraint bias_constraint quantization_config"
    )
    _declined = {  # noqa: RUF012
        "lora_rank": None, "lora_alpha": None, "gptq_unpacked_column_size": None, "quantization_config": None,
    }  # fmt: skip

    def __init__(
        self,
        equation: str,
        output_shape: Any,
        activation: Any = None,
        bias_axes: str | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.equation, self.bias_axes = equation, bias_axes
        self.partial_output_shape = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        self.activation, self.use_bias = activations.get(activation), bias_axes is not None
        self._set_kind("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)

    def build(self, input_shape: Any) -> None:
        """Creates ``kernel`` and ``bias``."""
        sizes = _sizes(self.equation, self.bias_axes, tuple(input_shape), self.partial_output_shape)
        self.input_spec = InputSpec(ndim=len(input_shape))
        begin = self.kernel_initializer
        if isinstance(begin, VarianceScaling) and (begin.input_axes is None or begin.output_axes is None):
            axes = {"input_axes": sizes.input_axes, "output_axes": sizes.output_axes}
            begin = begin.from_config({**begin.get_config(), "seed": begin.seed, **axes})
        self._kernel = self._weight("kernel", "kernel", sizes.kernel, begin)
        self.bias = None if sizes.bias is None else self._weight("bias", "bias", sizes.bias)

    @property
    def kernel(self) -> Any:
        """The weights; AttributeError before the layer is built."""
        if not self.built:
            raise AttributeError("You must build the layer before accessing `kernel`.")
        return self._kernel

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The product, the bias and the activation."""
        if inputs.dtype.is_integer or inputs.dtype.is_bool:
            inputs = tf.cast(inputs, self.dtype)
        out = tf.einsum(self.equation, inputs, self.kernel)
        return self._finished(out)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape that the equation gives."""
        return _sizes(self.equation, self.bias_axes, tuple(input_shape), self.partial_output_shape).output

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this."""
        from ..serial import plain

        penalty = plain(self.activity_regularizer)
        return {**super().get_config(), "output_shape": self.partial_output_shape, "activity_regularizer": penalty}


@dataclass(frozen=True)
class _Sizes:
    """The shapes of the weights and outputs; which axes of the kernel are summed over, and which stay."""

    kernel: tuple[int, ...]
    bias: tuple[int, ...] | None
    output: tuple[int | None, ...]
    input_axes: list[int]
    output_axes: list[int]


_FORMS = (  # for each: the pattern, and whether the axes that it leaves out come first
    (re.compile(r"([a-zA-Z]+),([a-zA-Z]+)->([a-zA-Z]+)"), False),
    (re.compile(r"\.\.\.([a-zA-Z]+),([a-zA-Z]+)->\.\.\.([a-zA-Z]+)"), True),
    (re.compile(r"([a-zA-Z]{2,})\.\.\.,([a-zA-Z]+)->([a-zA-Z]+)\.\.\."), False),
)


def _sizes(equation: str, bias_axes: str | None, given: tuple[Any, ...], wanted: tuple[Any, ...]) -> _Sizes:
    for pattern, before in _FORMS:
        found = pattern.match(equation)
        if found:
            return _sizes_of(found.groups(), bias_axes, given, wanted, before)
    raise ValueError(
        f"Invalid einsum equation '{equation}'. Equations must be in the form [X],[Y]->[Z], ...[X],[Y]->...[Z], or "
        "[X]...,[Y]->[Z]...."
    )


def _sizes_of(
    letters: Any, bias_axes: str | None, given: tuple[Any, ...], wanted: tuple[Any, ...], before: bool
) -> Any:
    """The shapes for inputs of a shape; the axes without letters come ``before`` the others, or after them."""
    x, kernel, y = letters
    unnamed = max(0, len(given) - len(x))
    first = unnamed if before else 0
    output = [*given[: max(1, first)], *wanted, *given[len(given) - (0 if before else unnamed) :]]
    ins, outs = ({c: sizes[first + i] for i, c in enumerate(s)} for s, sizes in ((x, given), (y, output)))
    _check(x, kernel, y, ins, outs)
    bias = None
    if bias_axes is not None:
        for c in bias_axes:
            if c not in y:
                raise ValueError(f"Bias dimension '{c}' was requested, but is not part of the output spec '{y}'")
        tail = y[min(map(y.find, bias_axes)) :]
        bias = (*(outs[c] if c in bias_axes else 1 for c in tail), *(() if before else (1,) * unnamed))
    return _Sizes(
        tuple(outs.get(c, ins.get(c)) for c in kernel), bias, tuple(output),
        [i for i, c in enumerate(kernel) if c not in outs], [i for i, c in enumerate(kernel) if c in outs],
    )  # fmt: skip


def _check(x: str, kernel: str, y: str, ins: dict[str, Any], outs: dict[str, Any]) -> None:
    """Raises ValueError for sizes that contradict each other and for axes that are in one place only."""
    for c in x:
        if c in outs and outs[c] is not None and outs[c] != ins[c]:
            raise ValueError(
                f"Input shape and output shape do not match at shared dimension '{c}'. Input shape is {ins[c]}, and "
                f"output shape is {outs[c]}."
            )
    for c in y:
        if c not in x and c not in kernel:
            raise ValueError(
                f"Dimension '{c}' was specified in the output '{y}' but has no corresponding dim in the input spec "
                f"'{x}' or weight spec '{y}'"
            )
    for c in kernel:
        if c not in outs and c not in ins:
            raise ValueError(
                f"Weight dimension '{c}' did not have a match in either the input spec '{x}' or the output spec '{y}'. "
                "For this layer, the weight must be fully specified."
            )
