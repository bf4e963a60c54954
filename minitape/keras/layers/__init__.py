"""``tf.keras.layers``: the layers, each family in a file of its own.

Here is who holds which name.

>>> import minitape as tf
>>> tf.keras.layers.Dense(3)(tf.ones((2, 4))).shape
TensorShape([2, 3])
"""

from ...tf.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.keras.layers",
    {
        "keras.layer": "Layer",
        "keras.symbolic": "Input InputLayer",
        "keras.layers.dense": "Dense Embedding",
        "keras.layers.convolution": "AveragePooling2D Conv2D GlobalAveragePooling2D GlobalMaxPooling2D MaxPooling2D",
        "keras.layers.recurrent": "LSTM",
        "keras.layers.normalization": "BatchNormalization LayerNormalization",
        "keras.layers.elementwise": "Activation Dropout Lambda LeakyReLU ReLU Softmax",
        "keras.layers.shaping": "Add Concatenate Flatten Multiply Reshape",
    },
    globals(),
)
