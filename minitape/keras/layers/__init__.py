"""``tf.keras.layers``: the layers, each family in a file of its own.

Here is who holds which name.

>>> import minitape as tf
>>> tf.keras.layers.Dense(3)(tf.ones((2, 4))).shape
TensorShape([2, 3])
"""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.layers", {
    "keras.layer": "InputSpec Layer",
    "keras.serial": "deserialize serialize",
    "keras.symbolic": "Input InputLayer",
    "keras.layers.dense": "Dense",
    "keras.layers.einsum": "EinsumDense",
    "keras.layers.attention": "AdditiveAttention Attention MultiHeadAttention",
    "keras.layers.embedding": "Embedding",
    "keras.layers.convolution": "Conv1D Conv2D Convolution1D Convolution2D",
    "keras.layers.transposed": "Conv1DTranspose Conv2DTranspose Convolution1DTranspose Convolution2DTranspose",
    "keras.layers.depthwise": "DepthwiseConv2D SeparableConv2D SeparableConvolution2D",
    "keras.layers.images": "CenterCrop Cropping1D Cropping2D Resizing UpSampling1D UpSampling2D ZeroPadding1D "
                           "ZeroPadding2D",
    "keras.layers.pooling": "AveragePooling1D AveragePooling2D AvgPool1D AvgPool2D GlobalAveragePooling1D "
                            "GlobalAveragePooling2D GlobalAvgPool1D GlobalAvgPool2D GlobalMaxPool1D GlobalMaxPool2D "
                            "GlobalMaxPooling1D GlobalMaxPooling2D MaxPool1D MaxPool2D MaxPooling1D MaxPooling2D",
    "keras.layers.volumes": "AveragePooling3D AvgPool3D Conv3D Conv3DTranspose Convolution3D Convolution3DTranspose "
                            "Cropping3D GlobalAveragePooling3D GlobalAvgPool3D GlobalMaxPool3D GlobalMaxPooling3D "
                            "MaxPool3D MaxPooling3D UpSampling3D ZeroPadding3D",
    "keras.layers.sequences": "DepthwiseConv1D SeparableConv1D SeparableConvolution1D",
    "keras.layers.convlstm": "ConvLSTM1D ConvLSTM2D ConvLSTM3D",
    "keras.layers.encoding": "CategoryEncoding",
    "keras.layers.lookup": "IntegerLookup StringLookup",
    "keras.layers.vectorization": "TextVectorization",
    "keras.layers.cells": "GRUCell LSTMCell SimpleRNNCell StackedRNNCells",
    "keras.layers.recurrent": "GRU LSTM RNN SimpleRNN",
    "keras.layers.normalization": "BatchNormalization GroupNormalization LayerNormalization Normalization "
                                  "RMSNormalization UnitNormalization",
    "keras.layers.noise": "AlphaDropout Dropout GaussianDropout GaussianNoise SpatialDropout1D SpatialDropout2D "
                          "SpatialDropout3D",
    "keras.layers.augmentation": "RandomBrightness RandomContrast RandomFlip RandomRotation RandomTranslation RandomZoom",
    "keras.layers.shaping": "Flatten Permute RepeatVector Reshape",
    "keras.layers.elementwise": "Activation ActivityRegularization ELU Identity Lambda LeakyReLU PReLU ReLU Rescaling "
                                "Softmax",
    "keras.layers.masking": "Masking",
    "keras.layers.wrappers": "Bidirectional SpectralNormalization TimeDistributed Wrapper",
    "keras.layers.merging": "Add Average Concatenate Dot Maximum Minimum Multiply Subtract add average concatenate dot "
                            "maximum minimum multiply subtract",
}, globals())  # fmt: skip
