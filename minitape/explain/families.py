"""How operations of TensorFlow, and so those of a tape, make zeros of adjoints: families by the operations' names."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

STEPS = set("Round Floor Ceil Sign Rint FloorDiv FloorMod".split())
RELUS = {"Relu", "Relu6", "LeakyRelu"}
CURVES = {"Sigmoid", "Tanh", "Erf", "Exp", "Softsign", "ClipByValue"}
CHOICES = set(
    (
        "Max Min Maximum Minimum SelectV2 Select StridedSlice GatherV2 GatherNd TopKV2 Slice Split Unpack "
        "MaxPool ResourceGather MatrixBandPart SplitV BooleanMask TensorListGetItem"
    ).split()
)
PRODUCTS = set("Mul MatMul BatchMatMulV2 Einsum Conv2D Prod RealDiv MulNoNan DivNoNan".split())
CLASSES = {"SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits"}
# of Keras, whose parts cancel
LAYERS = {"layer_normalization", "batch_normalization", "group_normalization", "unit_normalization"}
CANCELS = {"Softmax", "LogSoftmax", "Sub"}


def by_cause(*families: Collection[str]) -> dict[str, Collection[str]]:
    """The causes of zeros, each with the operations that make them so: steps, relus, curves, choices, products, and
    what cancels.
    """
    causes = "zero_derivative dead_relu saturated not_selected zero_factor zero_cancels".split()
    return dict(zip(causes, families, strict=True))


ZEROS = by_cause(STEPS, RELUS, CURVES, CHOICES, PRODUCTS, CANCELS)
MOVES = {"ConcatV2", "Pack", "PadV2", "ScatterNd", "TensorListSetItem", "TensorListStack"}
POINTS = {"Abs": "point", "ReluGrad": "second", "Relu6Grad": "second", "LeakyReluGrad": "second"}


class OperationNames(NamedTuple):
    """What a framework calls the operations that the checks of gradients that are there and wrong look for."""

    compare: Collection[str]  # of two values, element by element
    losses: Collection[str]  # of which the result is one number
    sums: Collection[str]  # of all elements
    shapes: Collection[str]  # change no number
    adds: Collection[str]
    factors: Collection[str]
    of_logits: dict[str, str]  # losses, and what they apply themselves
    activations: dict[str, str]  # operations, and what people call them
    normalize: Collection[str]  # whose results have a sum or a mean that does not depend on the input
    saturate: Collection[str]


_SOFTMAX, _SIGMOID = "softmax", "sigmoid"
OPERATIONS = OperationNames(
    compare={"Sub", "SquaredDifference"},
    losses=(),
    sums={"Sum", "Mean"},
    shapes=set("Reshape Squeeze ExpandDims StridedSlice Cast Identity Transpose Tile BroadcastTo".split()),
    adds={"AddV2", "Add", "Sub"},
    factors={"Mul", "RealDiv"},
    of_logits={
        "SoftmaxCrossEntropyWithLogits": _SOFTMAX,
        "SparseSoftmaxCrossEntropyWithLogits": _SOFTMAX,
        "SelectV2": _SIGMOID,
        "Select": _SIGMOID,
        "LogSoftmax": _SOFTMAX,
        "Softplus": _SIGMOID,
    },
    activations={"Softmax": _SOFTMAX, "Sigmoid": _SIGMOID}
    | {name: name.lower() for name in "Tanh Relu Elu Selu Softplus LeakyRelu Relu6".split()},
    normalize={"Softmax"},
    saturate={"Sigmoid", "Tanh", "Softmax"},
)
