"""The names of `tf.keras.applications`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.keras.applications import (
    densenet as densenet,
    efficientnet as efficientnet,
    imagenet_utils as imagenet_utils,
    inception_v3 as inception_v3,
    mobilenet as mobilenet,
    mobilenet_v2 as mobilenet_v2,
    resnet as resnet,
    resnet50 as resnet50,
    resnet_v2 as resnet_v2,
    vgg16 as vgg16,
    vgg19 as vgg19,
    xception as xception,
)
from minitape.keras.applications.inception import (
    InceptionV3 as InceptionV3,
    Xception as Xception,
)
from minitape.keras.applications.mobile import (
    MobileNet as MobileNet,
    MobileNetV2 as MobileNetV2,
)
from minitape.keras.applications.plain import (
    VGG16 as VGG16,
    VGG19 as VGG19,
)
def DenseNet121(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'densenet121') -> _Any:
    """DenseNet121: 121 layers, each of which sees all before it in its block. See https://keras.io/api/applications."""

def DenseNet169(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'densenet169') -> _Any:
    """DenseNet169: 169 layers, each of which sees all before it in its block. See https://keras.io/api/applications."""

def DenseNet201(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'densenet201') -> _Any:
    """DenseNet201: 201 layers, each of which sees all before it in its block. See https://keras.io/api/applications."""

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

def ResNet101(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet101') -> _Any:
    """ResNet101: 101 layers in residual blocks. See https://keras.io/api/applications."""

def ResNet101V2(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet101v2') -> _Any:
    """ResNet101V2: 101 layers in residual blocks, normalized before they begin. See https://keras.io/api/applications."""

def ResNet152(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet152') -> _Any:
    """ResNet152: 152 layers in residual blocks. See https://keras.io/api/applications."""

def ResNet152V2(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet152v2') -> _Any:
    """ResNet152V2: 152 layers in residual blocks, normalized before they begin. See https://keras.io/api/applications."""

def ResNet50(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet50') -> _Any:
    """ResNet50: 50 layers in residual blocks. See https://keras.io/api/applications."""

def ResNet50V2(include_top: _Any = True, weights: _Any = 'imagenet', input_tensor: _Any = None, input_shape: _Any = None, pooling: _Any = None, classes: _Any = 1000, classifier_activation: _Any = 'softmax', name: _Any = 'resnet50v2') -> _Any:
    """ResNet50V2: 50 layers in residual blocks, normalized before they begin. See https://keras.io/api/applications."""

