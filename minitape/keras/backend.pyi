"""The names of `tf.keras.backend`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.keras.base import (
    backend as backend,
    clear_session as clear_session,
    epsilon as epsilon,
    floatx as floatx,
    get_uid as get_uid,
    image_data_format as image_data_format,
    is_float_dtype as is_float_dtype,
    is_int_dtype as is_int_dtype,
    is_keras_tensor as is_keras_tensor,
    name_scope as name_scope,
    result_type as result_type,
    set_epsilon as set_epsilon,
    set_floatx as set_floatx,
    set_image_data_format as set_image_data_format,
    standardize_dtype as standardize_dtype,
)
from minitape.keras.legacy import (
    bias_add as bias_add,
    binary_crossentropy as binary_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    clip as clip,
    dot as dot,
    elu as elu,
    eval as eval,
    get_value as get_value,
    gradients as gradients,
    hard_sigmoid as hard_sigmoid,
    relu as relu,
    set_value as set_value,
    softmax as softmax,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
    sqrt as sqrt,
    stop_gradient as stop_gradient,
    switch as switch,
    variable as variable,
)
def abs(x: _Any) -> _Any:
    """The distance from 0."""

def all(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """Whether all elements are True."""

def any(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """Whether one of the elements is True."""

def arange(start: _Any, stop: _Any = None, step: _Any = 1, dtype: _Any = 'int32') -> _Any:
    """Numbers up to ``stop``, or from 0 to ``start`` alone."""

def argmax(x: _Any, axis: _Any = -1) -> _Any:
    """Where the largest element along an axis is."""

def argmin(x: _Any, axis: _Any = -1) -> _Any:
    """Where the smallest element along an axis is."""

def batch_flatten(x: _Any) -> _Any:
    """The elements of each row along one axis."""

def cast(x: _Any, dtype: _Any) -> _Any:
    """Elements of another type."""

def concatenate(tensors: _Any, axis: _Any = -1) -> _Any:
    """Tensors joined along an axis."""

def constant(value: _Any, dtype: _Any = None, shape: _Any = None, name: _Any = None) -> _Any:
    """A tensor, of floats by default."""

def cos(x: _Any) -> _Any:
    """The cosine of an angle in radians."""

def count_params(x: _Any) -> _Any:
    """The number of elements, as an int."""

def cumprod(x: _Any, axis: _Any = 0) -> _Any:
    """The product of all elements up to each."""

def cumsum(x: _Any, axis: _Any = 0) -> _Any:
    """The sum of all elements up to each."""

def dropout(x: _Any, level: _Any, noise_shape: _Any = None, seed: _Any = None) -> _Any:
    """A fraction of the elements set to 0 at random, the others scaled up."""

def dtype(x: _Any) -> _Any:
    """The name of the dtype, as a string."""

def equal(x: _Any, y: _Any) -> _Any:
    """Where ``x == y``."""

def exp(x: _Any) -> _Any:
    """e to the power ``x``."""

def expand_dims(x: _Any, axis: _Any = -1) -> _Any:
    """A new axis of size 1."""

def eye(size: _Any, dtype: _Any = None, name: _Any = None) -> _Any:
    """A variable with ones on its diagonal and zeros elsewhere."""

def flatten(x: _Any) -> _Any:
    """All elements along one axis."""

def foldl(fn: _Any, elems: _Any, initializer: _Any = None, name: _Any = None) -> _Any:
    """``fn`` of what is gathered so far and each row, from the first on."""

def gather(reference: _Any, indices: _Any) -> _Any:
    """The rows at these places."""

def greater(x: _Any, y: _Any) -> _Any:
    """Where ``x > y``."""

def greater_equal(x: _Any, y: _Any) -> _Any:
    """Where ``x >= y``."""

def int_shape(x: _Any) -> _Any:
    """The sizes as a tuple."""

def l2_normalize(x: _Any, axis: _Any = None) -> _Any:
    """Vectors of length 1 along an axis."""

def less(x: _Any, y: _Any) -> _Any:
    """Where ``x < y``."""

def less_equal(x: _Any, y: _Any) -> _Any:
    """Where ``x <= y``."""

def log(x: _Any) -> _Any:
    """The natural logarithm."""

def map_fn(fn: _Any, elems: _Any, name: _Any = None, dtype: _Any = None) -> _Any:
    """``fn`` of each row."""

def max(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The largest element."""

