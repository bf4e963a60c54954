"""Pixels from 0 to 255 as the networks want them, and what their classes are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.convert import convert_to_tensor
from ...engine.tensor import Tensor
from ...ops.joining import stack
from ..symbolic import KerasTensor

_MEAN = {"caffe": (103.939, 116.779, 123.68), "torch": (0.485, 0.456, 0.406)}
_DEVIATION = (0.229, 0.224, 0.225)


def scaled(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Images with values from 0 to 255, the channels last, as a network wants them; an array of floats is changed in place.

    "tf": from -1 to 1; "torch": from 0 to 1, less the mean and over the deviation of each channel; "caffe": blue first, less
    the mean.

    >>> import minitape as tf
    >>> tf.keras.applications.imagenet_utils.preprocess_input(tf.constant([[[0.0, 127.5, 255.0]]]), mode="tf").numpy().tolist()
    [[[-1.0, 0.0, 1.0]]]
    """
    if mode not in ("caffe", "tf", "torch"):
        raise ValueError(f"Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode={mode}")
    if data_format not in (None, "channels_last"):
        raise ValueError(f"minitape's images have their channels last. Received: data_format={data_format}")
    plain = isinstance(x, np.ndarray)
    if plain and not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float32)
    elif not plain and not isinstance(x, (Tensor, KerasTensor)):
        x = convert_to_tensor(x)
    if mode == "tf":
        return _shifted(x, 127.5, -1.0, plain)
    if mode == "torch":
        x = _shifted(x, 255.0, 0.0, plain)
    elif plain:
        x = x[..., ::-1]
    else:
        x = stack([x[..., k] for k in (2, 1, 0)], axis=-1)
    mean = np.array(_MEAN[mode], str(np.dtype(x.dtype)) if plain else x.dtype.name if hasattr(x.dtype, "name") else x.dtype)
    if plain:
        x -= mean
    else:
        x = x - mean
    if mode == "torch":
        over = np.array(_DEVIATION, mean.dtype)
        if plain:
            x /= over
        else:
            x = x / over
    return x


def _shifted(x: Any, over: float, by: float, plain: bool) -> Any:
    if plain:
        x /= over
        x += by
        return x
    return x / over + by


def _scaling(mode: str) -> Callable[..., Any]:
    def preprocess_input(x: Any, data_format: str | None = None) -> Any:
        return scaled(x, data_format, mode)

    preprocess_input.__doc__ = f"""Images with values from 0 to 255 as this network wants them, see ``imagenet_utils.preprocess_input``, mode "{mode}".

    >>> import minitape as tf
    >>> tf.keras.applications.mobilenet_v2.preprocess_input(tf.constant([[[0.0, 127.5, 255.0]]])).numpy().tolist()
    [[[-1.0, 0.0, 1.0]]]
    """
    return preprocess_input


caffe, tf, torch = _scaling("caffe"), _scaling("tf"), _scaling("torch")


def unchanged(x: Any, data_format: str | None = None) -> Any:
    """Images as they are, whatever the ``data_format``: these networks scale their inputs themselves.

    >>> import minitape as tf
    >>> tf.keras.applications.efficientnet.preprocess_input([0.0, 255.0])
    [0.0, 255.0]
    """
    return x


def decode_predictions(preds: Any, top: int = 5) -> Any:
    """The most likely classes of each row of 1000 probabilities, (id, name, probability): minitape knows their numbers alone.

    >>> import minitape as tf
    >>> import numpy as np
    >>> tf.keras.applications.vgg16.decode_predictions(np.eye(1000)[[7]], top=1)
    [[('n7', 'class 7', 1.0)]]
    """
    array = np.asarray(preds)
    if array.ndim != 2 or array.shape[1] != 1000:
        raise ValueError("`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). "
                         f"Received array with shape: {array.shape}")  # fmt: skip
    order = np.argsort(-array, axis=1, kind="stable")[:, :top]
    return [[(f"n{k}", f"class {k}", float(row[k])) for k in best.tolist()] for row, best in zip(array, order, strict=True)]
