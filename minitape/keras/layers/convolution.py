"""Convolution over images and sequences."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import activations
from ..base import standardize_data_format
from ..layer import InputSpec
from .common import KernelAndBias


def sizes(value: Any, name: str, count: int, least: int = 1) -> tuple[int, ...]:
    """An int or a sequence of ``count`` ints as a tuple; ValueError for another one, and unless all are ``least`` or more."""
    text = f"The `{name}` argument must be a tuple of {count} integers. Received {name}={value}"
    found = (value,) * count if isinstance(value, int) else tuple(value) if hasattr(value, "__iter__") else ()
    if len(found) != count:
        raise ValueError(text)
    for v in found:
        try:
            int(v)
        except (TypeError, ValueError):
            raise ValueError(f"{text}including element {v} of type {type(v)}") from None
    bad = {v for v in found if v < least}
    if bad:
        sign = ">=" if least == 0 else ">"
        raise ValueError(f"{text}, including values {bad} that do not satisfy `value {sign} 0`")
    return found


def set_windows(layer: Any, kernel_size: Any, strides: Any, dilation_rate: Any) -> None:
    """Takes a layer's arguments that say how large its windows are, and how far apart."""
    layer.kernel_size = sizes(kernel_size, "kernel_size", layer._rank)
    layer.strides = sizes(strides, "strides", layer._rank)
    layer.dilation_rate = sizes(dilation_rate, "dilation_rate", layer._rank)


def padding_word(value: Any, allowed: tuple[str, ...] = ("valid", "same")) -> str:
    """The word for a padding in small letters; ValueError for one that is not allowed."""
    word = str(value).lower()
    if word not in allowed:
        words = ", ".join(map(repr, allowed))
        raise ValueError(f"The `padding` argument must be a list/tuple or one of {{{words}}}. Received: {word}")
    return word


def check_filters(filters: Any) -> None:
    """ValueError unless there is at least one filter."""
    if filters is None or filters <= 0:
        raise ValueError(
            f"Invalid value for argument `filters`. Expected a strictly positive value. Received filters={filters}."
        )


def check_steps(strides: tuple[int, ...], dilation_rate: tuple[int, ...]) -> None:
    """ValueError for strides together with a dilation."""
    if max(strides) > 1 and max(dilation_rate) > 1:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
            f"strides={strides} and dilation_rate={dilation_rate}"
        )


def channels_last(layer: Any, data_format: Any) -> str:
    """The data format, for a layer that has "channels_last" only; ValueError for "channels_first"."""
    found = standardize_data_format(data_format)
    if found != "channels_last":
        raise ValueError(f"minitape's {type(layer).__name__} supports data_format='channels_last' only. Received: "
                         f"data_format={data_format}")  # fmt: skip
    return found


def windows(n: int | None, size: int, step: int, padding: str, rate: int = 1) -> int | None:
    """How many windows of a size stand on an axis of length ``n``, 0 or less where none fits; None of an unknown length."""
    if n is None:
        return None
    return (n - (rate * (size - 1) if padding == "valid" else 0) - 1) // step + 1


def convolved_shape(layer: Any, input_shape: Any, filters: int) -> tuple[Any, ...]:
    """The shape of a convolution's outputs; ValueError when the kernel does not fit into the input."""
    shape, kernel = tuple(input_shape), (*layer.kernel_size, input_shape[-1], filters)
    if len(kernel) != len(shape):
        raise ValueError(
            f"Kernel shape must have the same length as input, but received kernel of shape {kernel} and input of "
            f"shape {shape}."
        )
    steps = zip(shape[1:-1], layer.kernel_size, layer.strides, layer.dilation_rate, strict=True)
    found = [windows(n, size, step, layer.padding, rate) for n, size, step, rate in steps]
    if any(n is not None and n <= 0 for n in found):
        rates = " ".join(map(str, layer.dilation_rate))
        raise ValueError(f"Computed output size would be zero or negative. Received `inputs shape={shape}`, "
                         f"`kernel shape={kernel}`, `dilation_rate=[{rates}]`, `strides={layer.strides}`, "
                         f"`padding={layer.padding}`.")  # fmt: skip
    return (shape[0], *found, filters)


class Conv2D(KernelAndBias):
    """Slides ``filters`` kernels over the two middle axes of (batch, height, width, channels).

    ``padding`` is "valid" or "same". Only data_format "channels_last" and groups 1 are supported; another value raises
    ValueError, as do strides together with a dilation and a kernel that does not fit into the input.

    >>> import minitape as tf
    >>> tf.keras.layers.Conv2D(4, 3, padding="same")(tf.ones([1, 5, 5, 2])).shape
    TensorShape([1, 5, 5, 4])
    """

    _config = (
        "filters kernel_size strides padding data_format dilation_rate groups activation use_bias "
        "kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer "
        "kernel_constraint bias_constraint"
    )
    _declined = {"lora_rank": None, "lora_alpha": None}  # noqa: RUF012

    _paddings: tuple[str, ...] = ("valid", "same")
    _rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.data_format = standardize_data_format(data_format)
        if self.data_format != "channels_last" or groups != 1:
            raise ValueError(
                f"minitape's {type(self).__name__} supports data_format='channels_last' and groups=1 only. Received: "
                f"data_format={data_format}, groups={groups}"
            )
        check_filters(filters)
        self.filters, self.padding = filters, padding_word(padding, self._paddings)
        self.groups = groups
        set_windows(self, kernel_size, strides, dilation_rate)
        check_steps(self.strides, self.dilation_rate)
        self.activation, self.use_bias = activations.get(activation), use_bias
        self._set_kind("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)
        self.input_spec = InputSpec(min_ndim=self._rank + 2)

    def build(self, input_shape: Any) -> None:
        """Creates ``kernel`` and ``bias``."""
        channels = input_shape[-1]
        self.input_spec = InputSpec(min_ndim=self._rank + 2, axes={-1: channels})
        self.compute_output_shape(input_shape)
        self.kernel, self.bias = self._add_weights((*self.kernel_size, channels, self.filters))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The sizes that are left; ValueError when the kernel does not fit into the input."""
        return convolved_shape(self, input_shape, self.filters)

    def call(self, inputs: Any) -> Any:
        """The convolution, the bias and the activation."""
        return self._finished(self._convolved(inputs, self.padding))

    def _convolved(self, inputs: Any, padding: str) -> Any:
        return tf.nn.convolution(
            inputs, self.kernel, list(self.strides), padding.upper(), dilations=list(self.dilation_rate)
        )


class Conv1D(Conv2D):
    """Slides ``filters`` kernels over the middle axis of (batch, steps, channels).

    ``padding`` is "valid", "same" or "causal" (a step sees none behind it). The other arguments are those of ``Conv2D``.

    >>> import minitape as tf
    >>> tf.keras.layers.Conv1D(4, 3, padding="causal")(tf.ones([1, 5, 2])).shape
    TensorShape([1, 5, 4])
    """

    _paddings = ("valid", "same", "causal")
    _rank = 1

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: Any = None,
        dilation_rate: Any = 1,
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, groups, activation, use_bias, **kwargs
        )

    def _convolved(self, inputs: Any, padding: str) -> Any:
        if padding == "causal":
            inputs = tf.pad(inputs, [[0, 0], [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0], [0, 0]])
            padding = "valid"
        return super()._convolved(inputs, padding)


Convolution1D, Convolution2D = Conv1D, Conv2D
