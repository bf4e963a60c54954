"""DenseNet: each layer sees what all layers of its block have made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .. import layers
from .building import asked, classifier, documented, network

_COUNTS = {"121": (6, 12, 24, 16), "169": (6, 12, 32, 32), "201": (6, 12, 48, 32)}


def _active(x: Any, norm: str, relu: str) -> Any:
    return layers.Activation("relu", name=relu)(layers.BatchNormalization(epsilon=1.001e-5, name=norm)(x))


def _body(counts: tuple[int, ...], x: Any) -> Any:
    x = layers.ZeroPadding2D(((3, 3), (3, 3)))(x)
    x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1_conv")(x)
    x = _active(x, "conv1_bn", "conv1_relu")
    x = layers.ZeroPadding2D(((1, 1), (1, 1)))(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for block, count in enumerate(counts, 2):
        if block > 2:
            x = _active(x, f"pool{block - 1}_bn", f"pool{block - 1}_relu")
            x = layers.Conv2D(x.shape[-1] // 2, 1, use_bias=False, name=f"pool{block - 1}_conv")(x)
            x = layers.AveragePooling2D(2, strides=2, name=f"pool{block - 1}_pool")(x)
        for k in range(1, count + 1):
            name = f"conv{block}_block{k}"
            new = layers.Conv2D(128, 1, use_bias=False, name=f"{name}_1_conv")(_active(x, f"{name}_0_bn", f"{name}_0_relu"))
            new = _active(new, f"{name}_1_bn", f"{name}_1_relu")
            new = layers.Conv2D(32, 3, padding="same", use_bias=False, name=f"{name}_2_conv")(new)
            x = layers.Concatenate(name=f"{name}_concat")([x, new])
    return _active(x, "bn", "relu")


def _densenet(depth: str) -> Callable[..., Any]:
    def make(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None,
             pooling: str | None = None, classes: int = 1000, classifier_activation: Any = "softmax",
             name: str = f"densenet{depth}") -> Any:  # fmt: skip
        given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return network(partial(_body, _COUNTS[depth]), classifier(given), 224, 32, given, name)

    make.__name__ = make.__qualname__ = f"DenseNet{depth}"
    return documented(make, f"DenseNet{depth}: {depth} layers, each of which sees all before it in its block.")


DenseNet121, DenseNet169, DenseNet201 = map(_densenet, _COUNTS)
