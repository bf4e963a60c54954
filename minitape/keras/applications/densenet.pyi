"""The names of `tf.keras.applications.densenet`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.keras.applications.pixels import (
    decode_predictions as decode_predictions,
)
def DenseNet121(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'densenet121') -> _Any:
    """DenseNet121: 121 layers, each of which sees all before it in its block. See https://keras.io/api/applications."""

def DenseNet169(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'densenet169') -> _Any:
    """DenseNet169: 169 layers, each of which sees all before it in its block. See https://keras.io/api/applications."""

def DenseNet201(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'densenet201') -> _Any:
    """DenseNet201: 201 layers, each of which sees all before it in its block. See https://keras.io/api/applications."""

def preprocess_input(x: _Any, data_format: _Any = None) -> _Any:
    """Images with values from 0 to 255 as this network wants them, see ``imagenet_utils.preprocess_input``, mode "torch"."""

