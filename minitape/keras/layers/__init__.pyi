"""The names of `tf.keras.layers`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.engine.tensor import (
    Tensor as _Tensor,
)
from minitape.keras.layer import (
    InputSpec as InputSpec,
    Layer as Layer,
)
from minitape.keras.layers.attention import (
    AdditiveAttention as AdditiveAttention,
    Attention as Attention,
    MultiHeadAttention as MultiHeadAttention,
)
from minitape.keras.layers.augmentation import (
    RandomBrightness as RandomBrightness,
    RandomContrast as RandomContrast,
    RandomFlip as RandomFlip,
    RandomRotation as RandomRotation,
    RandomTranslation as RandomTranslation,
    RandomZoom as RandomZoom,
)
from minitape.keras.layers.cells import (
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    SimpleRNNCell as SimpleRNNCell,
    StackedRNNCells as StackedRNNCells,
)
from minitape.keras.layers.convlstm import (
    ConvLSTM1D as ConvLSTM1D,
    ConvLSTM2D as ConvLSTM2D,
    ConvLSTM3D as ConvLSTM3D,
)
from minitape.keras.layers.convolution import (
    Conv1D as Conv1D,
    Conv2D as Conv2D,
    Convolution1D as Convolution1D,
    Convolution2D as Convolution2D,
)
from minitape.keras.layers.dense import (
    Dense as Dense,
)
from minitape.keras.layers.depthwise import (
    DepthwiseConv2D as DepthwiseConv2D,
    SeparableConv2D as SeparableConv2D,
    SeparableConvolution2D as SeparableConvolution2D,
)
from minitape.keras.layers.einsum import (
    EinsumDense as EinsumDense,
)
from minitape.keras.layers.elementwise import (
    Activation as Activation,
    ActivityRegularization as ActivityRegularization,
    ELU as ELU,
    Identity as Identity,
    Lambda as Lambda,
    LeakyReLU as LeakyReLU,
    PReLU as PReLU,
    ReLU as ReLU,
    Rescaling as Rescaling,
    Softmax as Softmax,
)
from minitape.keras.layers.embedding import (
    Embedding as Embedding,
)
from minitape.keras.layers.encoding import (
    CategoryEncoding as CategoryEncoding,
)
from minitape.keras.layers.images import (
    CenterCrop as CenterCrop,
    Cropping1D as Cropping1D,
    Cropping2D as Cropping2D,
    Resizing as Resizing,
    UpSampling1D as UpSampling1D,
    UpSampling2D as UpSampling2D,
    ZeroPadding1D as ZeroPadding1D,
    ZeroPadding2D as ZeroPadding2D,
)
from minitape.keras.layers.lookup import (
    IntegerLookup as IntegerLookup,
    StringLookup as StringLookup,
)
from minitape.keras.layers.masking import (
    Masking as Masking,
)
from minitape.keras.layers.merging import (
    Add as Add,
    Average as Average,
    Concatenate as Concatenate,
    Dot as Dot,
    Maximum as Maximum,
    Minimum as Minimum,
    Multiply as Multiply,
    Subtract as Subtract,
    concatenate as concatenate,
    dot as dot,
)
from minitape.keras.layers.noise import (
    AlphaDropout as AlphaDropout,
    Dropout as Dropout,
    GaussianDropout as GaussianDropout,
    GaussianNoise as GaussianNoise,
    SpatialDropout1D as SpatialDropout1D,
    SpatialDropout2D as SpatialDropout2D,
    SpatialDropout3D as SpatialDropout3D,
)
from minitape.keras.layers.normalization import (
    BatchNormalization as BatchNormalization,
    GroupNormalization as GroupNormalization,
    LayerNormalization as LayerNormalization,
    Normalization as Normalization,
    RMSNormalization as RMSNormalization,
    UnitNormalization as UnitNormalization,
)
from minitape.keras.layers.pooling import (
    AveragePooling1D as AveragePooling1D,
    AveragePooling2D as AveragePooling2D,
    AvgPool1D as AvgPool1D,
    AvgPool2D as AvgPool2D,
    GlobalAveragePooling1D as GlobalAveragePooling1D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalAvgPool1D as GlobalAvgPool1D,
    GlobalAvgPool2D as GlobalAvgPool2D,
    GlobalMaxPool1D as GlobalMaxPool1D,
    GlobalMaxPool2D as GlobalMaxPool2D,
    GlobalMaxPooling1D as GlobalMaxPooling1D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    MaxPool1D as MaxPool1D,
    MaxPool2D as MaxPool2D,
    MaxPooling1D as MaxPooling1D,
    MaxPooling2D as MaxPooling2D,
)
from minitape.keras.layers.recurrent import (
    GRU as GRU,
    LSTM as LSTM,
    RNN as RNN,
    SimpleRNN as SimpleRNN,
)
from minitape.keras.layers.sequences import (
    DepthwiseConv1D as DepthwiseConv1D,
    SeparableConv1D as SeparableConv1D,
    SeparableConvolution1D as SeparableConvolution1D,
)
from minitape.keras.layers.shaping import (
    Flatten as Flatten,
    Permute as Permute,
    RepeatVector as RepeatVector,
    Reshape as Reshape,
)
from minitape.keras.layers.transposed import (
    Conv1DTranspose as Conv1DTranspose,
    Conv2DTranspose as Conv2DTranspose,
    Convolution1DTranspose as Convolution1DTranspose,
    Convolution2DTranspose as Convolution2DTranspose,
)
from minitape.keras.layers.vectorization import (
    TextVectorization as TextVectorization,
)
from minitape.keras.layers.volumes import (
    AveragePooling3D as AveragePooling3D,
    AvgPool3D as AvgPool3D,
    Conv3D as Conv3D,
    Conv3DTranspose as Conv3DTranspose,
    Convolution3D as Convolution3D,
    Convolution3DTranspose as Convolution3DTranspose,
    Cropping3D as Cropping3D,
    GlobalAveragePooling3D as GlobalAveragePooling3D,
    GlobalAvgPool3D as GlobalAvgPool3D,
    GlobalMaxPool3D as GlobalMaxPool3D,
    GlobalMaxPooling3D as GlobalMaxPooling3D,
    MaxPool3D as MaxPool3D,
    MaxPooling3D as MaxPooling3D,
    UpSampling3D as UpSampling3D,
    ZeroPadding3D as ZeroPadding3D,
)
from minitape.keras.layers.wrappers import (
    Bidirectional as Bidirectional,
    SpectralNormalization as SpectralNormalization,
    TimeDistributed as TimeDistributed,
    Wrapper as Wrapper,
)
from minitape.keras.serial import (
    deserialize as deserialize,
    serialize as serialize,
)
from minitape.keras.symbolic import (
    Input as Input,
    InputLayer as InputLayer,
)
def add(inputs: _Any, **kwargs: _Any) -> _Tensor:
    """``Add(...)(inputs)``: the sum of the inputs."""

def average(inputs: _Any, **kwargs: _Any) -> _Tensor:
    """``Average(...)(inputs)``: the mean of the inputs, element by element."""

def maximum(inputs: _Any, **kwargs: _Any) -> _Tensor:
    """``Maximum(...)(inputs)``: the largest of the inputs, element by element."""

def minimum(inputs: _Any, **kwargs: _Any) -> _Tensor:
    """``Minimum(...)(inputs)``: the smallest of the inputs, element by element."""

def multiply(inputs: _Any, **kwargs: _Any) -> _Tensor:
    """``Multiply(...)(inputs)``: the product of the inputs."""

def subtract(inputs: _Any, **kwargs: _Any) -> _Tensor:
    """``Subtract(...)(inputs)``: the first input minus the second."""

