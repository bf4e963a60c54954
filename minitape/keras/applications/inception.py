"""InceptionV3: filters of several sizes side by side; and Xception, where these are separable convolutions."""

from __future__ import annotations

from typing import Any

from .. import layers
from .building import asked, classifier, documented, network

Step = tuple[Any, ...]  # of a branch: (filters, rows, columns), with a stride behind them where it is 2

_TALL = {"strides": 2, "padding": "valid"}


def _conv(x: Any, filters: int, rows: int, columns: int, strides: int = 1, padding: str = "same") -> Any:
    x = layers.Conv2D(filters, (rows, columns), strides=strides, padding=padding, use_bias=False)(x)
    return layers.Activation("relu")(layers.BatchNormalization(scale=False)(x))


def _branch(x: Any, *steps: Step) -> Any:
    for filters, rows, columns, *stride in steps:
        x = _conv(x, filters, rows, columns, **(_TALL if stride else {}))
    return x


def _average(x: Any, filters: int) -> Any:
    return _conv(layers.AveragePooling2D(3, strides=1, padding="same")(x), filters, 1, 1)


def _joined(parts: list[Any], name: str | None = None) -> Any:
    return layers.Concatenate(axis=3, name=name)(parts)


def _inception(x: Any) -> Any:
    x = _conv(x, 32, 3, 3, strides=2, padding="valid")
    x = _conv(_conv(x, 32, 3, 3, padding="valid"), 64, 3, 3)
    x = layers.MaxPooling2D(3, strides=2)(x)
    x = _conv(_conv(x, 80, 1, 1, padding="valid"), 192, 3, 3, padding="valid")
    x = layers.MaxPooling2D(3, strides=2)(x)
    for k, last in enumerate((32, 64, 64)):
        parts = [_branch(x, (64, 1, 1)), _branch(x, (48, 1, 1), (64, 5, 5)), _branch(x, (64, 1, 1), (96, 3, 3), (96, 3, 3))]
        x = _joined([*parts, _average(x, last)], f"mixed{k}")
    parts = [_branch(x, (384, 3, 3, 2)), _branch(x, (64, 1, 1), (96, 3, 3), (96, 3, 3, 2))]
    x = _joined([*parts, layers.MaxPooling2D(3, strides=2)(x)], "mixed3")
    for k, n in enumerate((128, 160, 160, 192), 4):
        parts = [_branch(x, (192, 1, 1)), _branch(x, (n, 1, 1), (n, 1, 7), (192, 7, 1)),
                 _branch(x, (n, 1, 1), (n, 7, 1), (n, 1, 7), (n, 7, 1), (192, 1, 7))]  # fmt: skip
        x = _joined([*parts, _average(x, 192)], f"mixed{k}")
    parts = [_branch(x, (192, 1, 1), (320, 3, 3, 2)), _branch(x, (192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3, 2))]
    x = _joined([*parts, layers.MaxPooling2D(3, strides=2)(x)], "mixed8")
    for k in range(2):
        first, wide = _branch(x, (320, 1, 1)), _branch(x, (384, 1, 1))
        wide = _joined([_branch(wide, (384, 1, 3)), _branch(wide, (384, 3, 1))], f"mixed9_{k}")
        deep = _branch(x, (448, 1, 1), (384, 3, 3))
        deep = _joined([_branch(deep, (384, 1, 3)), _branch(deep, (384, 3, 1))])
        x = _joined([first, wide, deep, _average(x, 192)], f"mixed{9 + k}")
    return x


def _separable(x: Any, filters: int, name: str) -> Any:
    x = layers.SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return layers.BatchNormalization(name=f"{name}_bn")(x)


def _relu(x: Any, name: str) -> Any:
    return layers.Activation("relu", name=name)(x)


def _xception(x: Any) -> Any:
    for k, (filters, stride) in enumerate(((32, 2), (64, 1)), 1):
        x = layers.Conv2D(filters, 3, strides=stride, use_bias=False, name=f"block1_conv{k}")(x)
        x = _relu(layers.BatchNormalization(name=f"block1_conv{k}_bn")(x), f"block1_conv{k}_act")
    for block in range(2, 14):
        filters = {2: (128, 128), 3: (256, 256), 4: (728, 728), 13: (728, 1024)}.get(block, (728, 728, 728))
        past = x
        if len(filters) == 2:
            past = layers.Conv2D(filters[-1], 1, strides=2, padding="same", use_bias=False)(x)
            past = layers.BatchNormalization()(past)
        for k, n in enumerate(filters, 1):
            name = f"block{block}_sepconv{k}"
            x = _separable(x if (block, k) == (2, 1) else _relu(x, f"{name}_act"), n, name)
        if len(filters) == 2:
            x = layers.MaxPooling2D(3, strides=2, padding="same", name=f"block{block}_pool")(x)
        x = layers.Add()([x, past])
    for k, n in enumerate((1536, 2048), 1):
        x = _relu(_separable(x, n, f"block14_sepconv{k}"), f"block14_sepconv{k}_act")
    return x


def InceptionV3(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
                pooling: str | None = None, classes: int = 1000, classifier_activation: Any = "softmax",
                name: str = "inception_v3") -> Any:  # fmt: skip
    given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return network(_inception, classifier(given), 299, 75, given, name, pool=False)


def Xception(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
             pooling: str | None = None, classes: int = 1000, classifier_activation: Any = "softmax",
             name: str = "xception") -> Any:  # fmt: skip
    given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return network(_xception, classifier(given), 299, 71, given, name, pool=False)


documented(InceptionV3, "InceptionV3: filters of several sizes side by side.")
documented(Xception, "Xception: separable convolutions in residual blocks.")
