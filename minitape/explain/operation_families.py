"""Group the operations of TensorFlow and minitape's tape by how they make adjoints zero."""

from typing import NamedTuple

from ..engine.types import NameCollection, NameSet, TextsByName


def map_zero_causes_to_ops(**names_by_cause: str) -> dict[str, NameSet]:
    """Map each cause of zeros to the operations that produce zeros in that way.

    Args:
        **names_by_cause: For each cause, the names of operations, separated by spaces: step functions
            (``zero_derivative``), relus (``dead_relu``), saturating functions (``saturated``), selections
            (``not_selected``), products (``zero_factor``) and operations whose shares cancel (``zero_cancels``).
    """
    return {cause: set(names.split()) for cause, names in names_by_cause.items()}


ZERO_OPS_BY_CAUSE = map_zero_causes_to_ops(
    zero_derivative="Round Floor Ceil Sign Rint FloorDiv FloorMod",
    dead_relu="Relu Relu6 LeakyRelu",
    saturated="Sigmoid Tanh Erf Exp Softsign ClipByValue",
    not_selected=(
        "Max Min Maximum Minimum SelectV2 Select StridedSlice GatherV2 GatherNd TopKV2 Slice Split Unpack "
        "MaxPool ResourceGather MatrixBandPart SplitV BooleanMask TensorListGetItem"
    ),
    zero_factor="Mul MatMul BatchMatMulV2 Einsum Conv2D Prod RealDiv MulNoNan DivNoNan",
    zero_cancels="Softmax LogSoftmax Sub",
)
CLASS_LOSS_OPS = {"SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits"}
# Keras layers in which shares can cancel.
NORMALIZATION_LAYERS = {"layer_normalization", "batch_normalization", "group_normalization", "unit_normalization"}
MOVING_OPS = {"ConcatV2", "Pack", "PadV2", "ScatterNd", "TensorListSetItem", "TensorListStack"}
FLAT_AT_ZERO_OPS = {"Abs", "Cos", "Cosh"}
RELU_GRADIENT_OPS = {"ReluGrad", "Relu6Grad", "LeakyReluGrad"}


class OperationNames(NamedTuple):
    """A framework's names for the operations that the checks in ``reasons/suspects.py`` look for.

    Attributes:
        compare_ops: Operations that compare two values element by element, such as a difference.
        loss_ops: Losses, which combine two values and return one number.
        sum_ops: Sums and means over elements.
        shape_ops: Operations that change only the shape or order of elements.
        add_ops: Additions and subtractions.
        product_ops: Products and quotients.
        activation_of_loss: The activation that a loss itself applies, keyed by the name of the loss.
        activation_names: The common name of an activation, keyed by the name of its operation.
        normalizing_ops: Operations whose result has a sum or mean that does not depend on the input.
        saturating_ops: Activations that become flat for large inputs.
    """

    compare_ops: NameCollection
    loss_ops: NameCollection
    sum_ops: NameCollection
    shape_ops: NameCollection
    add_ops: NameCollection
    product_ops: NameCollection
    activation_of_loss: TextsByName
    activation_names: TextsByName
    normalizing_ops: NameCollection
    saturating_ops: NameCollection


TENSORFLOW_OPERATIONS = OperationNames(
    compare_ops={"Sub", "SquaredDifference"},
    loss_ops=(),
    sum_ops={"Sum", "Mean"},
    shape_ops=set("Reshape Squeeze ExpandDims StridedSlice Cast Identity Transpose Tile BroadcastTo".split()),
    add_ops={"AddV2", "Add", "Sub"},
    product_ops={"Mul", "RealDiv"},
    activation_of_loss={
        "SoftmaxCrossEntropyWithLogits": "softmax",
        "SparseSoftmaxCrossEntropyWithLogits": "softmax",
        "SelectV2": "sigmoid",
        "Select": "sigmoid",
        "LogSoftmax": "softmax",
        "Softplus": "sigmoid",
    },
    activation_names={
        name: name.lower() for name in "Softmax Sigmoid Tanh Relu Elu Selu Softplus LeakyRelu Relu6".split()
    },
    normalizing_ops={"Softmax"},
    saturating_ops={"Sigmoid", "Tanh", "Softmax"},
)
