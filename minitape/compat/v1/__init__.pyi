"""The names of `tf.compat.v1`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape import (
    compat as compat,
    keras as keras,
)
from minitape.compat.v1 import (
    debugging as debugging,
    initializers as initializers,
    linalg as linalg,
    logging as logging,
    losses as losses,
    math as math,
    nn as nn,
    ragged as ragged,
    random as random,
    sparse as sparse,
    strings as strings,
    test as test,
    train as train,
)
from minitape.compat.v1.collections import (
    GraphKeys as GraphKeys,
    add_to_collection as add_to_collection,
    assign as assign,
    assign_add as assign_add,
    assign_sub as assign_sub,
    get_collection as get_collection,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    local_variables as local_variables,
    local_variables_initializer as local_variables_initializer,
    tables_initializer as tables_initializer,
    trainable_variables as trainable_variables,
    variables_initializer as variables_initializer,
)
from minitape.compat.v1.composites import (
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor,
    sparse_placeholder as sparse_placeholder,
    sparse_to_dense as sparse_to_dense,
)
from minitape.compat.v1.control import (
    cond as cond,
    gradients as gradients,
    while_loop as while_loop,
)
from minitape.compat.v1.initial import (
    constant_initializer as constant_initializer,
    glorot_normal_initializer as glorot_normal_initializer,
    glorot_uniform_initializer as glorot_uniform_initializer,
    ones_initializer as ones_initializer,
    orthogonal_initializer as orthogonal_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    truncated_normal_initializer as truncated_normal_initializer,
    uniform_unit_scaling_initializer as uniform_unit_scaling_initializer,
    variance_scaling_initializer as variance_scaling_initializer,
    zeros_initializer as zeros_initializer,
)
from minitape.compat.v1.legacy import (
    batch_gather as batch_gather,
    batch_to_space as batch_to_space,
    clip_by_average_norm as clip_by_average_norm,
    constant as constant,
    container as container,
    disable_eager_execution as disable_eager_execution,
    enable_eager_execution as enable_eager_execution,
    executing_eagerly_outside_functions as executing_eagerly_outside_functions,
    multinomial as multinomial,
    name_scope as name_scope,
    op_scope as op_scope,
    py_func as py_func,
    set_random_seed as set_random_seed,
    setdiff1d as setdiff1d,
    space_to_batch as space_to_batch,
    where as where,
)
from minitape.compat.v1.state import (
    batch_scatter_update as batch_scatter_update,
    count_up_to as count_up_to,
    div as div,
    is_variable_initialized as is_variable_initialized,
    report_uninitialized_variables as report_uninitialized_variables,
)
from minitape.compat.v1.variables import (
    AUTO_REUSE as AUTO_REUSE,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    variable_scope as variable_scope,
)
from minitape.engine.backward import (
    UnconnectedGradients as UnconnectedGradients,
)
from minitape.engine.convert import (
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from minitape.engine.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from minitape.engine.dimension import (
    Dimension as Dimension,
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
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
)
from minitape.graphs.mapping import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
    vectorized_map as vectorized_map,
)
from minitape.graphs.options import (
    ConfigProto as ConfigProto,
    GPUOptions as GPUOptions,
    RunOptions as RunOptions,
)
from minitape.graphs.scopes import (
    control_dependencies as control_dependencies,
    executing_eagerly as executing_eagerly,
    init_scope as init_scope,
)
from minitape.graphs.session import (
    InteractiveSession as InteractiveSession,
    Session as Session,
    get_default_graph as get_default_graph,
    get_default_session as get_default_session,
    placeholder as placeholder,
    placeholder_with_default as placeholder_with_default,
    reset_default_graph as reset_default_graph,
)
from minitape.graphs.spec import (
    TensorSpec as TensorSpec,
    type_spec_from_value as type_spec_from_value,
)
from minitape.graphs.symbolic import (
    Operation as Operation,
)
from minitape.ops.arrays import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
    broadcast_to as broadcast_to,
    ensure_shape as ensure_shape,
    identity as identity,
    identity_n as identity_n,
    newaxis as newaxis,
    rank as rank,
    reshape as reshape,
    shape_n as shape_n,
    stop_gradient as stop_gradient,
)
from minitape.ops.assertions import (
    Assert as Assert,
)
from minitape.ops.blocks import (
    batch_to_space as _batch_to_space_nd,
    space_to_batch_nd as space_to_batch_nd,
)
from minitape.ops.casts import (
    bitcast as bitcast,
    cast as cast,
    saturate_cast as saturate_cast,
)
from minitape.ops.clipping import (
    accumulate_n as accumulate_n,
    add_n as add_n,
    clip_by_global_norm as clip_by_global_norm,
    clip_by_norm as clip_by_norm,
    clip_by_value as clip_by_value,
    global_norm as global_norm,
)
from minitape.ops.complexes import (
    angle as angle,
    complex as complex,
    conj as conj,
    imag as imag,
    real as real,
)
from minitape.ops.counting import (
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
)
from minitape.ops.elementwise import (
    abs as abs,
    add as add,
    betainc as betainc,
    divide_no_nan as _div_no_nan,
    divide as divide,
    lbeta as lbeta,
    log_sigmoid as log_sigmoid,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    round as round,
    scalar_mul as scalar_mul,
    sign as sign,
    squared_difference as squared_difference,
    truediv as truediv,
)
from minitape.ops.filling import (
    eye as eye,
    fill as fill,
    meshgrid as meshgrid,
    one_hot as one_hot,
    ones as ones,
    range as range,
    zeros as zeros,
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
    parallel_stack as parallel_stack,
    repeat as repeat,
    split as split,
    stack as stack,
    tile as tile,
    unstack as unstack,
)
from minitape.ops.picking import (
    dynamic_partition as dynamic_partition,
    dynamic_stitch as dynamic_stitch,
    sequence_mask as sequence_mask,
    unique as unique,
    unique_with_counts as unique_with_counts,
    unravel_index as unravel_index,
)
from minitape.ops.printing import (
    print_ as _print,
)
from minitape.ops.reductions import (
    cumprod as cumprod,
    cumsum as cumsum,
)
from minitape.ops.reversing import (
    reverse as reverse,
    reverse as _reverse_v2,
    roll as roll,
)
from minitape.ops.scatter import (
    scatter_nd as scatter_nd,
    tensor_scatter_nd_add as _tensor_scatter_add,
    tensor_scatter_nd_add as tensor_scatter_nd_add,
    tensor_scatter_nd_max as tensor_scatter_nd_max,
    tensor_scatter_nd_min as tensor_scatter_nd_min,
    tensor_scatter_nd_sub as tensor_scatter_nd_sub,
    tensor_scatter_nd_update as tensor_scatter_nd_update,
    tensor_scatter_nd_sub as _tensor_scatter_sub,
    tensor_scatter_nd_update as _tensor_scatter_update,
)
from minitape.ops.sorting import (
    argsort as argsort,
    invert_permutation as invert_permutation,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    searchsorted as searchsorted,
    sort as sort,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
)
from minitape.tf import (
    autograph as autograph,
    bitwise as bitwise,
    config as config,
    data as data,
    dtypes as dtypes,
    errors as errors,
    experimental as experimental,
    image as image,
    io as io,
    lookup as lookup,
    nest as nest,
    saved_model as saved_model,
    sets as sets,
    signal as signal,
    summary as summary,
    types as types,
    version as version,
)
from minitape.tf.debugging import (
    assert_integer as assert_integer,
    assert_proper_iterable as assert_proper_iterable,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_type as assert_type,
    check_numerics as check_numerics,
)
from minitape.tf.image.patches import (
    extract_volume_patches as extract_volume_patches,
)
from minitape.tf.linalg.decompositions import (
    cholesky as cholesky,
    cholesky_solve as cholesky_solve,
    cross as cross,
    tensor_diag as _diag,
    tensor_diag_part as _diag_part,
    band_part as _matrix_band_part,
    det as _matrix_determinant,
    diag as _matrix_diag,
    diag_part as _matrix_diag_part,
    inv as _matrix_inverse,
    set_diag as _matrix_set_diag,
    solve as _matrix_solve,
    lstsq as _matrix_solve_ls,
    matrix_transpose as matrix_transpose,
    triangular_solve as _matrix_triangular_solve,
    qr as qr,
    eigh as _self_adjoint_eig,
    eigvalsh as _self_adjoint_eigvals,
    svd as svd,
    trace as trace,
)
from minitape.tf.linalg.factors import (
    sqrtm as _matrix_square_root,
)
from minitape.tf.linalg.products import (
    einsum as einsum,
    matmul as matmul,
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
from minitape.tf.random.stateful import (
    gamma as _random_gamma,
    normal as _random_normal,
    shuffle as _random_shuffle,
    uniform as _random_uniform,
    truncated_normal as truncated_normal,
)
from minitape.tf.signal.fourier import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
)
from minitape.tf.sparse.arithmetic import (
    maximum as _sparse_maximum,
    minimum as _sparse_minimum,
    softmax as _sparse_softmax,
    sparse_dense_matmul as _sparse_tensor_dense_matmul,
)
from minitape.tf.sparse.functions import (
    fill_empty_rows as _sparse_fill_empty_rows,
    mask as _sparse_mask,
    reorder as _sparse_reorder,
    reset_shape as _sparse_reset_shape,
    reshape as _sparse_reshape,
    retain as _sparse_retain,
    slice as _sparse_slice,
    to_dense as _sparse_tensor_to_dense,
    to_indicator as _sparse_to_indicator,
    transpose as _sparse_transpose,
)
from minitape.tf.sparse.sets import (
    edit_distance as edit_distance,
)
from minitape.tf.sparse.tensor import (
    SparseTensor as SparseTensor,
    SparseTensorSpec as SparseTensorSpec,
    SparseTensorValue as SparseTensorValue,
)
from minitape.tf.strings.encoding import (
    decode_base64 as decode_base64,
    decode_raw as decode_raw,
    encode_base64 as encode_base64,
)
from minitape.tf.strings.joining import (
    join as _string_join,
)
from minitape.tf.strings.matching import (
    regex_replace as regex_replace,
    to_hash_bucket_fast as _string_to_hash_bucket_fast,
    to_hash_bucket_strong as _string_to_hash_bucket_strong,
)
from minitape.tf.strings.pieces import (
    strip as _string_strip,
)
from minitape.tf.strings.spelling import (
    as_string as as_string,
)
def acos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse cosine, in radians."""

def acosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic cosine; NaN below 1."""

def all_variables(scope: _Any = None) -> _Any:
    """The variables of the default graph."""

def arg_max(input: _Any = None, dimension: _Any = None, output_type: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.math.argmax``, with the arguments of TensorFlow 1: ``input``, ``dimension``, ``output_type``, ``name``."""

def arg_min(input: _Any = None, dimension: _Any = None, output_type: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.math.argmin``, with the arguments of TensorFlow 1: ``input``, ``dimension``, ``output_type``, ``name``."""

def argmax(input: _Any = None, axis: _Any = None, name: _Any = None, dimension: _Any = None, output_type: _Any = None) -> _Any:
    """As ``tf.math.argmax``, with the arguments of TensorFlow 1: ``input``, ``axis``, ``name``, ``dimension``, ``output_type``."""

def argmin(input: _Any = None, axis: _Any = None, name: _Any = None, dimension: _Any = None, output_type: _Any = None) -> _Any:
    """As ``tf.math.argmin``, with the arguments of TensorFlow 1: ``input``, ``axis``, ``name``, ``dimension``, ``output_type``."""

def asin(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse sine, in radians."""

def asinh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic sine."""

def assert_equal(x: _Any = None, y: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_equal``, with the arguments of TensorFlow 1: ``x``, ``y``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_greater(x: _Any = None, y: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_greater``, with the arguments of TensorFlow 1: ``x``, ``y``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_greater_equal(x: _Any = None, y: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_greater_equal``, with the arguments of TensorFlow 1: ``x``, ``y``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_less(x: _Any = None, y: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_less``, with the arguments of TensorFlow 1: ``x``, ``y``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_less_equal(x: _Any = None, y: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_less_equal``, with the arguments of TensorFlow 1: ``x``, ``y``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_near(x: _Any = None, y: _Any = None, rtol: _Any = None, atol: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_near``, with the arguments of TensorFlow 1: ``x``, ``y``, ``rtol``, ``atol``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_negative(x: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_negative``, with the arguments of TensorFlow 1: ``x``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_non_negative(x: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_non_negative``, with the arguments of TensorFlow 1: ``x``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_non_positive(x: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_non_positive``, with the arguments of TensorFlow 1: ``x``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_none_equal(x: _Any = None, y: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_none_equal``, with the arguments of TensorFlow 1: ``x``, ``y``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_positive(x: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_positive``, with the arguments of TensorFlow 1: ``x``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_rank(x: _Any = None, rank: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_rank``, with the arguments of TensorFlow 1: ``x``, ``rank``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_rank_at_least(x: _Any = None, rank: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_rank_at_least``, with the arguments of TensorFlow 1: ``x``, ``rank``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_rank_in(x: _Any = None, ranks: _Any = None, data: _Any = None, summarize: _Any = None, message: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.debugging.assert_rank_in``, with the arguments of TensorFlow 1: ``x``, ``ranks``, ``data``, ``summarize``, ``message``, ``name``."""

def assert_scalar(tensor: _Any = None, name: _Any = None, message: _Any = None) -> _Any:
    """As ``tf.debugging.assert_scalar``, with the arguments of TensorFlow 1: ``tensor``, ``name``, ``message``."""

def atan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse tangent, in radians."""

def atan2(y: _Any, x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: angle of the point (x, y), in radians."""

def atanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: inverse hyperbolic tangent."""

batch_to_space_nd = _batch_to_space_nd
def bincount(arr: _Any = None, weights: _Any = None, minlength: _Any = None, maxlength: _Any = None, dtype: _Any = None) -> _Any:
    """As ``tf.math.bincount``, with the arguments of TensorFlow 1: ``arr``, ``weights``, ``minlength``, ``maxlength``, ``dtype``."""

def boolean_mask(tensor: _Any = None, mask: _Any = None, name: _Any = None, axis: _Any = None) -> _Any:
    """As ``tf.boolean_mask``, with the arguments of TensorFlow 1: ``tensor``, ``mask``, ``name``, ``axis``."""

def ceil(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: smallest integer not below x; no gradient."""

def confusion_matrix(labels: _Any = None, predictions: _Any = None, num_classes: _Any = None, dtype: _Any = None, name: _Any = None, weights: _Any = None) -> _Any:
    """As ``tf.math.confusion_matrix``, with the arguments of TensorFlow 1: ``labels``, ``predictions``, ``num_classes``, ``dtype``, ``name``, ``weights``."""

def convert_to_tensor(value: _Any = None, dtype: _Any = None, name: _Any = None, preferred_dtype: _Any = None, dtype_hint: _Any = None) -> _Any:
    """As ``tf.convert_to_tensor``, with the arguments of TensorFlow 1: ``value``, ``dtype``, ``name``, ``preferred_dtype``, ``dtype_hint``."""

def cos(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: cosine of x in radians."""

def cosh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic cosine."""

def count_nonzero(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, dtype: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None, input: _Any = None) -> _Any:
    """As ``tf.math.count_nonzero``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``dtype``, ``name``, ``reduction_indices``, ``keep_dims``, ``input``."""

def depth_to_space(input: _Any = None, block_size: _Any = None, name: _Any = None, data_format: _Any = None) -> _Any:
    """As ``tf.nn.depth_to_space``, with the arguments of TensorFlow 1: ``input``, ``block_size``, ``name``, ``data_format``."""

diag = _diag
diag_part = _diag_part
def digamma(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: derivative of lgamma."""

def disable_v2_behavior() -> None:
    """Operations from now on are added to the default graph of this thread. Only at the start of a program."""

div_no_nan = _div_no_nan
def enable_v2_behavior(config: _Any = None, device_policy: _Any = None, execution_mode: _Any = None) -> None:
    """Operations from now on compute at once, which is the default."""

def equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x == y (InvalidArgumentError when the shapes do not broadcast)."""

def erf(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: error function."""

def erfc(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: complementary error function, 1 - erf(x)."""

def exp(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: e to the power x."""

def expand_dims(input: _Any = None, axis: _Any = None, name: _Any = None, dim: _Any = None) -> _Any:
    """As ``tf.expand_dims``, with the arguments of TensorFlow 1: ``input``, ``axis``, ``name``, ``dim``."""

def expm1(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: exp(x) - 1, accurate near 0."""

def floor(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: largest integer not above x; no gradient."""

def floor_div(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: floor(x / y); no gradient; InvalidArgumentError for integers divided by 0."""

def floordiv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: floor(x / y); no gradient; InvalidArgumentError for integers divided by 0."""

def floormod(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: remainder of floordiv, with the sign of y."""

def gather(params: _Any = None, indices: _Any = None, validate_indices: _Any = None, name: _Any = None, axis: _Any = None, batch_dims: _Any = None) -> _Any:
    """As ``tf.gather``, with the arguments of TensorFlow 1: ``params``, ``indices``, ``validate_indices``, ``name``, ``axis``, ``batch_dims``."""

def gather_nd(params: _Any = None, indices: _Any = None, name: _Any = None, batch_dims: _Any = None, bad_indices_policy: _Any = None) -> _Any:
    """As ``tf.gather_nd``, with the arguments of TensorFlow 1: ``params``, ``indices``, ``name``, ``batch_dims``, ``bad_indices_policy``."""

def greater(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x > y."""

def greater_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x >= y."""

def hessians(ys: _Any = None, xs: _Any = None, name: _Any = None, colocate_gradients_with_ops: _Any = None, gate_gradients: _Any = None, aggregation_method: _Any = None) -> _Any:
    """As ``tf.hessians``, with the arguments of TensorFlow 1: ``ys``, ``xs``, ``name``, ``colocate_gradients_with_ops``, ``gate_gradients``, ``aggregation_method``."""

def igamma(a: _Any, x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: lower regularised incomplete Gamma function P(a, x)."""

def igammac(a: _Any, x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: upper regularised incomplete Gamma function Q(a, x)."""

def initialize_all_variables() -> _Any:
    """An operation that gives all variables of the graph their initial values."""

def is_finite(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x is neither infinite nor NaN."""

def is_inf(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x is infinite."""

def is_nan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x is NaN."""

def less(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x < y."""

def less_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x <= y."""

def lgamma(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: log of the absolute value of the Gamma function."""

def lin_space(start: _Any, stop: _Any, num: _Any, name: _Any = None, axis: _Any = 0) -> _Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both included, along a new axis."""

def linspace(start: _Any, stop: _Any, num: _Any, name: _Any = None, axis: _Any = 0) -> _Tensor:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, both included, along a new axis."""

def log(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: natural logarithm; the gradient at 0 is infinite."""

def log1p(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: log(1 + x), accurate near 0."""

matrix_band_part = _matrix_band_part
matrix_determinant = _matrix_determinant
matrix_diag = _matrix_diag
matrix_diag_part = _matrix_diag_part
matrix_inverse = _matrix_inverse
matrix_set_diag = _matrix_set_diag
matrix_solve = _matrix_solve
matrix_solve_ls = _matrix_solve_ls
matrix_square_root = _matrix_square_root
matrix_triangular_solve = _matrix_triangular_solve
def maximum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: larger one; where they are equal the gradient goes to x."""

def minimum(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: smaller one; where they are equal the gradient goes to x."""

def mod(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: remainder of floordiv, with the sign of y."""

def multiply(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * y."""

def negative(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: -x."""

def norm(tensor: _Any = None, ord: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.linalg.norm``, with the arguments of TensorFlow 1: ``tensor``, ``ord``, ``axis``, ``keepdims``, ``name``, ``keep_dims``."""

def not_equal(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: whether x != y."""

def ones_like(tensor: _Any = None, dtype: _Any = None, name: _Any = None, optimize: _Any = None) -> _Any:
    """As ``tf.ones_like``, with the arguments of TensorFlow 1: ``tensor``, ``dtype``, ``name``, ``optimize``."""

def pad(tensor: _Any = None, paddings: _Any = None, mode: _Any = None, name: _Any = None, constant_values: _Any = None) -> _Any:
    """As ``tf.pad``, with the arguments of TensorFlow 1: ``tensor``, ``paddings``, ``mode``, ``name``, ``constant_values``."""

def polygamma(a: _Any, x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: derivative of order a of digamma."""

def pow(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x to the power y; InvalidArgumentError for negative integer powers of integers."""

print = _print
random_gamma = _random_gamma
random_normal = _random_normal
def random_poisson(lam: _Any = None, shape: _Any = None, dtype: _Any = None, seed: _Any = None, name: _Any = None) -> _Any:
    """As ``tf.random.poisson``, with the arguments of TensorFlow 1: ``lam``, ``shape``, ``dtype``, ``seed``, ``name``."""

random_shuffle = _random_shuffle
random_uniform = _random_uniform
def realdiv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / y for floats."""

def reciprocal(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / x."""

def reduce_all(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_all``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reduce_any(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_any``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reduce_join(inputs: _Any = None, axis: _Any = None, keep_dims: _Any = None, separator: _Any = None, name: _Any = None, reduction_indices: _Any = None, keepdims: _Any = None) -> _Any:
    """As ``tf.strings.reduce_join``, with the arguments of TensorFlow 1: ``inputs``, ``axis``, ``keep_dims``, ``separator``, ``name``, ``reduction_indices``, ``keepdims``."""

def reduce_logsumexp(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_logsumexp``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reduce_max(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_max``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reduce_mean(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_mean``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reduce_min(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_min``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reduce_prod(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_prod``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reduce_sum(input_tensor: _Any = None, axis: _Any = None, keepdims: _Any = None, name: _Any = None, reduction_indices: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.math.reduce_sum``, with the arguments of TensorFlow 1: ``input_tensor``, ``axis``, ``keepdims``, ``name``, ``reduction_indices``, ``keep_dims``."""

def reverse_sequence(input: _Any = None, seq_lengths: _Any = None, seq_axis: _Any = None, batch_axis: _Any = None, name: _Any = None, seq_dim: _Any = None, batch_dim: _Any = None) -> _Any:
    """As ``tf.reverse_sequence``, with the arguments of TensorFlow 1: ``input``, ``seq_lengths``, ``seq_axis``, ``batch_axis``, ``name``, ``seq_dim``, ``batch_dim``."""

reverse_v2 = _reverse_v2
def rint(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: nearest integer, halves to the even one; no gradient."""

def rsqrt(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / sqrt(x)."""

def scatter_add(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Adds to the slices of a variable at ``indices``; the result has the new value."""

def scatter_div(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Divides the slices of a variable at ``indices``; the result has the new value."""

def scatter_max(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Keeps the larger of the updates and the slices of a variable at ``indices``; the result has the new value."""

def scatter_min(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Keeps the smaller of the updates and the slices of a variable at ``indices``; the result has the new value."""

def scatter_mul(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Multiplies the slices of a variable at ``indices``; the result has the new value."""

def scatter_nd_add(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Adds to the places of a variable that the last axis of ``indices`` lists."""

def scatter_nd_sub(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Subtracts from the places of a variable that the last axis of ``indices`` lists."""

def scatter_nd_update(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Replaces the places of a variable that the last axis of ``indices`` lists."""

def scatter_sub(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Subtracts from the slices of a variable at ``indices``; the result has the new value."""

def scatter_update(ref: _Any, indices: _Any, updates: _Any, use_locking: _Any = False, name: _Any = None) -> _Any:
    """Replaces the slices of a variable at ``indices``; the result has the new value."""

def segment_max(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The maximum of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_mean(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The mean of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_min(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The minimum of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_prod(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The product of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

def segment_sum(data: _Any, segment_ids: _Any, name: _Any = None) -> _Tensor:
    """The sum of the rows of ``data`` that share an id; ``segment_ids`` are sorted, one per row."""

self_adjoint_eig = _self_adjoint_eig
self_adjoint_eigvals = _self_adjoint_eigvals
def shape(input: _Any = None, name: _Any = None, out_type: _Any = None) -> _Any:
    """As ``tf.shape``, with the arguments of TensorFlow 1: ``input``, ``name``, ``out_type``."""

def sigmoid(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: 1 / (1 + exp(-x))."""

def sin(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: sine of x in radians."""

def sinh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic sine."""

def size(input: _Any = None, name: _Any = None, out_type: _Any = None) -> _Any:
    """As ``tf.size``, with the arguments of TensorFlow 1: ``input``, ``name``, ``out_type``."""

slice = _slice
def space_to_depth(input: _Any = None, block_size: _Any = None, name: _Any = None, data_format: _Any = None) -> _Any:
    """As ``tf.nn.space_to_depth``, with the arguments of TensorFlow 1: ``input``, ``block_size``, ``name``, ``data_format``."""

def sparse_add(a: _Any = None, b: _Any = None, threshold: _Any = None, thresh: _Any = None) -> _Any:
    """As ``tf.sparse.add``, with the arguments of TensorFlow 1: ``a``, ``b``, ``threshold``, ``thresh``."""

def sparse_concat(axis: _Any = None, sp_inputs: _Any = None, name: _Any = None, expand_nonconcat_dim: _Any = None, concat_dim: _Any = None, expand_nonconcat_dims: _Any = None) -> _Any:
    """As ``tf.sparse.concat``, with the arguments of TensorFlow 1: ``axis``, ``sp_inputs``, ``name``, ``expand_nonconcat_dim``, ``concat_dim``, ``expand_nonconcat_dims``."""

sparse_fill_empty_rows = _sparse_fill_empty_rows
sparse_mask = _sparse_mask
sparse_maximum = _sparse_maximum
sparse_minimum = _sparse_minimum
def sparse_reduce_max(sp_input: _Any = None, axis: _Any = None, keepdims: _Any = None, reduction_axes: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.sparse.reduce_max``, with the arguments of TensorFlow 1: ``sp_input``, ``axis``, ``keepdims``, ``reduction_axes``, ``keep_dims``."""

def sparse_reduce_sum(sp_input: _Any = None, axis: _Any = None, keepdims: _Any = None, reduction_axes: _Any = None, keep_dims: _Any = None) -> _Any:
    """As ``tf.sparse.reduce_sum``, with the arguments of TensorFlow 1: ``sp_input``, ``axis``, ``keepdims``, ``reduction_axes``, ``keep_dims``."""

sparse_reorder = _sparse_reorder
sparse_reset_shape = _sparse_reset_shape
sparse_reshape = _sparse_reshape
sparse_retain = _sparse_retain
def sparse_segment_mean(data: _Any = None, indices: _Any = None, segment_ids: _Any = None, name: _Any = None, num_segments: _Any = None, sparse_gradient: _Any = None) -> _Any:
    """As ``tf.sparse.segment_mean``, with the arguments of TensorFlow 1: ``data``, ``indices``, ``segment_ids``, ``name``, ``num_segments``, ``sparse_gradient``."""

def sparse_segment_sqrt_n(data: _Any = None, indices: _Any = None, segment_ids: _Any = None, name: _Any = None, num_segments: _Any = None, sparse_gradient: _Any = None) -> _Any:
    """As ``tf.sparse.segment_sqrt_n``, with the arguments of TensorFlow 1: ``data``, ``indices``, ``segment_ids``, ``name``, ``num_segments``, ``sparse_gradient``."""

def sparse_segment_sum(data: _Any = None, indices: _Any = None, segment_ids: _Any = None, name: _Any = None, num_segments: _Any = None, sparse_gradient: _Any = None) -> _Any:
    """As ``tf.sparse.segment_sum``, with the arguments of TensorFlow 1: ``data``, ``indices``, ``segment_ids``, ``name``, ``num_segments``, ``sparse_gradient``."""

sparse_slice = _sparse_slice
sparse_softmax = _sparse_softmax
def sparse_split(keyword_required: _Any = None, sp_input: _Any = None, num_split: _Any = None, axis: _Any = None, name: _Any = None, split_dim: _Any = None) -> _Any:
    """As ``tf.sparse.split``, with the arguments of TensorFlow 1: ``keyword_required``, ``sp_input``, ``num_split``, ``axis``, ``name``, ``split_dim``."""

sparse_tensor_dense_matmul = _sparse_tensor_dense_matmul
sparse_tensor_to_dense = _sparse_tensor_to_dense
sparse_to_indicator = _sparse_to_indicator
sparse_transpose = _sparse_transpose
def sqrt(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: square root; the gradient is 0 where the incoming one is 0."""

def square(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x * x."""

def squeeze(input: _Any = None, axis: _Any = None, name: _Any = None, squeeze_dims: _Any = None) -> _Any:
    """As ``tf.squeeze``, with the arguments of TensorFlow 1: ``input``, ``axis``, ``name``, ``squeeze_dims``."""

string_join = _string_join
string_strip = _string_strip
def string_to_hash_bucket(string_tensor: _Any = None, num_buckets: _Any = None, name: _Any = None, input: _Any = None) -> _Any:
    """As ``tf.strings.to_hash_bucket``, with the arguments of TensorFlow 1: ``string_tensor``, ``num_buckets``, ``name``, ``input``."""

string_to_hash_bucket_fast = _string_to_hash_bucket_fast
string_to_hash_bucket_strong = _string_to_hash_bucket_strong
def string_to_number(string_tensor: _Any = None, out_type: _Any = None, name: _Any = None, input: _Any = None) -> _Any:
    """As ``tf.strings.to_number``, with the arguments of TensorFlow 1: ``string_tensor``, ``out_type``, ``name``, ``input``."""

def substr(input: _Any = None, pos: _Any = None, len: _Any = None, name: _Any = None, unit: _Any = None) -> _Any:
    """As ``tf.strings.substr``, with the arguments of TensorFlow 1: ``input``, ``pos``, ``len``, ``name``, ``unit``."""

def subtract(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x - y."""

def tan(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: tangent of x in radians."""

def tanh(x: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: hyperbolic tangent."""

tensor_scatter_add = _tensor_scatter_add
tensor_scatter_sub = _tensor_scatter_sub
tensor_scatter_update = _tensor_scatter_update
def to_double(x: _Any, name: _Any = 'ToDouble') -> _Tensor:
    """Casts to float64."""

def to_float(x: _Any, name: _Any = 'ToFloat') -> _Tensor:
    """Casts to float32."""

def to_int32(x: _Any, name: _Any = 'ToInt32') -> _Tensor:
    """Casts to int32."""

def to_int64(x: _Any, name: _Any = 'ToInt64') -> _Tensor:
    """Casts to int64."""

def transpose(a: _Any = None, perm: _Any = None, name: _Any = None, conjugate: _Any = None) -> _Any:
    """As ``tf.transpose``, with the arguments of TensorFlow 1: ``a``, ``perm``, ``name``, ``conjugate``."""

def truncatediv(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: x / y rounded towards 0; no gradient."""

def truncatemod(x: _Any, y: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: remainder of truncatediv, with the sign of x."""

def tuple(tensors: _Any = None, name: _Any = None, control_inputs: _Any = None) -> _Any:
    """As ``tf.tuple``, with the arguments of TensorFlow 1: ``tensors``, ``name``, ``control_inputs``."""

def unsorted_segment_max(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The maximum (the lowest number if there is none) of the rows of ``data`` that share an id, for the ids below ``num_segments`` in any order."""

def unsorted_segment_min(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The minimum (the largest number if there is none) of the rows of ``data`` that share an id, for the ids below ``num_segments`` in any order."""

def unsorted_segment_prod(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The product of the rows of ``data`` that share an id, for the ids below ``num_segments`` in any order."""

def unsorted_segment_sum(data: _Any, segment_ids: _Any, num_segments: _Any, name: _Any = None) -> _Tensor:
    """The sum of the rows of ``data`` that share an id, for the ids below ``num_segments`` in any order."""

def zeros_like(tensor: _Any = None, dtype: _Any = None, name: _Any = None, optimize: _Any = None) -> _Any:
    """As ``tf.zeros_like``, with the arguments of TensorFlow 1: ``tensor``, ``dtype``, ``name``, ``optimize``."""

def zeta(x: _Any, q: _Any, name: _Any = None) -> _Tensor:
    """Computes elementwise: Hurwitz zeta function."""

