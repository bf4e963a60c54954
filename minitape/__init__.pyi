"""The names of `tf`, for editors: see `python tests/repository/make_stubs.py`."""

from builtins import (
    bool as _bool,
)
from minitape import (
    autodiff as autodiff,
    compat as compat,
    config as config,
    errors as errors,
    explain as explain,
    keras as keras,
    linalg as linalg,
    math as math,
    nest as nest,
    nn as nn,
    python as python,
    ragged as ragged,
    random as random,
    sparse as sparse,
    strings as strings,
    test as test,
)
from minitape.engine.backward.tape import (
    GradientTape as GradientTape,
)
from minitape.engine.backward.targets_and_sources import (
    UnconnectedGradients as UnconnectedGradients,
)
from minitape.engine.derivatives.custom_gradient import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from minitape.engine.derivatives.py_function import (
    numpy_function as numpy_function,
    py_function as py_function,
)
from minitape.engine.tensor.conversion import (
    constant as constant,
    convert_to_tensor as convert_to_tensor,
)
from minitape.engine.tensor.tensor import (
    Tensor as Tensor,
    Tensor as _Tensor,
)
from minitape.engine.tensor.variable import (
    ResourceVariable as _Variable,
)
from minitape.engine.values.dtypes import (
    DType as DType,
    bool as bool,
    complex128 as complex128,
    complex64 as complex64,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    int8 as int8,
    string as string,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
)
from minitape.engine.values.shape import (
    TensorShape as TensorShape,
)
from minitape.functions.control_flow import (
    cond as cond,
    while_loop as while_loop,
)
from minitape.functions.function import (
    function as function,
)
from minitape.functions.settings import (
    executing_eagerly as executing_eagerly,
    get_logger as get_logger,
    init_scope as init_scope,
)
from minitape.functions.tensor_spec import (
    TensorSpec as TensorSpec,
)
from minitape.functions.tf1_graph import (
    Graph as Graph,
    RegisterGradient as RegisterGradient,
    Session as Session,
    get_default_graph as get_default_graph,
    gradients as gradients,
    initialize_all_variables as initialize_all_variables,
)
from minitape.picture.drawing import (
    draw as draw,
)
from minitape.picture.snapshots import (
    snapshot as snapshot,
)
from minitape.tf.array_functions import (
    concat as concat,
    expand_dims as expand_dims,
    identity as identity,
    meshgrid as meshgrid,
    newaxis as newaxis,
    pad as pad,
    rank as rank,
    repeat as repeat,
    reshape as reshape,
    shape as shape,
    size as size,
    split as split,
    squeeze as squeeze,
    stack as stack,
    stop_gradient as stop_gradient,
    tile as tile,
    transpose as transpose,
    unstack as unstack,
)
from minitape.tf.composites import (
    RaggedTensor as RaggedTensor,
    SparseTensor as SparseTensor,
)
from minitape.tf.creation import (
    eye as eye,
    fill as fill,
    linspace as linspace,
    one_hot as one_hot,
    ones as ones,
    ones_like as ones_like,
    range as range,
    zeros as zeros,
    zeros_like as zeros_like,
)
from minitape.tf.elementwise import (
    abs as abs,
    atan2 as atan2,
    cast as cast,
    clip_by_value as clip_by_value,
    divide as divide,
    logical_and as logical_and,
    logical_not as logical_not,
    round as round,
    sign as sign,
    where as where,
)
from minitape.tf.indexing import (
    boolean_mask as boolean_mask,
    gather as gather,
    gather_nd as gather_nd,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
    unique as unique,
)
from minitape.tf.module import (
    Module as Module,
)
from minitape.tf.printing import (
    print_ as _print,
)
from minitape.tf.products import (
    matmul as matmul,
    norm as norm,
    tensordot as tensordot,
)
from minitape.tf.reductions import (
    add_n as add_n,
    argsort as argsort,
    sort as sort,
)
from minitape.tf.tensorflow1 import (
    py_func as py_func,
)
from typing import (
    Any as _Any,
)
Variable = _Variable
print = _print
__version__: str
def acos(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse cosine, in radians, elementwise."""
def acosh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse hyperbolic cosine, elementwise."""
def add(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x + y, elementwise for shapes that broadcast."""
def argmax(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """Return the position of the largest element along an axis."""
def argmin(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """Return the position of the smallest element along an axis."""
def asin(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse sine, in radians, elementwise."""
def asinh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse hyperbolic sine, elementwise."""
def atan(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse tangent, in radians, elementwise."""
def atanh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the inverse hyperbolic tangent, elementwise."""
def cos(x: _Any, name: str | None = None) -> _Tensor:
    """Return the cosine of x in radians, elementwise."""
def cosh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the hyperbolic cosine, elementwise."""
def equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x == y, elementwise for shapes that broadcast."""
def exp(x: _Any, name: str | None = None) -> _Tensor:
    """Return e to the power x, elementwise."""
def floor(x: _Any, name: str | None = None) -> _Tensor:
    """Return the largest integer not above x, elementwise."""
def floordiv(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return floor(x / y), elementwise for shapes that broadcast."""
def greater(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x > y, elementwise for shapes that broadcast."""
def greater_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x >= y, elementwise for shapes that broadcast."""
def less(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x < y, elementwise for shapes that broadcast."""
def less_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x <= y, elementwise for shapes that broadcast."""
def maximum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return the larger of x and y, elementwise for shapes that broadcast."""
def minimum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return the smaller of x and y, elementwise for shapes that broadcast."""
def multiply(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x * y, elementwise for shapes that broadcast."""
def neg(x: _Any, name: str | None = None) -> _Tensor:
    """Return -x, elementwise."""
def negative(x: _Any, name: str | None = None) -> _Tensor:
    """Return -x, elementwise."""
def not_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return whether x != y, elementwise for shapes that broadcast."""
def pow(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x to the power y, elementwise for shapes that broadcast."""
def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return whether all elements are true along the given axes."""
def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return whether any element is true along the given axes."""
def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the largest element along the given axes."""
def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the mean along the given axes."""
def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the smallest element along the given axes."""
def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Return the sum along the given axes."""
def sigmoid(x: _Any, name: str | None = None) -> _Tensor:
    """Return 1 / (1 + exp(-x)), elementwise."""
def sin(x: _Any, name: str | None = None) -> _Tensor:
    """Return the sine of x in radians, elementwise."""
def sinh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the hyperbolic sine, elementwise."""
def sqrt(x: _Any, name: str | None = None) -> _Tensor:
    """Return the square root, elementwise."""
def square(x: _Any, name: str | None = None) -> _Tensor:
    """Return x * x, elementwise."""
def subtract(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Return x - y, elementwise for shapes that broadcast."""
def tan(x: _Any, name: str | None = None) -> _Tensor:
    """Return the tangent of x in radians, elementwise."""
def tanh(x: _Any, name: str | None = None) -> _Tensor:
    """Return the hyperbolic tangent, elementwise."""
