"""The names of `tf.keras.applications.resnet`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.keras.applications.pixels import (
    decode_predictions as decode_predictions,
)
def ResNet101(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet101') -> _Any:
    """ResNet101: 101 layers in residual blocks. See https://keras.io/api/applications."""

def ResNet152(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet152') -> _Any:
    """ResNet152: 152 layers in residual blocks. See https://keras.io/api/applications."""

def ResNet50(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet50') -> _Any:
    """ResNet50: 50 layers in residual blocks. See https://keras.io/api/applications."""

def preprocess_input(x: _Any, data_format: _Any = None) -> _Any:
    """Images with values from 0 to 255 as this network wants them, see ``imagenet_utils.preprocess_input``, mode "caffe"."""

