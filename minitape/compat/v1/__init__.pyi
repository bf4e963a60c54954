"""The names of `tf.compat.v1`, for editors: see `python tests/repository/make_stubs.py`."""

from typing import Any as _Any
from minitape import (
    compat as compat,
    keras as keras,
)
from minitape.compat.v1.legacy import (
    disable_eager_execution as disable_eager_execution,
    enable_eager_execution as enable_eager_execution,
    name_scope as name_scope,
    op_scope as op_scope,
    py_func as py_func,
    set_random_seed as set_random_seed,
)
from minitape.compat.v1.variables import (
    AUTO_REUSE as AUTO_REUSE,
    assign as assign,
    get_collection as get_collection,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    trainable_variables as trainable_variables,
    variable_scope as variable_scope,
)
from minitape.engine.back.endpoints import (
    UnconnectedGradients as UnconnectedGradients,
)
from minitape.engine.back.tape import (
    GradientTape as GradientTape,
)
from minitape.engine.derivatives.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from minitape.engine.derivatives.pyfunction import (
    numpy_function as numpy_function,
    py_function as py_function,
)
from minitape.engine.tensor.convert import (
    constant as constant,
    to_graph_tensor as _convert_to_tensor,
)
from minitape.engine.tensor.slices import (
    IndexedSlices as IndexedSlices,
)
from minitape.engine.tensor.tensor import (
    Tensor as _Tensor,
    Tensor as Tensor,
)
from minitape.engine.tensor.variable import (
    Variable as Variable,
)
from minitape.engine.values.dtypes import (
    DType as DType,
    as_dtype as as_dtype,
    bfloat16 as bfloat16,
    bool as bool,
    complex128 as complex128,
    complex64 as complex64,
    double as double,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    half as half,
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
from minitape.graphs.arrays import (
    TensorArray as TensorArray,
)
from minitape.graphs.build import (
    Graph as Graph,
)
from minitape.graphs.control import (
    case as case,
    cond as cond,
    switch_case as switch_case,
)
from minitape.graphs.function import (
    function as function,
)
from minitape.graphs.gradients import (
    gradients as gradients,
    hessians as hessians,
)
from minitape.graphs.mapping import (
    foldl as foldl,
    map_fn as map_fn,
    scan as scan,
    vectorized_map as vectorized_map,
)
from minitape.graphs.scopes import (
    control_dependencies as control_dependencies,
    executing_eagerly as executing_eagerly,
    init_scope as init_scope,
    no_op as no_op,
)
from minitape.graphs.session import (
    Session as Session,
    get_default_graph as get_default_graph,
    get_default_session as get_default_session,
    placeholder as placeholder,
    reset_default_graph as reset_default_graph,
)
from minitape.graphs.settings import (
    device as device,
    get_logger as get_logger,
)
from minitape.graphs.spec import (
    TensorSpec as TensorSpec,
)
from minitape.graphs.sweep import (
    RegisterGradient as RegisterGradient,
    no_gradient as no_gradient,
)
from minitape.graphs.symbolic import (
    Operation as Operation,
)
from minitape.graphs.whiles import (
    while_loop as while_loop,
)
from minitape.keras import (
    initializers as initializers,
)
from minitape.ops.arrays import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    broadcast_to as broadcast_to,
    ensure_shape as ensure_shape,
    expand_dims as expand_dims,
    identity as identity,
    identity_n as identity_n,
    newaxis as newaxis,
    rank as rank,
    reshape as reshape,
    reverse as reverse,
    roll as roll,
    shape as shape,
    size as size,
    squeeze as squeeze,
    stop_gradient as stop_gradient,
    transpose as transpose,
)
from minitape.ops.assertions import (
    Assert as Assert,
    assert_rank as assert_rank,
)
from minitape.ops.casts import (
    cast as cast,
    complex as complex,
    saturate_cast as saturate_cast,
)
from minitape.ops.clipping import (
    add_n as add_n,
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    clip_by_value as clip_by_value,
)
from minitape.ops.elementwise import (
    abs as abs,
    add as add,
    divide as divide,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    round as round,
    sign as sign,
    truediv as truediv,
)
from minitape.ops.filling import (
    eye as eye,
    fill as fill,
    linspace as linspace,
    meshgrid as meshgrid,
    one_hot as one_hot,
    ones as ones,
    ones_like as ones_like,
    range as range,
    zeros as zeros,
    zeros_like as zeros_like,
)
from minitape.ops.indexing import (
    slice_ as _slice,
    strided_slice as strided_slice,
)
from minitape.ops.joining import (
    concat as concat,
    pad as pad,
    repeat as repeat,
    split as split,
    stack as stack,
    tile as tile,
    unstack as unstack,
)
from minitape.ops.operands import (
    is_tensor as is_tensor,
)
from minitape.ops.picking import (
    boolean_mask as boolean_mask,
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
    gather as gather,
    gather_nd as gather_nd,
    scatter_nd as scatter_nd,
    sequence_mask as sequence_mask,
    unique as unique,
    unique_with_counts as unique_with_counts,
    where as where,
)
from minitape.ops.printing import (
    print_ as _print,
)
from minitape.ops.reductions import (
    cumsum as cumsum,
    reduce_logsumexp as reduce_logsumexp,
)
from minitape.ops.sorting import (
    argsort as argsort,
    histogram_fixed_width as histogram_fixed_width,
    searchsorted as searchsorted,
    sort as sort,
)
from minitape.tf import (
    autograph as autograph,
    config as config,
    data as data,
    debugging as debugging,
    dtypes as dtypes,
    errors as errors,
    linalg as linalg,
    math as math,
    nest as nest,
    nn as nn,
    ragged as ragged,
    random as random,
    sparse as sparse,
    strings as strings,
    test as test,
    version as version,
)
from minitape.tf.linalg.products import (
    einsum as einsum,
    matmul as matmul,
    norm as norm,
    tensordot as tensordot,
)
from minitape.tf.module import (
    Module as Module,
)
from minitape.tf.ragged.tensor import (
    RaggedTensor as RaggedTensor,
    RaggedTensorSpec as RaggedTensorSpec,
)
from minitape.tf.sparse.tensor import (
    SparseTensor as SparseTensor,
)
from minitape.tf.strings.functions import (
    as_string as as_string,
)
def acos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse cosine, in radians."""

def acosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic cosine; NaN below 1."""

