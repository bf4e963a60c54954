"""``tf.keras.applications``: the architectures of Keras, with random weights: minitape loads nothing from the network.

Layers, their names and shapes, and the numbers of parameters are those of Keras. ``weights="imagenet"`` begins with random weights
as well and says so, once. ``building`` is what all share; ``residual``, ``dense``, ``mobile``, ``efficient``, ``plain`` and ``inception``
are the architectures, ``pixels`` how their inputs are scaled; each other file is the namespace of its name.
"""

from ...engine.namespace import lazy as _lazy

_NAMES = "densenet efficientnet imagenet_utils inception_v3 mobilenet mobilenet_v2 resnet resnet50 resnet_v2 vgg16 vgg19 xception".split()

__getattr__, __dir__ = _lazy("tf.keras.applications", {
    "keras.applications.dense": "DenseNet121 DenseNet169 DenseNet201",
    "keras.applications.efficient": "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 "
                                    "EfficientNetB6 EfficientNetB7",
    "keras.applications.inception": "InceptionV3 Xception",
    "keras.applications.mobile": "MobileNet MobileNetV2",
    "keras.applications.plain": "VGG16 VGG19",
    "keras.applications.residual": "ResNet50 ResNet101 ResNet152 ResNet50V2 ResNet101V2 ResNet152V2",
}, globals(), {name: (f"keras.applications.{name}", "") for name in _NAMES})  # fmt: skip
