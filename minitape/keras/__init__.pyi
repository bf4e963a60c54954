"""The names of `tf.keras`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.keras import (
    activations as activations,
    callbacks as callbacks,
    initializers as initializers,
    layers as layers,
    losses as losses,
    metrics as metrics,
    models as models,
    optimizers as optimizers,
    regularizers as regularizers,
    utils as utils,
)
from minitape.keras.initializers import (
    Initializer as Initializer,
)
from minitape.keras.layer import (
    Layer as Layer,
)
from minitape.keras.losses import (
    Loss as Loss,
)
from minitape.keras.metrics import (
    Metric as Metric,
)
from minitape.keras.model import (
    Model as Model,
)
from minitape.keras.optimizers import (
    Optimizer as Optimizer,
)
from minitape.keras.regularizers import (
    Regularizer as Regularizer,
)
from minitape.keras.sequential import (
    Sequential as Sequential,
)
from minitape.keras.symbolic import (
    Input as Input,
    KerasTensor as KerasTensor,
)
from minitape.keras.variable import (
    Variable as Variable,
)
