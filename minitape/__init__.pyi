"""The names of `tf`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape import (
    compat as compat,
    explain as explain,
    keras as keras,
)
from minitape.compat.v1.legacy import (
    py_func as py_func,
)
from minitape.engine.backward import (
    UnconnectedGradients as UnconnectedGradients,
)
from minitape.engine.convert import (
    constant as constant,
    converted as _convert_to_tensor,
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from minitape.engine.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from minitape.engine.distribution import (
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)
from minitape.engine.dtypes import (
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
    qint16 as qint16,
    qint32 as qint32,
    qint8 as qint8,
    quint16 as quint16,
    quint8 as quint8,
    resource as resource,
    string as string,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    uint8 as uint8,
    variant as variant,
)
from minitape.engine.pyfunction import (
    numpy_function as numpy_function,
    py_function as py_function,
)
from minitape.engine.registry import (
    RegisterGradient as RegisterGradient,
    no_gradient as no_gradient,
)
from minitape.engine.shape import (
    TensorShape as TensorShape,
)
from minitape.engine.slices import (
    IndexedSlices as IndexedSlices,
)
from minitape.engine.tape import (
    GradientTape as GradientTape,
)
from minitape.engine.tensor import (
    Tensor as _Tensor,
    Tensor as Tensor,
)
from minitape.engine.variable import (
    Variable as Variable,
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
from minitape.graphs.devices import (
    device as device,
    get_logger as get_logger,
    timestamp as timestamp,
)
from minitape.graphs.function import (
    function as function,
)
from minitape.graphs.gates import (
    group as group,
    no_op as no_op,
    tuple as tuple,
)
from minitape.graphs.gradients import (
    gradients as gradients,
    hessians as hessians,
)
from minitape.graphs.mapping import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
    vectorized_map as vectorized_map,
)
from minitape.graphs.scopes import (
    control_dependencies as control_dependencies,
    executing_eagerly as executing_eagerly,
    get_current_name_scope as get_current_name_scope,
    init_scope as init_scope,
    inside_function as inside_function,
    name_scope as name_scope,
)
from minitape.graphs.session import (
    Session as Session,
    get_default_graph as get_default_graph,
)
from minitape.graphs.spec import (
    TensorSpec as TensorSpec,
    type_spec_from_value as type_spec_from_value,
)
from minitape.graphs.symbolic import (
    Operation as Operation,
)
from minitape.graphs.whiles import (
    while_loop as while_loop,
)
from minitape.keras import (
    initializers as initializers,
    losses as losses,
    metrics as metrics,
    optimizers as optimizers,
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
    shape as shape,
    shape_n as shape_n,
    size as size,
    squeeze as squeeze,
    stop_gradient as stop_gradient,
    transpose as transpose,
)
from minitape.ops.assertions import (
    Assert as Assert,
    assert_rank as assert_rank,
)
from minitape.ops.blocks import (
    batch_to_space as batch_to_space,
    space_to_batch_nd as space_to_batch_nd,
)
from minitape.ops.casts import (
    bitcast as bitcast,
    cast as cast,
    saturate_cast as saturate_cast,
)
from minitape.ops.clipping import (
    add_n as add_n,
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    clip_by_value as clip_by_value,
)
from minitape.ops.complexes import (
    complex as complex,
)
from minitape.ops.counting import (
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
)
from minitape.ops.elementwise import (
    abs as abs,
    add as add,
    divide as divide,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    round as round,
    scalar_mul as scalar_mul,
    sign as sign,
    truediv as truediv,
)
from minitape.ops.filling import (
    eye as eye,
    fill as fill,
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
from minitape.ops.introspection import (
    get_static_value as get_static_value,
    is_symbolic_tensor as is_symbolic_tensor,
    is_tensor as is_tensor,
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
)
from minitape.ops.joining import (
    concat as concat,
    pad as pad,
    parallel_stack as parallel_stack,
    repeat as repeat,
    split as split,
    stack as stack,
    tile as tile,
    unstack as unstack,
)
from minitape.ops.picking import (
    boolean_mask as boolean_mask,
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
    gather as gather,
    gather_nd as gather_nd,
    sequence_mask as sequence_mask,
    unique as unique,
    unique_with_counts as unique_with_counts,
    unravel_index as unravel_index,
    where as where,
)
from minitape.ops.printing import (
    print_ as _print,
)
from minitape.ops.reductions import (
    cumsum as cumsum,
    reduce_logsumexp as reduce_logsumexp,
)
from minitape.ops.reversing import (
    reverse as reverse,
    reverse_sequence as reverse_sequence,
    roll as roll,
)
from minitape.ops.scatter import (
    scatter_nd as scatter_nd,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
)
from minitape.ops.sorting import (
    argsort as argsort,
    searchsorted as searchsorted,
    sort as sort,
)
from minitape.picture.drawing import (
    draw as draw,
)
from minitape.picture.snapshots import (
    snapshot as snapshot,
)
from minitape.tf import (
    autodiff as autodiff,
    autograph as autograph,
    bitwise as bitwise,
    config as config,
    data as data,
    debugging as debugging,
    dtypes as dtypes,
    errors as errors,
    experimental as experimental,
    image as image,
    io as io,
    linalg as linalg,
    lookup as lookup,
    math as math,
    nest as nest,
    nn as nn,
    python as python,
    ragged as ragged,
    random as random,
    saved_model as saved_model,
    sets as sets,
    signal as signal,
    sparse as sparse,
    strings as strings,
    summary as summary,
    test as test,
    train as train,
    types as types,
    version as version,
)
from minitape.tf.image.patches import (
    extract_volume_patches as extract_volume_patches,
)
from minitape.tf.initial import (
    Constant as _constant_initializer,
    Ones as _ones_initializer,
    RandomNormal as _random_normal_initializer,
    RandomUniform as _random_uniform_initializer,
    Zeros as _zeros_initializer,
)
from minitape.tf.linalg.factors import (
    eig as eig,
    eigvals as eigvals,
    sqrtm as _matrix_square_root,
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
from minitape.tf.ragged.spec import (
    RaggedTensorSpec as RaggedTensorSpec,
)
from minitape.tf.ragged.tensor import (
    RaggedTensor as RaggedTensor,
)
from minitape.tf.random.permuted import (
    random_index_shuffle as random_index_shuffle,
)
from minitape.tf.sparse.sets import (
    edit_distance as edit_distance,
)
from minitape.tf.sparse.tensor import (
    SparseTensor as SparseTensor,
    SparseTensorSpec as SparseTensorSpec,
)
from minitape.tf.strings.spelling import (
    as_string as as_string,
)
def acos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse cosine, in radians."""

def acosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic cosine; NaN below 1."""

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

constant_initializer = _constant_initializer
convert_to_tensor = _convert_to_tensor
def cos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: cosine of x in radians."""

def cosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic cosine."""

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

def linspace(start: _Any, stop: _Any, num: _Any, name: _Any = None, axis: _Any = 0) -> _Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both included, along a new axis."""

matrix_square_root = _matrix_square_root
def maximum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: larger one; where they are equal the gradient goes to x."""

def minimum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: smaller one; where they are equal the gradient goes to x."""

def multiply(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * y."""

def neg(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: -x."""

def negative(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: -x."""

def not_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x != y."""

ones_initializer = _ones_initializer
def pow(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x to the power y; InvalidArgumentError for negative integer powers of integers."""

print = _print
random_normal_initializer = _random_normal_initializer
random_uniform_initializer = _random_uniform_initializer
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
def space_to_batch(input: _Any, block_shape: _Any, paddings: _Any, name: _Any = None) -> _Tensor:
    """Makes a batch of each place in the blocks of ``block_shape`` that cover the axes after the first."""

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

def truncatediv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / y rounded towards 0; no gradient."""

def truncatemod(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: remainder of truncatediv, with the sign of x."""

zeros_initializer = _zeros_initializer
__version__: str
