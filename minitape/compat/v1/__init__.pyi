"""The names of `tf.compat.v1`, for editors and type checkers: see `python tests/core/make_stubs.py`."""

from minitape import (
    autograph as autograph,
    bitwise as bitwise,
    compat as compat,
    config as config,
    data as data,
    dtypes as dtypes,
    errors as errors,
    experimental as experimental,
    image as image,
    io as io,
    keras as keras,
    nest as nest,
    sets as sets,
    signal as signal,
    types as types,
    version as version,
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
from minitape.compat.v1.arguments import (
    arg_max as arg_max,
    arg_min as arg_min,
    boolean_mask as boolean_mask,
    convert_to_tensor as convert_to_tensor,
    expand_dims as expand_dims,
    gather as gather,
    gather_nd as gather_nd,
    hessians as hessians,
    ones_like as ones_like,
    pad as pad,
    reverse_sequence as reverse_sequence,
    shape as shape,
    size as size,
    squeeze as squeeze,
    transpose as transpose,
    tuple as tuple,
    zeros_like as zeros_like,
)
from minitape.compat.v1.collections import (
    GraphKeys as GraphKeys,
    add_to_collection as add_to_collection,
    all_variables as all_variables,
    assign as assign,
    assign_add as assign_add,
    assign_sub as assign_sub,
    get_collection as get_collection,
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    initialize_all_variables as initialize_all_variables,
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
from minitape.compat.v1.debugging import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_scalar as assert_scalar,
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
    ConfigProto as ConfigProto,
    GPUOptions as GPUOptions,
    RunOptions as RunOptions,
    batch_gather as batch_gather,
    batch_to_space as batch_to_space,
    clip_by_average_norm as clip_by_average_norm,
    constant as constant,
    container as container,
    disable_eager_execution as disable_eager_execution,
    disable_v2_behavior as disable_v2_behavior,
    enable_eager_execution as enable_eager_execution,
    enable_v2_behavior as enable_v2_behavior,
    executing_eagerly_outside_functions as executing_eagerly_outside_functions,
    multinomial as multinomial,
    name_scope as name_scope,
    op_scope as op_scope,
    py_func as py_func,
    set_random_seed as set_random_seed,
    setdiff1d as setdiff1d,
    space_to_batch as space_to_batch,
    to_double as to_double,
    to_float as to_float,
    to_int32 as to_int32,
    to_int64 as to_int64,
    where as where,
)
from minitape.compat.v1.linalg import (
    norm as norm,
)
from minitape.compat.v1.math import (
    argmax as argmax,
    argmin as argmin,
    bincount as bincount,
    confusion_matrix as confusion_matrix,
    count_nonzero as count_nonzero,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_logsumexp as reduce_logsumexp,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
from minitape.compat.v1.nn import (
    depth_to_space as depth_to_space,
    space_to_depth as space_to_depth,
)
from minitape.compat.v1.random import (
    poisson as _random_poisson,
)
from minitape.compat.v1.sparse import (
    add as _sparse_add,
    concat as _sparse_concat,
    reduce_max as _sparse_reduce_max,
    reduce_sum as _sparse_reduce_sum,
    segment_mean as _sparse_segment_mean,
    segment_sqrt_n as _sparse_segment_sqrt_n,
    segment_sum as _sparse_segment_sum,
    split as _sparse_split,
)
from minitape.compat.v1.state import (
    batch_scatter_update as batch_scatter_update,
    count_up_to as count_up_to,
    div as div,
    is_variable_initialized as is_variable_initialized,
    report_uninitialized_variables as report_uninitialized_variables,
    scatter_add as scatter_add,
    scatter_div as scatter_div,
    scatter_max as scatter_max,
    scatter_min as scatter_min,
    scatter_mul as scatter_mul,
    scatter_nd_add as scatter_nd_add,
    scatter_nd_sub as scatter_nd_sub,
    scatter_nd_update as scatter_nd_update,
    scatter_sub as scatter_sub,
    scatter_update as scatter_update,
)
from minitape.compat.v1.strings import (
    reduce_join as reduce_join,
    to_hash_bucket as _string_to_hash_bucket,
    to_number as _string_to_number,
    substr as substr,
)
from minitape.compat.v1.variables import (
    AUTO_REUSE as AUTO_REUSE,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    variable_scope as variable_scope,
)
from minitape.convert import (
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from minitape.custom import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from minitape.debugging import (
    Assert as Assert,
    assert_integer as assert_integer,
    assert_proper_iterable as assert_proper_iterable,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_type as assert_type,
    check_numerics as check_numerics,
)
from minitape.devices import (
    device as device,
    get_logger as get_logger,
    timestamp as timestamp,
)
from minitape.dimension import (
    Dimension as Dimension,
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
)
from minitape.distribution import (
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)
from minitape.dtypes import (
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
from minitape.ends import (
    UnconnectedGradients as UnconnectedGradients,
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
from minitape.graphs.function import (
    function as function,
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
)
from minitape.graphs.symbolic import (
    Operation as Operation,
)
from minitape.graphs.variables import (
    group as group,
    no_op as no_op,
)
from minitape.introspection import (
    get_static_value as get_static_value,
    is_symbolic_tensor as is_symbolic_tensor,
    is_tensor as is_tensor,
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
    type_spec_from_value as type_spec_from_value,
)
from minitape.linalg.decompositions import (
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
from minitape.linalg.factors import (
    sqrtm as _matrix_square_root,
)
from minitape.linalg.products import (
    einsum as einsum,
    matmul as matmul,
    tensordot as tensordot,
)
from minitape.module import (
    Module as Module,
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
from minitape.ops.elementwise import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    betainc as betainc,
    ceil as ceil,
    cos as cos,
    cosh as cosh,
    digamma as digamma,
    divide_no_nan as _div_no_nan,
    divide as divide,
    equal as equal,
    erf as erf,
    erfc as erfc,
    exp as exp,
    expm1 as expm1,
    floor as floor,
    floordiv as _floor_div,
    floordiv as floordiv,
    floormod as floormod,
    greater as greater,
    greater_equal as greater_equal,
    igamma as igamma,
    igammac as igammac,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    lbeta as lbeta,
    less as less,
    less_equal as less_equal,
    lgamma as lgamma,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    maximum as maximum,
    minimum as minimum,
    mod as mod,
    multiply as multiply,
    negative as negative,
    not_equal as not_equal,
    polygamma as polygamma,
    pow as pow,
    realdiv as realdiv,
    reciprocal as reciprocal,
    rint as rint,
    round as round,
    rsqrt as rsqrt,
    scalar_mul as scalar_mul,
    sigmoid as sigmoid,
    sign as sign,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    square as square,
    squared_difference as squared_difference,
    subtract as subtract,
    tan as tan,
    tanh as tanh,
    truediv as truediv,
    truncatediv as truncatediv,
    truncatemod as truncatemod,
    zeta as zeta,
)
from minitape.ops.filling import (
    eye as eye,
    fill as fill,
    linspace as _lin_space,
    linspace as linspace,
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
    histogram_fixed_width as histogram_fixed_width,
    histogram_fixed_width_bins as histogram_fixed_width_bins,
    invert_permutation as invert_permutation,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    searchsorted as searchsorted,
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
    sort as sort,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from minitape.pyfunction import (
    numpy_function as numpy_function,
    py_function as py_function,
)
from minitape.ragged.spec import (
    RaggedTensorSpec as RaggedTensorSpec,
)
from minitape.ragged.tensor import (
    RaggedTensor as RaggedTensor,
)
from minitape.random.permuted import (
    random_index_shuffle as random_index_shuffle,
)
from minitape.random.stateful import (
    gamma as _random_gamma,
    normal as _random_normal,
    shuffle as _random_shuffle,
    uniform as _random_uniform,
    truncated_normal as truncated_normal,
)
from minitape.registry import (
    RegisterGradient as RegisterGradient,
    no_gradient as no_gradient,
)
from minitape.shape import (
    TensorShape as TensorShape,
)
from minitape.signal.fourier import (
    fft as fft,
    fft2d as fft2d,
    fft3d as fft3d,
    ifft as ifft,
    ifft2d as ifft2d,
    ifft3d as ifft3d,
)
from minitape.slices import (
    IndexedSlices as IndexedSlices,
)
from minitape.sparse.arithmetic import (
    maximum as _sparse_maximum,
    minimum as _sparse_minimum,
    softmax as _sparse_softmax,
    sparse_dense_matmul as _sparse_tensor_dense_matmul,
)
from minitape.sparse.functions import (
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
from minitape.sparse.sets import (
    edit_distance as edit_distance,
)
from minitape.sparse.tensor import (
    SparseTensor as SparseTensor,
    SparseTensorSpec as SparseTensorSpec,
    SparseTensorValue as SparseTensorValue,
)
from minitape.strings.joining import (
    join as _string_join,
)
from minitape.strings.matching import (
    regex_replace as regex_replace,
    to_hash_bucket_fast as _string_to_hash_bucket_fast,
    to_hash_bucket_strong as _string_to_hash_bucket_strong,
)
from minitape.strings.pieces import (
    strip as _string_strip,
)
from minitape.strings.spelling import (
    as_string as as_string,
)
from minitape.tape import (
    GradientTape as GradientTape,
)
from minitape.tensor import (
    Tensor as Tensor,
)
from minitape.variable import (
    Variable as Variable,
)
batch_to_space_nd = _batch_to_space_nd
diag = _diag
diag_part = _diag_part
div_no_nan = _div_no_nan
floor_div = _floor_div
lin_space = _lin_space
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
print = _print
random_gamma = _random_gamma
random_normal = _random_normal
random_poisson = _random_poisson
random_shuffle = _random_shuffle
random_uniform = _random_uniform
reverse_v2 = _reverse_v2
self_adjoint_eig = _self_adjoint_eig
self_adjoint_eigvals = _self_adjoint_eigvals
slice = _slice
sparse_add = _sparse_add
sparse_concat = _sparse_concat
sparse_fill_empty_rows = _sparse_fill_empty_rows
sparse_mask = _sparse_mask
sparse_maximum = _sparse_maximum
sparse_minimum = _sparse_minimum
sparse_reduce_max = _sparse_reduce_max
sparse_reduce_sum = _sparse_reduce_sum
sparse_reorder = _sparse_reorder
sparse_reset_shape = _sparse_reset_shape
sparse_reshape = _sparse_reshape
sparse_retain = _sparse_retain
sparse_segment_mean = _sparse_segment_mean
sparse_segment_sqrt_n = _sparse_segment_sqrt_n
sparse_segment_sum = _sparse_segment_sum
sparse_slice = _sparse_slice
sparse_softmax = _sparse_softmax
sparse_split = _sparse_split
sparse_tensor_dense_matmul = _sparse_tensor_dense_matmul
sparse_tensor_to_dense = _sparse_tensor_to_dense
sparse_to_indicator = _sparse_to_indicator
sparse_transpose = _sparse_transpose
string_join = _string_join
string_strip = _string_strip
string_to_hash_bucket = _string_to_hash_bucket
string_to_hash_bucket_fast = _string_to_hash_bucket_fast
string_to_hash_bucket_strong = _string_to_hash_bucket_strong
string_to_number = _string_to_number
tensor_scatter_add = _tensor_scatter_add
tensor_scatter_sub = _tensor_scatter_sub
tensor_scatter_update = _tensor_scatter_update
