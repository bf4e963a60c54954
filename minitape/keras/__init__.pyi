"""The names of `tf.keras`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.keras import (
    activations as activations,
    applications as applications,
    backend as backend,
    callbacks as callbacks,
    constraints as constraints,
    datasets as datasets,
    initializers as initializers,
    layers as layers,
    losses as losses,
    metrics as metrics,
    models as models,
    ops as ops,
    optimizers as optimizers,
    preprocessing as preprocessing,
    random as random,
    regularizers as regularizers,
    saving as saving,
    utils as utils,
)
from minitape.keras.base import (
    name_scope as name_scope,
    version as version,
)
from minitape.keras.initializers import (
    Initializer as Initializer,
)
from minitape.keras.layer import (
    InputSpec as InputSpec,
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
