"""VGG: convolutions in a row."""

from __future__ import annotations

from functools import partial
from typing import Any

from .. import layers
from .building import asked, documented, network

_FILTERS = (64, 128, 256, 512, 512)


def _body(counts: tuple[int, ...], x: Any) -> Any:
    for block, (filters, count) in enumerate(zip(_FILTERS, counts, strict=True), 1):
        for k in range(1, count + 1):
            x = layers.Conv2D(filters, 3, activation="relu", padding="same", name=f"block{block}_conv{k}")(x)
        x = layers.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    return x


def _top(given: dict[str, Any], x: Any) -> Any:
    x = layers.Flatten(name="flatten")(x)
    for name in ("fc1", "fc2"):
        x = layers.Dense(4096, activation="relu", name=name)(x)
    return layers.Dense(given["classes"], activation=given["classifier_activation"], name="predictions")(x)


def VGG16(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None, pooling: str | None = None,
          classes: int = 1000, classifier_activation: Any = "softmax", name: str = "vgg16") -> Any:  # fmt: skip
    given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return network(partial(_body, (2, 2, 3, 3, 3)), partial(_top, given), 224, 32, given, name, pool=False)


def VGG19(include_top: bool = True, weights: Any = "imagenet", input_tensor: Any = None, input_shape: Any = None, pooling: str | None = None,
          classes: int = 1000, classifier_activation: Any = "softmax", name: str = "vgg19") -> Any:  # fmt: skip
    given = asked(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return network(partial(_body, (2, 2, 4, 4, 4)), partial(_top, given), 224, 32, given, name, pool=False)


for _make in (VGG16, VGG19):
    documented(_make, f"{_make.__name__}: convolutions of 3 by 3 in a row.")
