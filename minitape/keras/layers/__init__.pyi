"""The names of `tf.keras.layers`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.keras.layer import (
    Layer as Layer,
)
from minitape.keras.layers.convolution import (
    AveragePooling2D as AveragePooling2D,
    Conv2D as Conv2D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    MaxPooling2D as MaxPooling2D,
)
from minitape.keras.layers.dense import (
    Dense as Dense,
    Embedding as Embedding,
)
from minitape.keras.layers.elementwise import (
    Activation as Activation,
    Dropout as Dropout,
    Lambda as Lambda,
    LeakyReLU as LeakyReLU,
    ReLU as ReLU,
    Softmax as Softmax,
)
from minitape.keras.layers.normalization import (
    BatchNormalization as BatchNormalization,
    LayerNormalization as LayerNormalization,
)
from minitape.keras.layers.recurrent import (
    LSTM as LSTM,
)
from minitape.keras.layers.shaping import (
    Add as Add,
    Concatenate as Concatenate,
    Flatten as Flatten,
    Multiply as Multiply,
    Reshape as Reshape,
)
from minitape.keras.symbolic import (
    Input as Input,
    InputLayer as InputLayer,
)