def all_variables(scope: _Any = None) -> _Any:
    """The variables of the default graph."""

def argmax(input: _Any, axis: _Any = None, output_type: _Any = ..., name: _Any = None) -> _Any:
    """The position of the largest element along ``axis`` (the first axis for None); the first of equal ones."""

def argmin(input: _Any, axis: _Any = None, output_type: _Any = ..., name: _Any = None) -> _Any:
    """The position of the smallest element along ``axis`` (the first axis for None); the first of equal ones."""

def asin(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse sine, in radians."""

def asinh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic sine."""

def assert_equal(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x == y everywhere."""

def assert_greater(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x > y everywhere."""

def assert_less(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x < y everywhere."""

def atan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse tangent, in radians."""

def atan2(y: _Any, x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: angle of the point (x, y), in radians."""

def atanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic tangent."""

convert_to_tensor = _convert_to_tensor
def cos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: cosine of x in radians."""

def cosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic cosine."""

def disable_v2_behavior() -> None:
    """Operations from now on are added to the default graph of this thread. Only at the start of a program."""

def equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x == y (InvalidArgumentError when the shapes do not broadcast)."""

def exp(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: e to the power x."""

def floor(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: largest integer not above x; no gradient."""

def floordiv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: floor(x / y); no gradient; InvalidArgumentError for integers divided by 0."""

def greater(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x > y."""

def greater_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x >= y."""

def initialize_all_variables() -> _Any:
    """An operation that gives all variables of the graph their initial values."""

def less(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x < y."""

def less_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x <= y."""

def maximum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: larger one; where they are equal the gradient goes to x."""

def minimum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: smaller one; where they are equal the gradient goes to x."""

def multiply(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * y."""

def negative(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: -x."""

def not_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x != y."""

def pow(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x to the power y; InvalidArgumentError for negative integer powers of integers."""

print = _print
def realdiv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / y for floats."""

def reduce_all(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """Whether all are true over the axes in ``axis`` (all of them for None)."""

def reduce_any(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """Whether any is true over the axes in ``axis`` (all of them for None)."""

def reduce_max(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The largest element; its gradient is shared by equal ones over the axes in ``axis`` (all of them for None)."""

def reduce_mean(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The mean (of ints an int) over the axes in ``axis`` (all of them for None)."""

def reduce_min(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The smallest element; its gradient is shared by equal ones over the axes in ``axis`` (all of them for None)."""

def reduce_prod(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The product over the axes in ``axis`` (all of them for None)."""

def reduce_sum(input_tensor: _Any, axis: _Any = None, keepdims: _Any = False, name: _Any = None) -> _Tensor:
    """The sum over the axes in ``axis`` (all of them for None)."""

def sigmoid(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / (1 + exp(-x))."""

def sin(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: sine of x in radians."""

def sinh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic sine."""

slice = _slice
def sqrt(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: square root; the gradient is 0 where the incoming one is 0."""

def square(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * x."""

def subtract(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x - y."""

def tan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: tangent of x in radians."""

def tanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic tangent."""

def tensor_scatter_nd_add(tensor: _Any, indices: _Any, updates: _Any, name: _Any = None) -> _Tensor:
    """A copy of ``tensor`` with ``updates`` added (places may repeat) at the places that the last axis of ``indices``
    lists."""

def tensor_scatter_nd_max(tensor: _Any, indices: _Any, updates: _Any, name: _Any = None) -> _Tensor:
    """A copy of ``tensor`` with the larger of element and update at the places that the last axis of ``indices``
    lists."""

def tensor_scatter_nd_min(tensor: _Any, indices: _Any, updates: _Any, name: _Any = None) -> _Tensor:
    """A copy of ``tensor`` with the smaller of element and update at the places that the last axis of ``indices``
    lists."""

def tensor_scatter_nd_sub(tensor: _Any, indices: _Any, updates: _Any, name: _Any = None) -> _Tensor:
    """A copy of ``tensor`` with ``updates`` subtracted at the places that the last axis of ``indices`` lists."""

def tensor_scatter_nd_update(tensor: _Any, indices: _Any, updates: _Any, name: _Any = None) -> _Tensor:
    """A copy of ``tensor`` with ``updates`` at the places that the last axis of ``indices`` lists."""

def truncatediv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / y rounded towards 0; no gradient."""

def truncatemod(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: remainder of truncatediv, with the sign of x."""

