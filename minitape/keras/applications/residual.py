"""ResNet: blocks of three convolutions, each beside a way past it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import layers
from .building import asked, classifier, documented, network

_FILTERS = (64, 128, 256, 512)
_COUNTS = {"50": (3, 4, 6, 3), "101": (3, 4, 23, 3), "152": (3, 8, 36, 3)}


def _norm(x: Any, name: str) -> Any:
    return layers.BatchNormalization(epsilon=1.001e-5, name=name)(x)


def _relu(x: Any, name: str) -> Any:
    return layers.Activation("relu", name=name)(x)


def _block(x: Any, filters: int, stride: int, first: bool, name: str) -> Any:
    past = x
    if first:
        past = _norm(layers.Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x), f"{name}_0_bn")
    x = layers.Conv2D(filters, 1, strides=stride, name=f"{name}_1_conv")(x)
    x = _relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = layers.Conv2D(filters, 3, padding="same", name=f"{name}_2_conv")(x)
    x = _relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = _norm(layers.Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x), f"{name}_3_bn")
    return _relu(layers.Add(name=f"{name}_add")([past, x]), f"{name}_out")


def _block_v2(x: Any, filters: int, stride: int, first: bool, name: str) -> Any:
    before = _relu(_norm(x, f"{name}_preact_bn"), f"{name}_preact_relu")
    if first:
        past = layers.Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(before)
    else:
        past = layers.MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = layers.Conv2D(filters, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(before)
    x = _relu(_norm(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = layers.ZeroPadding2D(((1, 1), (1, 1)), name=f"{name}_2_pad")(x)
    x = layers.Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = _relu(_norm(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = layers.Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    return layers.Add(name=f"{name}_out")([past, x])


def _body(counts: tuple[int, ...], second: bool, x: Any) -> Any:
    """The stem, and four stacks: the first version strides where a stack begins, the second where it ends."""
    x = layers.ZeroPadding2D(((3, 3), (3, 3)), name="conv1_pad")(x)
    x = layers.Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if not second:
        x = _relu(_norm(x, "conv1_bn"), "conv1_relu")
    x = layers.ZeroPadding2D(((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stack, (filters, count) in enumerate(zip(_FILTERS, counts, strict=True), 2):
        for k in range(1, count + 1):
            strides = k == count and stack < 5 if second else k == 1 and stack > 2
            x = (_block_v2 if second else _block)(x, filters, 2 if strides else 1, k == 1, f"conv{stack}_block{k}")
    return _relu(_norm(x, "post_bn"), "post_relu") if second else x


def _resnet(depth: str, second: bool) -> Callable[..., Any]:
    called = f"ResNet{depth}{'V2' if second else ''}"

    def make(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
             pooling: str | None = None, classes: int = 1000, classifier_activation: Any = "softmax",
             name: str = called.lower()) -> Any:  # fmt: skip
        given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return network(partial(_body, _COUNTS[depth], second), classifier(given), 224, 32, given, name)

    make.__name__ = make.__qualname__ = called
    return documented(make, f"{called}: {depth} layers in residual blocks{', normalized before they begin' if second else ''}.")


ResNet50, ResNet101, ResNet152 = (_resnet(depth, False) for depth in _COUNTS)
ResNet50V2, ResNet101V2, ResNet152V2 = (_resnet(depth, True) for depth in _COUNTS)