def maximum(x: _Any, y: _Any) -> _Any:
    """The larger one."""

def mean(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The mean; of bools the fraction that is True."""

def min(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The smallest element."""

def minimum(x: _Any, y: _Any) -> _Any:
    """The smaller one."""

def ndim(x: _Any) -> _Any:
    """The number of axes, as an int."""

def not_equal(x: _Any, y: _Any) -> _Any:
    """Where ``x != y``."""

def one_hot(indices: _Any, num_classes: _Any) -> _Any:
    """A 1 at each index, 0 elsewhere."""

def ones(shape: _Any, dtype: _Any = None, name: _Any = None) -> _Any:
    """A variable of ones."""

def ones_like(x: _Any, dtype: _Any = None, name: _Any = None) -> _Any:
    """Ones in the shape of ``x``."""

def permute_dimensions(x: _Any, pattern: _Any) -> _Any:
    """The axes in another order."""

def pow(x: _Any, a: _Any) -> _Any:
    """``x`` to the power ``a``."""

def prod(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The product."""

def random_normal(shape: _Any, mean: _Any = 0.0, stddev: _Any = 1.0, dtype: _Any = None, seed: _Any = None) -> _Any:
    """Normally distributed numbers."""

def random_uniform(shape: _Any, minval: _Any = 0.0, maxval: _Any = 1.0, dtype: _Any = None, seed: _Any = None) -> _Any:
    """Numbers spread evenly over [minval, maxval)."""

def repeat_elements(x: _Any, rep: _Any, axis: _Any) -> _Any:
    """Each element of an axis several times."""

def reshape(x: _Any, shape: _Any) -> _Any:
    """The elements in another shape."""

def reverse(x: _Any, axes: _Any) -> _Any:
    """The order of axes turned around."""

def round(x: _Any) -> _Any:
    """The nearest whole number, halves to the even one."""

def shape(x: _Any) -> _Any:
    """The sizes as a tensor of int32."""

def sigmoid(x: _Any) -> _Any:
    """``1 / (1 + exp(-x))``."""

def sign(x: _Any) -> _Any:
    """-1, 0 or 1 as ``x`` is below, at or above 0."""

def sin(x: _Any) -> _Any:
    """The sine of an angle in radians."""

def softplus(x: _Any) -> _Any:
    """``log(1 + exp(x))``."""

def softsign(x: _Any) -> _Any:
    """``x / (1 + abs(x))``."""

def square(x: _Any) -> _Any:
    """``x * x``."""

def squeeze(x: _Any, axis: _Any) -> _Any:
    """Without an axis of size 1."""

def stack(x: _Any, axis: _Any = 0) -> _Any:
    """Tensors of one shape along a new axis."""

def std(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The standard deviation."""

def sum(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The sum."""

def tanh(x: _Any) -> _Any:
    """The hyperbolic tangent."""

def tile(x: _Any, n: _Any) -> _Any:
    """Copies side by side."""

def transpose(x: _Any) -> _Any:
    """The axes in the reverse order."""

def update(x: _Any, new_x: _Any) -> _Any:
    """Gives the variable ``x`` another value."""

def update_add(x: _Any, increment: _Any) -> _Any:
    """Adds to the variable ``x``."""

def update_sub(x: _Any, decrement: _Any) -> _Any:
    """Subtracts from the variable ``x``."""

def var(x: _Any, axis: _Any = None, keepdims: _Any = False) -> _Any:
    """The variance."""

def zeros(shape: _Any, dtype: _Any = None, name: _Any = None) -> _Any:
    """A variable of zeros."""

def zeros_like(x: _Any, dtype: _Any = None, name: _Any = None) -> _Any:
    """Zeros in the shape of ``x``."""

