"""What all architectures share: the shape of the input, the layers at the top, and what is said of weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...engine.logs import log_first_n
from .. import layers
from ..model import Model
from ..symbolic import Input, KerasTensor

Body = Callable[[Any], Any]


def asked(include_top: bool, weights: Any, input_tensor: Any, input_shape: Any, pooling: str | None, classes: int,
          classifier_activation: Any) -> dict[str, Any]:  # fmt: skip
    """The arguments that all architectures take."""
    return {"include_top": include_top, "weights": weights, "input_tensor": input_tensor, "input_shape": input_shape, "pooling": pooling,
            "classes": classes, "classifier_activation": classifier_activation}  # fmt: skip


def network(body: Body, top: Body | None, default: int, least: int, given: dict[str, Any], name: Any, pool: bool = True) -> Any:
    """The model of a body and, with ``include_top``, of the layers that ``top`` puts on it, else of a pooling.

    ``given`` are the arguments that all architectures take. ``pool`` tells whether the pooling is named.
    """
    weights, whole, tensor = given["weights"], given["include_top"], given["input_tensor"]
    if weights not in ("imagenet", None) and not Path(weights).exists():
        raise ValueError("The `weights` argument should be either `None` (random initialization), 'imagenet' (pre-training on "
                         f"ImageNet), or the path to the weights file to be loaded.  Received: weights={weights}")  # fmt: skip
    if weights == "imagenet" and whole and given["classes"] != 1000:
        raise ValueError(f"If using `weights='imagenet'` with `include_top=True`, `classes` should be 1000.  Received classes={given['classes']}")
    if tensor is not None and not isinstance(tensor, KerasTensor):
        raise ValueError(f"`input_tensor` is the output of `layers.Input()`. Received: input_tensor={tensor}")
    shape = shape_of(given["input_shape"], default, least, whole, weights)
    entry = Input(shape=shape) if tensor is None else tensor
    x = body(entry)
    if whole and top is not None:
        activation = given["classifier_activation"]
        if weights == "imagenet" and activation not in (None, "softmax"):
            raise ValueError("Only `None` and `softmax` activations are allowed for the `classifier_activation` argument when using "
                             f"pretrained weights, with `include_top=True`; Received: classifier_activation={activation}")  # fmt: skip
        x = top(x)
    elif not whole:
        x = pooled(x, given["pooling"], pool)
    model = Model(entry, x, name=name(shape[0]) if callable(name) else name)
    if weights == "imagenet":
        log_first_n("applications", "tf.keras.applications gives networks with random weights, also for weights=\"imagenet\": minitape loads "
                    "nothing from the network. Shapes and names are right, predictions are not.", 1)  # fmt: skip
    elif weights is not None:
        model.load_weights(weights)
    return model


def shape_of(given: Any, default: int, least: int, whole: bool, weights: Any) -> tuple[Any, ...]:
    """The shape of one image, checked as Keras does."""
    usual = (default, default, given[2] if weights != "imagenet" and given and len(given) == 3 else 3)
    if weights == "imagenet" and whole:
        if given is not None and tuple(given) != usual:
            raise ValueError("When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be "
                             f"{usual}.  Received: input_shape={given}")  # fmt: skip
        return usual
    if given is not None:
        if len(given) != 3:
            raise ValueError("`input_shape` must be a tuple of three integers.")
        if given[2] != 3 and weights == "imagenet":
            raise ValueError(f"The input must have 3 channels; Received `input_shape={given}`")
        if any(size is not None and size < least for size in given[:2]):
            raise ValueError(f"Input size must be at least {least}x{least}; Received: input_shape={given}")
    shape = tuple(given) if given is not None else usual if whole else (None, None, 3)
    if whole and None in shape:
        raise ValueError(f"If `include_top` is True, you should specify a static `input_shape`. Received: input_shape={given}")
    return shape


def pooled(x: Any, how: str | None, named: bool) -> Any:
    """What ``pooling`` asks for in place of the layers at the top."""
    if how == "avg":
        return layers.GlobalAveragePooling2D(name="avg_pool" if named else None)(x)
    if how == "max":
        return layers.GlobalMaxPooling2D(name="max_pool" if named else None)(x)
    return x


def classifier(given: dict[str, Any], pool: str | None = "avg_pool", **options: Any) -> Body:
    """A pooling and the layer of the classes."""
    def top(x: Any) -> Any:
        x = layers.GlobalAveragePooling2D(name=pool)(x)
        return layers.Dense(given["classes"], activation=given["classifier_activation"], name="predictions", **options)(x)

    return top


def divisible(v: float, by: int = 8) -> int:
    """A number of filters rounded to a multiple, not below nine tenths of it."""
    found = max(by, int(v + by / 2) // by * by)
    return found + by if found < 0.9 * v else found


def padding_for(x: Any, kernel: int) -> Any:
    """The padding before a convolution with stride 2, which is that of "same" for any size."""
    half, sizes = kernel // 2, x.shape[1:3]
    return tuple((half - (1 if size is None or sizes[0] is None else 1 - size % 2), half) for size in sizes)


def documented(make: Callable[..., Any], about: str) -> Callable[..., Any]:
    """An architecture with its documentation."""
    make.__doc__ = f"""{about} See https://keras.io/api/applications.

    The weights are random, also for ``weights="imagenet"``: minitape loads nothing from the network.

    >>> import minitape as tf
    >>> model = tf.keras.applications.{make.__name__}(weights=None, include_top=False)  # doctest: +SKIP
    """
    return make
