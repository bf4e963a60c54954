"""``tf.keras.layers``: the layers, each family in a file of its own."""

from __future__ import annotations

import importlib
from typing import Any

from ...api import missing

HOME = {
    "Dense": "dense",
    "Embedding": "embedding",
    "Dropout": "noise",
    "GaussianNoise": "noise",
    "Flatten": "shaping",
    "Reshape": "shaping",
    "Permute": "shaping",
    "RepeatVector": "shaping",
    "Activation": "elementwise",
    "ReLU": "elementwise",
    "LeakyReLU": "elementwise",
    "ELU": "elementwise",
    "Softmax": "elementwise",
    "Lambda": "elementwise",
    "Identity": "elementwise",
    "Rescaling": "elementwise",
    "Conv2D": "convolution",
    "Convolution2D": "convolution",
    "Conv1D": "convolution",
    "Convolution1D": "convolution",
    "MaxPooling1D": "pooling",
    "MaxPool1D": "pooling",
    "AveragePooling1D": "pooling",
    "AvgPool1D": "pooling",
    "GlobalAvgPool1D": "pooling",
    "GlobalAvgPool2D": "pooling",
    "GlobalMaxPool1D": "pooling",
    "GlobalMaxPool2D": "pooling",
    "MaxPooling2D": "pooling",
    "MaxPool2D": "pooling",
    "AveragePooling2D": "pooling",
    "AvgPool2D": "pooling",
    "GlobalAveragePooling1D": "pooling",
    "GlobalAveragePooling2D": "pooling",
    "GlobalMaxPooling1D": "pooling",
    "GlobalMaxPooling2D": "pooling",
    "BatchNormalization": "normalization",
    "LayerNormalization": "normalization",
    "Normalization": "normalization",
    "Add": "merging",
    "Subtract": "merging",
    "Multiply": "merging",
    "Average": "merging",
    "Maximum": "merging",
    "Minimum": "merging",
    "Concatenate": "merging",
    "add": "merging",
    "subtract": "merging",
    "multiply": "merging",
    "average": "merging",
    "maximum": "merging",
    "minimum": "merging",
    "concatenate": "merging",
    "GRU": "recurrent",
    "LSTM": "recurrent",
    "SimpleRNN": "recurrent",
}
OUTSIDE = {"Layer": "layer", "InputSpec": "layer", "Input": "symbolic", "InputLayer": "symbolic"}


def __getattr__(name: str) -> Any:
    if name in HOME:
        found = getattr(importlib.import_module(f"{__name__}.{HOME[name]}"), name)
    elif name in OUTSIDE:
        found = getattr(importlib.import_module(f"minitape.keras.{OUTSIDE[name]}"), name)
    else:
        raise AttributeError(missing("tf.keras.layers", name, [*HOME, *OUTSIDE]))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*HOME, *OUTSIDE])
