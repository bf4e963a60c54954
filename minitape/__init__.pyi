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
    """The inverse cosine, in radians, elementwise. Differentiable: -g * (1 / sqrt(1 - x * x))."""
def acosh(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse hyperbolic cosine; NaN below 1, elementwise. Differentiable: g / sinh(z)."""
def add(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x + y; joins strings, elementwise for shapes that broadcast. Differentiable: g; g."""
def argmax(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """The position of the largest element along ``axis`` (the first axis for None); the first of equal ones."""
def argmin(input: _Any, axis: _Any = None, output_type: _Any = ..., name: str | None = None) -> _Tensor:
    """The position of the smallest element along ``axis`` (the first axis for None); the first of equal ones."""
def asin(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse sine, in radians, elementwise. Differentiable: g * (1 / sqrt(1 - x * x))."""
def asinh(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse hyperbolic sine, elementwise. Differentiable: g / cosh(z)."""
def atan(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse tangent, in radians, elementwise. Differentiable: g * (1 / (1 + x * x))."""
def atanh(x: _Any, name: str | None = None) -> _Tensor:
    """The inverse hyperbolic tangent, elementwise. Differentiable: g * (1 / (1 - x * x))."""
def cos(x: _Any, name: str | None = None) -> _Tensor:
    """The cosine of x in radians, elementwise. Differentiable: -g * sin(x)."""
def cosh(x: _Any, name: str | None = None) -> _Tensor:
    """The hyperbolic cosine, elementwise. Differentiable: g * sinh(x)."""
def equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x == y, elementwise for shapes that broadcast. Not differentiable."""
def exp(x: _Any, name: str | None = None) -> _Tensor:
    """e to the power x, elementwise. Differentiable: g * z."""
def floor(x: _Any, name: str | None = None) -> _Tensor:
    """The largest integer not above x, elementwise. Not differentiable."""
def floordiv(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """floor(x / y); integers must not be divided by 0, elementwise for shapes that broadcast. Not differentiable."""
def greater(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x > y, elementwise for shapes that broadcast. Not differentiable."""
def greater_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x >= y, elementwise for shapes that broadcast. Not differentiable."""
def less(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x < y, elementwise for shapes that broadcast. Not differentiable."""
def less_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x <= y, elementwise for shapes that broadcast. Not differentiable."""
def maximum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The larger one; where equal the gradient goes to x, elementwise for shapes that broadcast. Differentiable:
    select(x >= y, g, 0); select(x >= y, 0, g)."""
def minimum(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """The smaller one; where equal the gradient goes to x, elementwise for shapes that broadcast. Differentiable:
    select(x <= y, g, 0); select(x <= y, 0, g)."""
def multiply(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x * y, elementwise for shapes that broadcast. Differentiable: g * y; g * x."""
def neg(x: _Any, name: str | None = None) -> _Tensor:
    """-x, elementwise. Differentiable: -g."""
def negative(x: _Any, name: str | None = None) -> _Tensor:
    """-x, elementwise. Differentiable: -g."""
def not_equal(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """Whether x != y, elementwise for shapes that broadcast. Not differentiable."""
def pow(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x to the power y; of integers y must not be negative, elementwise for shapes that broadcast. Differentiable: g *
    y * pow(x, y - 1); g * z * select(x > 0, log(select(x > 0, x, 1)), 0)."""
def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Whether all are true over the axes in ``axis`` (all of them for None). Not differentiable."""
def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """Whether any is true over the axes in ``axis`` (all of them for None). Not differentiable."""
def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The largest element; equal ones share the gradient over the axes in ``axis`` (all of them for None).
    Differentiable."""
def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The mean (of ints an int) over the axes in ``axis`` (all of them for None). Differentiable."""
def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The smallest element; equal ones share the gradient over the axes in ``axis`` (all of them for None).
    Differentiable."""
def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _bool = False, name: str | None = None) -> _Tensor:
    """The sum over the axes in ``axis`` (all of them for None). Differentiable."""
def sigmoid(x: _Any, name: str | None = None) -> _Tensor:
    """1 / (1 + exp(-x)), elementwise. Differentiable: g * z * (1 - z)."""
def sin(x: _Any, name: str | None = None) -> _Tensor:
    """The sine of x in radians, elementwise. Differentiable: g * cos(x)."""
def sinh(x: _Any, name: str | None = None) -> _Tensor:
    """The hyperbolic sine, elementwise. Differentiable: g * cosh(x)."""
def sqrt(x: _Any, name: str | None = None) -> _Tensor:
    """The square root; the gradient is 0 where the incoming one is 0, elementwise. Differentiable: sqrt_share(z, g)."""
def square(x: _Any, name: str | None = None) -> _Tensor:
    """x * x, elementwise. Differentiable: g * (2 * x)."""
def subtract(x: _Any, y: _Any, name: str | None = None) -> _Tensor:
    """x - y, elementwise for shapes that broadcast. Differentiable: g; -g."""
def tan(x: _Any, name: str | None = None) -> _Tensor:
    """The tangent of x in radians, elementwise. Differentiable: g * (1 + z * z)."""
def tanh(x: _Any, name: str | None = None) -> _Tensor:
    """The hyperbolic tangent, elementwise. Differentiable: g * (1 - z * z)."""
