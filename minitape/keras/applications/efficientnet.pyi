"""The names of `tf.keras.applications.efficientnet`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.keras.applications.pixels import (
    decode_predictions as decode_predictions,
    unchanged as _preprocess_input,
)
def EfficientNetB0(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb0') -> _Any:
    """EfficientNetB0, for images of 224 by 224 pixels with values from 0 to 255. See https://keras.io/api/applications."""

def EfficientNetB1(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb1') -> _Any:
    """EfficientNetB1, for images of 240 by 240 pixels with values from 0 to 255. See https://keras.io/api/applications."""

def EfficientNetB2(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb2') -> _Any:
    """EfficientNetB2, for images of 260 by 260 pixels with values from 0 to 255. See https://keras.io/api/applications."""

def EfficientNetB3(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb3') -> _Any:
    """EfficientNetB3, for images of 300 by 300 pixels with values from 0 to 255. See https://keras.io/api/applications."""

def EfficientNetB4(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb4') -> _Any:
    """EfficientNetB4, for images of 380 by 380 pixels with values from 0 to 255. See https://keras.io/api/applications."""

def EfficientNetB5(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb5') -> _Any:
    """EfficientNetB5, for images of 456 by 456 pixels with values from 0 to 255. See https://keras.io/api/applications."""

def EfficientNetB6(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb6') -> _Any:
    """EfficientNetB6, for images of 528 by 528 pixels with values from 0 to 255. See https://keras.io/api/applications."""

def EfficientNetB7(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'efficientnetb7') -> _Any:
    """EfficientNetB7, for images of 600 by 600 pixels with values from 0 to 255. See https://keras.io/api/applications."""

preprocess_input = _preprocess_input
