"""MobileNet: depthwise convolutions; and its second version, of inverted residual blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

from .. import layers
from .building import asked, classifier, divisible, documented, network, padding_for

_FIRST = (64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024)  # filters of each block
_STRIDED = (2, 4, 6, 12)  # the blocks that halve the size
_SECOND = (  # filters, stride, expansion of each block
    (16, 1, 1), (24, 2, 6), (24, 1, 6), *[(32, s, 6) for s in (2, 1, 1)], *[(64, s, 6) for s in (2, 1, 1, 1)],
    *[(96, 1, 6)] * 3, *[(160, s, 6) for s in (2, 1, 1)], (320, 1, 6),
)  # fmt: skip


def _body(alpha: float, multiplier: int, x: Any) -> Any:
    x = layers.Conv2D(int(32 * alpha), 3, padding="same", use_bias=False, strides=2, name="conv1")(x)
    x = layers.ReLU(6.0, name="conv1_relu")(layers.BatchNormalization(name="conv1_bn")(x))
    for k, filters in enumerate(_FIRST, 1):
        strided = k in _STRIDED
        if strided:
            x = layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{k}")(x)
        x = layers.DepthwiseConv2D(3, padding="valid" if strided else "same", depth_multiplier=multiplier, strides=2 if strided else 1,
                                   use_bias=False, name=f"conv_dw_{k}")(x)  # fmt: skip
        x = layers.ReLU(6.0, name=f"conv_dw_{k}_relu")(layers.BatchNormalization(name=f"conv_dw_{k}_bn")(x))
        x = layers.Conv2D(int(filters * alpha), 1, padding="same", use_bias=False, strides=1, name=f"conv_pw_{k}")(x)
        x = layers.ReLU(6.0, name=f"conv_pw_{k}_relu")(layers.BatchNormalization(name=f"conv_pw_{k}_bn")(x))
    return x


def _top(given: dict[str, Any], x: Any) -> Any:
    x = layers.GlobalAveragePooling2D(keepdims=True)(x)
    x = layers.Dropout(given["dropout"], name="dropout")(x)
    x = layers.Conv2D(given["classes"], 1, padding="same", name="conv_preds")(x)
    x = layers.Reshape((given["classes"],), name="reshape_2")(x)
    return layers.Activation(given["classifier_activation"], name="predictions")(x)


def _norm(x: Any, name: str) -> Any:
    return layers.BatchNormalization(epsilon=1e-3, momentum=0.999, name=name)(x)


def _body_v2(alpha: float, x: Any) -> Any:
    x = layers.Conv2D(divisible(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="Conv1")(x)
    x = layers.ReLU(6.0, name="Conv1_relu")(_norm(x, "bn_Conv1"))
    for k, (filters, stride, expansion) in enumerate(_SECOND):
        x = _inverted(x, divisible(int(filters * alpha)), stride, expansion, f"block_{k}_" if k else "expanded_conv_")
    x = layers.Conv2D(divisible(1280 * alpha) if alpha > 1.0 else 1280, 1, use_bias=False, name="Conv_1")(x)
    return layers.ReLU(6.0, name="out_relu")(_norm(x, "Conv_1_bn"))


def _inverted(x: Any, filters: int, stride: int, expansion: int, name: str) -> Any:
    past, given = x, x.shape[-1]
    if expansion != 1:
        x = layers.Conv2D(expansion * given, 1, padding="same", use_bias=False, name=f"{name}expand")(x)
        x = layers.ReLU(6.0, name=f"{name}expand_relu")(_norm(x, f"{name}expand_BN"))
    if stride == 2:
        x = layers.ZeroPadding2D(padding_for(x, 3), name=f"{name}pad")(x)
    x = layers.DepthwiseConv2D(3, strides=stride, use_bias=False, padding="same" if stride == 1 else "valid", name=f"{name}depthwise")(x)
    x = layers.ReLU(6.0, name=f"{name}depthwise_relu")(_norm(x, f"{name}depthwise_BN"))
    x = _norm(layers.Conv2D(filters, 1, padding="same", use_bias=False, name=f"{name}project")(x), f"{name}project_BN")
    return layers.Add(name=f"{name}add")([past, x]) if given == filters and stride == 1 else x


def _size(input_shape: Any, tensor: Any) -> int:
    """The usual size, or that of the images that are given, where it is one of five."""
    shape = input_shape or (None if tensor is None else tensor.shape[1:])
    square = shape and shape[0] == shape[1] and shape[0] in (96, 128, 160, 192, 224)
    return shape[0] if square else 224


def MobileNet(input_shape: Any = None, alpha: float = 1.0, depth_multiplier: int = 1, dropout: float = 1e-3, include_top: bool = True,
              weights: Any = "imagenet", input_tensor: Any = None, pooling: str | None = None, classes: int = 1000,
              classifier_activation: Any = "softmax", name: str | None = None) -> Any:  # fmt: skip
    given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    body, given["dropout"] = partial(_body, alpha, depth_multiplier), dropout
    called = name or (lambda rows: f"mobilenet_{alpha:0.2f}_{rows or (224 if weights == 'imagenet' else None)}")
    return network(body, partial(_top, given), _size(input_shape, None), 32, given, called, pool=False)


def MobileNetV2(input_shape: Any = None, alpha: float = 1.0, include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None,
                pooling: str | None = None, classes: int = 1000, classifier_activation: Any = "softmax",
                name: str | None = None) -> Any:  # fmt: skip
    given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    called = name or (lambda rows: f"mobilenetv2_{alpha:0.2f}_{rows or (224 if weights == 'imagenet' else None)}")
    return network(partial(_body_v2, alpha), classifier(given, None), _size(input_shape, input_tensor), 32, given, called, pool=False)


documented(MobileNet, "MobileNet: depthwise convolutions, each before one of 1 by 1.")
documented(MobileNetV2, "MobileNetV2: inverted residual blocks, narrow between and wide inside.")
