"""The names of `tf.compat.v1.initializers`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.compat.v1.collections import (
    global_variables_initializer as _global_variables,
    local_variables_initializer as _local_variables,
    tables_initializer as tables_initializer,
    variables_initializer as _variables,
)
from minitape.compat.v1.initial import (
    constant_initializer as _constant,
    glorot_normal_initializer as _glorot_normal,
    glorot_uniform_initializer as _glorot_uniform,
    identity as identity,
    ones_initializer as _ones,
    orthogonal_initializer as _orthogonal,
    random_normal_initializer as _random_normal,
    random_uniform_initializer as _random_uniform,
    truncated_normal_initializer as _truncated_normal,
    uniform_unit_scaling_initializer as _uniform_unit_scaling,
    variance_scaling_initializer as _variance_scaling,
    zeros_initializer as _zeros,
)
constant = _constant
global_variables = _global_variables
glorot_normal = _glorot_normal
glorot_uniform = _glorot_uniform
local_variables = _local_variables
ones = _ones
orthogonal = _orthogonal
random_normal = _random_normal
random_uniform = _random_uniform
truncated_normal = _truncated_normal
uniform_unit_scaling = _uniform_unit_scaling
variables = _variables
variance_scaling = _variance_scaling
zeros = _zeros
