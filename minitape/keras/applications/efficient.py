"""EfficientNet: inverted residual blocks that weigh their channels, scaled in width, depth and size together."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from .. import layers
from .building import asked, divisible, documented, network, padding_for

_SCALES = {  # width, depth, size, dropout
    "B0": (1.0, 1.0, 224, 0.2), "B1": (1.0, 1.1, 240, 0.2), "B2": (1.1, 1.2, 260, 0.3), "B3": (1.2, 1.4, 300, 0.3),
    "B4": (1.4, 1.8, 380, 0.4), "B5": (1.6, 2.2, 456, 0.4), "B6": (1.8, 2.6, 528, 0.5), "B7": (2.0, 3.1, 600, 0.5),
}  # fmt: skip
_BLOCKS = (  # kernel, repeats, filters in, filters out, expansion, stride
    (3, 1, 32, 16, 1, 1), (3, 2, 16, 24, 6, 2), (5, 2, 24, 40, 6, 2), (3, 3, 40, 80, 6, 2),
    (5, 3, 80, 112, 6, 1), (5, 4, 112, 192, 6, 2), (3, 1, 192, 320, 6, 1),
)  # fmt: skip
_DROPPED = 0.2  # of the last block; the first drops nothing
_KERNEL = {"class_name": "VarianceScaling", "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}}
_CLASSES = {"class_name": "VarianceScaling", "config": {"scale": 1.0 / 3.0, "mode": "fan_out", "distribution": "uniform"}}
_SPREAD = (0.229, 0.224, 0.225)


def _conv(x: Any, filters: int, kernel: int, name: str, **options: Any) -> Any:
    return layers.Conv2D(filters, kernel, kernel_initializer=_KERNEL, name=name, **{"padding": "same", "use_bias": False, **options})(x)


def _active(x: Any, norm: str, activation: str) -> Any:
    return layers.Activation("swish", name=activation)(layers.BatchNormalization(name=norm)(x))


def _block(x: Any, kernel: int, given: int, filters: int, expansion: int, stride: int, drop: float, name: str) -> Any:
    past, wide = x, given * expansion
    if expansion != 1:
        x = _active(_conv(x, wide, 1, f"{name}expand_conv"), f"{name}expand_bn", f"{name}expand_activation")
    if stride == 2:
        x = layers.ZeroPadding2D(padding_for(x, kernel), name=f"{name}dwconv_pad")(x)
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="valid" if stride == 2 else "same", use_bias=False,
                               depthwise_initializer=_KERNEL, name=f"{name}dwconv")(x)  # fmt: skip
    x = _active(x, f"{name}bn", f"{name}activation")
    weight = layers.GlobalAveragePooling2D(name=f"{name}se_squeeze")(x)
    weight = layers.Reshape((1, 1, wide), name=f"{name}se_reshape")(weight)
    weight = _conv(weight, max(1, int(given * 0.25)), 1, f"{name}se_reduce", activation="swish", use_bias=True)
    weight = _conv(weight, wide, 1, f"{name}se_expand", activation="sigmoid", use_bias=True)
    x = layers.Multiply(name=f"{name}se_excite")([x, weight])
    x = layers.BatchNormalization(name=f"{name}project_bn")(_conv(x, filters, 1, f"{name}project_conv"))
    if stride == 1 and given == filters:
        if drop > 0:
            x = layers.Dropout(drop, noise_shape=(None, 1, 1, 1), name=f"{name}drop")(x)
        x = layers.Add(name=f"{name}add")([x, past])
    return x


def _body(width: float, depth: float, trained: bool, x: Any) -> Any:
    x = layers.Normalization(axis=3)(layers.Rescaling(1.0 / 255.0)(x))
    if trained:  # as Keras does for the weights that it loads
        x = layers.Rescaling([1.0 / math.sqrt(s) for s in _SPREAD])(x)
    x = layers.ZeroPadding2D(padding_for(x, 3), name="stem_conv_pad")(x)
    x = _conv(x, divisible(32 * width), 3, "stem_conv", strides=2, padding="valid")
    x = _active(x, "stem_bn", "stem_activation")
    counts = [math.ceil(depth * block[1]) for block in _BLOCKS]
    done = 0
    for i, (count, (kernel, _, given, filters, expansion, stride)) in enumerate(zip(counts, _BLOCKS, strict=True), 1):
        given, filters = divisible(given * width), divisible(filters * width)
        for k in range(count):
            name = f"block{i}{chr(ord('a') + k)}_"
            x = _block(x, kernel, filters if k else given, filters, expansion, 1 if k else stride, _DROPPED * done / sum(counts), name)
            done += 1
    return _active(_conv(x, divisible(1280 * width), 1, "top_conv"), "top_bn", "top_activation")


def _top(given: dict[str, Any], dropout: float, x: Any) -> Any:
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    x = layers.Dropout(dropout, name="top_dropout")(x)
    return layers.Dense(given["classes"], activation=given["classifier_activation"], kernel_initializer=_CLASSES, name="predictions")(x)


def _efficientnet(size: str) -> Callable[..., Any]:
    width, depth, pixels, dropout = _SCALES[size]

    def make(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
             pooling: str | None = None, classes: int = 1000, classifier_activation: Any = "softmax",
             name: str = f"efficientnet{size.lower()}") -> Any:  # fmt: skip
        given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        body = partial(_body, width, depth, weights == "imagenet")
        return network(body, partial(_top, given, dropout), pixels, 32, given, name)

    make.__name__ = make.__qualname__ = f"EfficientNet{size}"
    return documented(make, f"EfficientNet{size}, for images of {pixels} by {pixels} pixels with values from 0 to 255.")


(EfficientNetB0, EfficientNetB1, EfficientNetB2, EfficientNetB3,
 EfficientNetB4, EfficientNetB5, EfficientNetB6, EfficientNetB7) = map(_efficientnet, _SCALES)  # fmt: skip
