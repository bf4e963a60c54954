"""Each public function agrees with NumPy, and its gradient with finite differences of NumPy's function.

The table lines are `name | arguments after tf.name | the same in NumPy | names for the arguments`. A name in
tests/repository/surface.txt that no table contains fails the test.
"""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

import minitape as tf
from minitape.tf.api import map_names_to_defining_modules

sys.path.append(str(Path(__file__).parents[1] / "repository"))
from surface import read_names_by_namespace

# Functions of one operand, tested at three shapes: the NumPy function and the interval of the operand.
ONE = {
    "abs": (np.abs, 0.2, 2), "math.acos": (np.arccos, -0.9, 0.9), "math.acosh": (np.arccosh, 1.1, 3),
    "math.asin": (np.arcsin, -0.9, 0.9), "math.asinh": (np.arcsinh, -2, 2), "math.atan": (np.arctan, -2, 2),
    "math.atanh": (np.arctanh, -0.9, 0.9), "math.conj": (np.conj, -2, 2), "math.cos": (np.cos, -2, 2),
    "math.cosh": (np.cosh, -2, 2), "math.exp": (np.exp, -2, 2), "math.expm1": (np.expm1, -2, 2),
    "math.log": (np.log, 0.2, 3), "math.log1p": (np.log1p, -0.5, 3), "math.negative": (np.negative, -2, 2),
    "neg": (np.negative, -2, 2), "math.real": (np.real, -2, 2), "math.reciprocal": (np.reciprocal, 0.3, 2),
    "math.rsqrt": (lambda x: x**-0.5, 0.3, 2), "math.sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -2, 2),
    "math.sin": (np.sin, -2, 2), "math.sinh": (np.sinh, -2, 2), "math.softplus": (lambda x: np.log1p(np.exp(x)), -2, 2),
    "math.sqrt": (np.sqrt, 0.3, 2), "math.square": (np.square, -2, 2), "math.tan": (np.tan, -1, 1),
    "math.tanh": (np.tanh, -2, 2), "nn.relu": (lambda x: np.maximum(x, 0), 0.1, 2),
    "nn.leaky_relu": (lambda x: np.where(x > 0, x, np.float32(0.2).item() * x), -2, -0.1),
    "identity": (np.array, -2, 2), "function": (np.sin, -2, 2),
}  # fmt: skip
# Functions of two operands, tested at three pairs of shapes that broadcast.
TWO = {
    "math.add": np.add, "math.atan2": np.arctan2, "math.divide": np.divide, "math.divide_no_nan": np.divide,
    "math.floormod": np.mod, "math.maximum": np.maximum, "math.minimum": np.minimum, "math.multiply": np.multiply,
    "math.pow": np.power, "math.subtract": np.subtract,
}  # fmt: skip
SAME = "add atan2 divide maximum minimum multiply pow subtract".split()  # These are the same in tf and tf.math.
WRAPPED = {"function": lambda x: tf.function(tf.sin)(x)}

# The arguments are x and y of shape (2, 3), v (3,), s (), t (2, 3, 4) and m (2, 3, 3).
MORE = """
add_n                   | [x, y, x]                              | x + y + x
add_n                   | [v]                                    | v
add_n                   | [t, t]                                 | 2 * t
boolean_mask            | x, [True, False]                       | x[[0]]
boolean_mask            | x, [True, False, True], axis=1         | x[:, [0, 2]]
boolean_mask            | t, x > 0                               | t[x > 0]
cast                    | x, tf.float64                          | x
cast                    | s, tf.float64                          | s
cast                    | t, 'float64'                           | t
clip_by_value           | x, -0.5, 0.5                           | np.clip(x, -0.5, 0.5)
clip_by_value           | x, y, 10.0                             | np.maximum(x, y)
clip_by_value           | t, -10.0, 0.1                          | np.minimum(t, 0.1)
concat                  | [x, y], 0                              | np.concatenate([x, y], 0)
concat                  | [x, y, x], -1                          | np.concatenate([x, y, x], 1)
concat                  | [t, t], 1                              | np.concatenate([t, t], 1)
cond                    | True, lambda: x * 2, lambda: x         | x * 2
cond                    | s > 100, lambda: x, lambda: x * s      | x * s
cond                    | True, lambda: v, lambda: v             | v
convert_to_tensor       | [s, s * 2]                             | np.stack([s, s * 2])
convert_to_tensor       | [[v, v], [v, v]]                       | np.stack([np.stack([v, v])] * 2)
convert_to_tensor       | x                                      | x
expand_dims             | x, 0                                   | x[None]
expand_dims             | x, -1                                  | x[..., None]
expand_dims             | s, axis=0                              | s[None]
fill                    | [2, 3], s                              | np.broadcast_to(s, (2, 3))
fill                    | [], s                                  | s
fill                    | 4, s                                   | np.broadcast_to(s, 4)
gather                  | x, [1, 0, 1]                           | x[[1, 0, 1]]
gather                  | x, [2, 0], axis=1                      | x[:, [2, 0]]
gather                  | t, [[0, 1], [1, 1]], axis=2            | t[:, :, [[0, 1], [1, 1]]]
gather                  | t, [[0, 1], [2, 2]], batch_dims=1      | np.stack([t[0, [0, 1]], t[1, [2, 2]]])
gather                  | v, 1                                   | v[1]
gather_nd               | x, [[0, 1], [1, 2], [0, 1]]            | x[[0, 1, 0], [1, 2, 1]]
gather_nd               | t, [[1], [0]]                          | t[[1, 0]]
gather_nd               | t, [[[0]], [[2]]], batch_dims=1        | np.stack([t[0, [0]], t[1, [2]]])
linalg.det              | m                                      | np.linalg.det(m)
linalg.det              | m[0]                                   | np.linalg.det(m[0])
linalg.det              | m[:, :2, :2]                           | np.linalg.det(m[:, :2, :2])
linalg.diag             | v                                      | np.diag(v)
linalg.diag             | x                                      | np.stack([np.diag(x[0]), np.diag(x[1])])
linalg.diag_part        | m                                      | np.diagonal(m, 0, 1, 2)
linalg.diag_part        | x                                      | np.diagonal(x)
linalg.inv              | m                                      | np.linalg.inv(m)
linalg.inv              | m[0], adjoint=True                     | np.linalg.inv(m[0]).T
linalg.inv              | m[:, 1:, 1:]                           | np.linalg.inv(m[:, 1:, 1:])
linalg.matvec           | x, v                                   | x @ v
linalg.matvec           | x, y[:, 0], transpose_a=True           | x.T @ y[:, 0]
linalg.matvec           | m, y                                   | np.einsum('bij,bj->bi', m, y)
linalg.solve            | m[0], tf.transpose(x)                  | np.linalg.solve(m[0], x.T)
linalg.solve            | m, m                                   | np.linalg.solve(m, m)
linalg.solve            | m[0], v[:, None], adjoint=True         | np.linalg.solve(m[0].T, v[:, None])
linalg.trace            | m                                      | np.trace(m, 0, 1, 2)
linalg.trace            | x                                      | np.trace(x)
linalg.trace            | m[0]                                   | np.trace(m[0])
linspace                | s, s * 3, 4                            | np.linspace(s, s * 3, 4)
linspace                | x, y, 3, axis=1                        | np.linspace(x, y, 3, axis=1)
linspace                | v, 2 * v, 1                            | v[None]
math.l2_normalize       | x                                      | x / np.sqrt(np.sum(x**2))
math.l2_normalize       | x, axis=1                              | x / np.sqrt(np.sum(x**2, 1, keepdims=True))
math.l2_normalize       | v, epsilon=100.0                       | v / 10
matmul                  | x, y, transpose_b=True                 | x @ y.T
matmul                  | x, y, transpose_a=True                 | x.T @ y
matmul                  | m, t                                   | m @ t
matmul                  | x, t                                   | x @ t
matmul                  | t, t, adjoint_a=True                   | np.swapaxes(t, 1, 2) @ t
meshgrid                | v, y[0]                                | np.meshgrid(v, y[0])
meshgrid                | v, y[0], x[1], indexing='ij'           | np.meshgrid(v, y[0], x[1], indexing='ij')
meshgrid                | s, v                                   | np.meshgrid(s, v)
nn.log_softmax          | x                                      | x - np.log(np.sum(np.exp(x), 1, keepdims=True))
nn.log_softmax          | x, axis=0                              | x - np.log(np.sum(np.exp(x), 0))
nn.log_softmax          | t, axis=1                              | t - np.log(np.sum(np.exp(t), 1, keepdims=True))
nn.moments              | x, [0]                                 | (np.mean(x, 0), np.var(x, 0))
nn.moments              | x, [0, 1], keepdims=True               | (np.mean(x, keepdims=True), np.var(x, keepdims=True))
nn.moments              | t, 1                                   | (np.mean(t, 1), np.var(t, 1))
nn.softmax              | x                                      | np.exp(x) / np.sum(np.exp(x), 1, keepdims=True)
nn.softmax              | x, axis=0                              | np.exp(x) / np.sum(np.exp(x), 0)
nn.softmax              | v                                      | np.exp(v) / np.sum(np.exp(v))
nn.sigmoid_cross_entropy_with_logits | x, y                      | np.log1p(np.exp(y)) - x * y
nn.sigmoid_cross_entropy_with_logits | s, s * 2                  | np.log1p(np.exp(s * 2)) - s * s * 2
nn.sigmoid_cross_entropy_with_logits | labels=v, logits=-v       | np.log1p(np.exp(-v)) + v * v
nn.softmax_cross_entropy_with_logits | [[.25, .75, 0], [0, 1, 0]], x | xent(np.array([[.25, .75, 0], [0, 1, 0]]), x)
nn.softmax_cross_entropy_with_logits | [[1, 0, .5], [0, 1, .5]], x, 0 | xent(np.eye(3)[:, :2] + [[0], [0], [.5]], x.T)
nn.softmax_cross_entropy_with_logits | [.5, .25, .25], v         | xent(np.array([.5, .25, .25]), v)
nn.sparse_softmax_cross_entropy_with_logits | [2, 0], x          | xent(np.eye(3)[[2, 0]], x)
nn.sparse_softmax_cross_entropy_with_logits | 1, v               | xent(np.eye(3)[1], v)
nn.sparse_softmax_cross_entropy_with_logits | [[0, 1, 3], [2, 2, 0]], t | xent(np.eye(4)[[[0, 1, 3], [2, 2, 0]]], t)
norm                    | x                                      | np.sqrt(np.sum(x**2))
norm                    | x, axis=1                              | np.linalg.norm(x, axis=1)
norm                    | x, ord=1, axis=0, keepdims=True        | np.sum(np.abs(x), 0, keepdims=True)
norm                    | t, ord=np.inf, axis=2                  | np.max(np.abs(t), 2)
norm                    | x, ord=3, axis=1                       | np.sum(np.abs(x)**3, 1)**(1 / 3)
norm                    | t, ord='fro', axis=[0, 2]              | np.linalg.norm(t, 'fro', (0, 2))
norm                    | t, ord=1, axis=[1, 2]                  | np.linalg.norm(t, 1, (1, 2))
norm                    | t, ord=np.inf, axis=[1, 2]             | np.linalg.norm(t, np.inf, (1, 2))
pad                     | x, [[1, 0], [0, 2]]                    | np.pad(x, [[1, 0], [0, 2]])
pad                     | v, [[1, 1]], constant_values=2.0       | np.pad(v, 1, constant_values=2)
py_function             | lambda a: a * a, [x], tf.float64       | x * x
py_function             | lambda a, b: a * b, [x, v], tf.float64 | x * v
py_function             | lambda a: tf.sin(a), [s], tf.float64   | np.sin(s)
reduce_max              | x                                      | np.max(x)
reduce_max              | x, 1                                   | np.max(x, 1)
reduce_max              | t, [0, -1], True                       | np.max(t, (0, 2), keepdims=True)
reduce_mean             | x                                      | np.mean(x)
reduce_mean             | x, -1, True                            | np.mean(x, 1, keepdims=True)
reduce_mean             | t, [0, 2]                              | np.mean(t, (0, 2))
reduce_min              | x                                      | np.min(x)
reduce_min              | x, 0                                   | np.min(x, 0)
reduce_min              | t, axis=[2, 1]                         | np.min(t, (1, 2))
reduce_sum              | x                                      | np.sum(x)
reduce_sum              | x, 0, True                             | np.sum(x, 0, keepdims=True)
reduce_sum              | t, [1, -1]                             | np.sum(t, (1, 2))
reduce_sum              | s                                      | s
math.reduce_std         | x                                      | np.std(x)
math.reduce_std         | x, 1                                   | np.std(x, 1)
math.reduce_std         | t, [0, 2], True                        | np.std(t, (0, 2), keepdims=True)
math.reduce_variance    | x                                      | np.var(x)
math.reduce_variance    | x, 0                                   | np.var(x, 0)
math.reduce_variance    | t, [1]                                 | np.var(t, 1)
recompute_grad(lambda a: a * a) | x                              | x * x
recompute_grad(tf.sin)  | s                                      | np.sin(s)
recompute_grad(lambda a: a[1:]) | t                              | t[1:]
custom_gradient(lambda a: (a * a, lambda g: 2 * a * g)) | x      | x * x
custom_gradient(lambda a: (a * a, lambda g: 2 * a * g)) | s      | s * s
custom_gradient(lambda a: (a * a, lambda g: 2 * a * g)) | t      | t * t
grad_pass_through(lambda a: a + 1) | x                           | x + 1
grad_pass_through(lambda a: a + 1) | s                           | s + 1
grad_pass_through(lambda a: a + 1) | t                           | t + 1
repeat                  | x, 2                                   | np.repeat(x, 2)
repeat                  | x, [2, 0, 1], axis=1                   | np.repeat(x, [2, 0, 1], 1)
repeat                  | t, 2, axis=-2                          | np.repeat(t, 2, 1)
repeat                  | s, 3                                   | np.repeat(s, 3)
reshape                 | x, [3, 2]                              | x.reshape(3, 2)
reshape                 | t, [-1, 4]                             | t.reshape(6, 4)
reshape                 | t, -1                                  | t.reshape(-1)
reshape                 | v[:1], []                              | v[:1].reshape(())
sort                    | x                                      | np.sort(x)
sort                    | x, 0, 'DESCENDING'                     | -np.sort(-x, 0)
sort                    | t, axis=1                              | np.sort(t, 1)
split                   | x, 3, 1                                | np.split(x, 3, 1)
split                   | t, [1, 2], axis=-2                     | np.split(t, [1], 1)
split                   | v, [2, -1]                             | np.split(v, [2])
squeeze                 | x[None, :, None]                       | x
squeeze                 | x[None, :, None], axis=[0, 2]          | x
squeeze                 | v[:, None], -1                         | v
stack                   | [x, y]                                 | np.stack([x, y])
stack                   | [x, y, x], axis=-1                     | np.stack([x, y, x], 2)
stack                   | [s, s]                                 | np.stack([s, s])
tensor_scatter_nd_update | x, [[0, 1], [1, 2]], y[0, :2]         | put(x, ([0, 1], [1, 2]), y[0, :2])
tensor_scatter_nd_update | x, [[1]], [v]                         | put(x, 1, v)
tensor_scatter_nd_update | t, [[1, 0]], x[:1, :1] * [[1.0, 2, 3, 4]] | put(t, (1, 0), x[0, 0] * np.arange(1, 5))
tensordot               | x, v, 1                                | x @ v
tensordot               | x, t, [[0, 1], [0, 1]]                 | np.tensordot(x, t, 2)
tensordot               | v, x, 0                                | np.tensordot(v, x, 0)
tensordot               | t, x, [[1], [-1]]                      | np.tensordot(t, x, [[1], [1]])
tile                    | x, [2, 1]                              | np.tile(x, (2, 1))
tile                    | t, [1, 2, 3]                           | np.tile(t, (1, 2, 3))
tile                    | v, [3]                                 | np.tile(v, 3)
math.top_k              | x, 2                                   | -np.sort(-x)[:, :2]
math.top_k              | v                                      | np.sort(v)[-1:]
math.top_k              | t, k=4                                 | -np.sort(-t)
transpose               | x                                      | x.T
transpose               | t, [1, 2, 0]                           | t.transpose(1, 2, 0)
transpose               | t, perm=[0, -1, 1]                     | t.transpose(0, 2, 1)
unstack                 | x                                      | [x[0], x[1]]
unstack                 | x, axis=1                              | [x[:, 0], x[:, 1], x[:, 2]]
unstack                 | t, 2                                   | [t[0], t[1]]
where                   | [True, False, True], x, y              | np.where([True, False, True], x, y)
where                   | x > 0, x, v                            | np.where(x > 0, x, v)
where                   | False, s, t                            | t
while_loop              | lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x] | (3, x**4)
while_loop              | lambda i, a: i < 2, lambda i, a: (i + 1, tf.sin(a)), [0, s] | (2, np.sin(np.sin(s)))
while_loop              | lambda i, a: i < 0, lambda i, a: (i + 1, a), [0, v] | (0, v)
sparse.to_dense         | tf.SparseTensor([[0, 1], [1, 0]], v[:2], [2, 2]) | np.array([[0, v[0]], [v[1], 0]])
sparse.sparse_dense_matmul | tf.SparseTensor([[0, 1], [1, 0]], v[:2], [2, 2]), x | np.stack([v[0] * x[1], v[1] * x[0]])
keras.layers.Dense(2, 'tanh', kernel_initializer='ones', dtype='float64') | x | np.tanh(x @ np.ones((3, 2)))
keras.layers.Dense(1, None, True, 'ones', 'ones', dtype='float64') | t | np.sum(t, 2)[..., None] + 1
keras.layers.Dense(2, None, False, 'ones', dtype='float64') | x[:1] | x[:1] @ np.ones((3, 2))
keras.losses.MSE        | x, y                                   | np.mean((x - y)**2, -1)
keras.losses.MSE        | v, y[0]                                | np.mean((v - y[0])**2)
keras.losses.MSE        | t, t[:, :1]                            | np.mean((t - t[:, :1])**2, -1)
keras.losses.MAE        | x, y                                   | np.mean(np.abs(x - y), -1)
keras.losses.MAE        | v, y[0]                                | np.mean(np.abs(v - y[0]))
keras.losses.MAE        | t, t * 3                               | np.mean(np.abs(2 * t), -1)
keras.losses.MeanSquaredError() | t, t * 2                       | np.mean(t**2)
keras.losses.MeanSquaredError() | v[:, None], v                  | 0 * np.sum(v)
keras.losses.MeanSquaredError() | x, y                           | np.mean((x - y)**2)
keras.losses.MeanAbsoluteError() | x, y * 0                      | np.mean(np.abs(x))
keras.losses.MeanAbsoluteError() | t, t * 3                      | np.mean(np.abs(2 * t))
keras.losses.MeanAbsoluteError() | v, y[0]                       | np.mean(np.abs(v - y[0]))
compat.v1.sin           | x                                      | np.sin(x)
"""

# These functions have NumPy's values, and their gradients are None.
NONE = """
argmax          | x, 1                 | np.argmax(x, 1)
argmax          | x                    | np.argmax(x, 0)
argmin          | t, -1                | np.argmin(t, 2)
argsort         | x                    | np.argsort(x)
argsort         | x, 0, 'DESCENDING'   | np.argsort(-x, 0)
math.ceil       | x                    | np.ceil(x)
math.count_nonzero | x * [0.0, 1, 1]   | 4
math.count_nonzero | x, 1              | [3, 3]
constant        | [[1.0, 2.0]]         | [[1.0, 2.0]]
constant        | 2, shape=[2, 2]      | np.full((2, 2), 2)
equal           | x, x                 | x == x
not_equal       | x, y                 | x != y
eye             | 2, 3                 | np.eye(2, 3)
eye             | 2, batch_shape=[2]   | np.stack([np.eye(2)] * 2)
math.floor      | x * 3                | np.floor(x * 3)
math.floordiv   | x * 3, 2.0           | np.floor_divide(x * 3, 2)
greater         | x, y                 | x > y
greater_equal   | x, x                 | x >= x
less            | x, v                 | x < v
less_equal      | s, x                 | s <= x
logical_and     | x > 0, y > 0         | (x > 0) & (y > 0)
logical_not     | x > 0                | x <= 0
numpy_function  | lambda a: a + 1, [x], tf.float64 | x + 1
py_func         | lambda a: a + 1, [x], tf.float64 | x + 1
one_hot         | [0, 2], 3            | np.eye(3)[[0, 2]]
one_hot         | [1], 2, on_value=5, off_value=-1, axis=0 | [[-1], [5]]
ones            | [2, 3]               | np.ones((2, 3))
ones_like       | x                    | np.ones((2, 3))
range           | 1, 7, 2              | [1, 3, 5]
range           | 3.0                  | [0, 1, 2]
rank            | t                    | 3
reduce_all      | x > 0, 0             | np.all(x > 0, 0)
reduce_any      | x > 0, [1]           | np.any(x > 0, 1)
math.rint       | x * 3                | np.rint(x * 3)
round           | x * 3                | np.round(x * 3)
shape           | t                    | [2, 3, 4]
size            | t                    | 24
stop_gradient   | x                    | x
unique          | [3, 1, 3]            | ([3, 1], [0, 1, 0])
zeros           | [2]                  | [0, 0]
zeros_like      | x                    | np.zeros((2, 3))
sign            | x                    | np.sign(x)
strings.length  | ['a', 'abc']         | [1, 3]
strings.substr  | 'tape', 1, 2         | b'ap'
where           | x > 0                | np.argwhere(x > 0)
"""
ZERO = {"sign"}  # As in TensorFlow, these gradients are 0.

# These names do not compute anything: classes, dtypes, decorators, graphs and pictures.
OTHERS = {
    "tf": "DType GradientTape Graph Module RaggedTensor RegisterGradient Session SparseTensor Tensor TensorShape "
    "TensorSpec UnconnectedGradients Variable autodiff bool compat complex128 complex64 config draw errors "
    "executing_eagerly explain float16 float32 float64 get_default_graph get_logger gradients init_scope "
    "initialize_all_variables int16 int32 int64 int8 keras linalg math nest newaxis nn print python ragged random "
    "snapshot sparse string strings test uint16 uint32 uint64 uint8",
    "tf.random": "normal set_seed uniform",
    "tf.ragged": "constant",
    "tf.nest": "flatten map_structure pack_sequence_as",
    "tf.errors": "InvalidArgumentError OpError UnimplementedError UnknownError",
    "tf.autodiff": "ForwardAccumulator",
    "tf.test": "compute_gradient",
    "tf.config": "run_functions_eagerly",
    "tf.keras": "Sequential callbacks layers losses optimizers",
    "tf.keras.layers": "Layer",
    "tf.keras.optimizers": "Adam SGD",
    "tf.compat": "v1",
    "tf.compat.v1": "assign get_variable global_variables_initializer name_scope op_scope placeholder",
    "tf.python": "framework",
    "tf.python.framework": "ops",
    "tf.python.framework.ops": "Graph RegisterGradient get_default_graph name_scope op_scope",
    "tf.explain": "Explanation explain warn",
}
CLASSES = {
    "tf.Tensor",
    "tf.Variable",
    "tf.GradientTape",
    "tf.Module",
}  # The lines of these classes are tested as methods of objects.


def parse_lines(table):
    return [[part.strip() for part in line.split(" | ")] for line in table.strip().splitlines()]


def compute_cross_entropy(p, logits):
    return -np.sum(p * (logits - np.log(np.sum(np.exp(logits), -1, keepdims=True))), -1)


def replace_elements(x, places, values):
    out = np.array(x)
    out[places] = values
    return out


def draw_arguments(names):
    """Draw arrays for the letters of the tables. No two elements are close to each other or to zero."""
    rng = np.random.default_rng(1)
    shapes = {"s": (), "v": (3,), "x": (2, 3), "y": (2, 3), "t": (2, 3, 4), "m": (2, 3, 3)}
    made = {}
    for letter, shape in shapes.items():
        count = int(np.prod(shape))
        values = (rng.permutation(count) + 0.7 - count // 2) * 0.25
        made[letter] = values.reshape(shape) + (2 * np.eye(3) if letter == "m" else 0)
    return {letter: made[letter] for letter in made if letter in names}


def collect_letters(text):
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and len(node.id) == 1}


def to_list(found):
    return list(found) if isinstance(found, (list, tuple)) else [found]


def check_against_numpy(ours, theirs, arrays, name):
    """Compare the value, gradients with random weights, and Jacobians with NumPy's values and their differences."""
    tensors = {key: tf.constant(a) for key, a in arrays.items()}
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(list(tensors.values()))
        found = to_list(ours(**tensors))
    wanted = to_list(theirs(**arrays))
    if name == "math.top_k":
        found = found[:1]
    for t, want in zip(found, wanted, strict=True):
        tolerance = 1e-6 if t.dtype == tf.float32 else 1e-12  # A loss is float32.
        np.testing.assert_allclose(t.numpy(), want, rtol=tolerance, atol=tolerance)
        assert t.shape == np.shape(want) and (t.dtype == tf.float64 or np.ndim(want) == 0)
    rng = np.random.default_rng(2)
    flowing = [i for i, t in enumerate(found) if t.dtype in (tf.float32, tf.float64)]
    weights = {i: rng.normal(size=found[i].shape.as_list()) for i in flowing}
    gradients = tape.gradient(
        [found[i] for i in flowing],
        tensors,
        output_gradients=[tf.constant(weights[i], found[i].dtype) for i in flowing],
    )

    for key, a in arrays.items():
        jacobians = {i: np.zeros((*found[i].shape, *a.shape)) for i in flowing}
        for place in np.ndindex(a.shape):
            up, down = np.array(a), np.array(a)
            up[place] += 1e-6
            down[place] -= 1e-6
            above, below = (to_list(theirs(**arrays | {key: moved})) for moved in (up, down))
            for i in flowing:
                jacobians[i][(..., *place)] = (above[i] - below[i]) / 2e-6
        wanted = sum(np.tensordot(weights[i], jacobians[i], weights[i].ndim) for i in flowing) + np.zeros(a.shape)
        g = np.zeros(a.shape) if gradients[key] is None else gradients[key].numpy()
        assert g.shape == a.shape and g.dtype == np.float64
        np.testing.assert_allclose(g, wanted, rtol=1e-5, atol=1e-7)
        for i in flowing if name != "py_function" else ():  # The gradient of a py_function can be computed only once.
            each = tape.jacobian(found[i], tensors[key], unconnected_gradients="zero")
            np.testing.assert_allclose(each.numpy(), jacobians[i], rtol=1e-5, atol=1e-7)


def find_function(name):
    if name in WRAPPED:
        return WRAPPED[name]
    return eval(f"tf.{name}")


@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
@pytest.mark.parametrize("name", ONE)
def test_a_function_of_one_operand(name, shape):
    numpy, low, high = ONE[name]
    x = np.random.default_rng(0).uniform(low, high, shape)
    check_against_numpy(lambda x: find_function(name)(x), lambda x: numpy(x), {"x": x}, name)


@pytest.mark.parametrize("shapes", [((), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3))])
@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_operands(name, shapes):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(2.1, 2.9, shapes[0]), rng.uniform(0.3, 0.9, shapes[1])
    check_against_numpy(lambda x, y: find_function(name)(x, y), lambda x, y: TWO[name](x, y), {"x": x, "y": y}, name)


@pytest.mark.parametrize(("name", "given", "numpy"), parse_lines(MORE))
def test_a_function_of_more_arguments(name, given, numpy):
    space = {"tf": tf, "np": np, "xent": compute_cross_entropy, "put": replace_elements}
    arrays = draw_arguments(collect_letters(f"f({given})"))
    check_against_numpy(
        lambda **values: eval(f"tf.{name}({given})", space | values),
        lambda **values: eval(numpy, space | arrays | values),
        arrays,
        name,
    )


@pytest.mark.parametrize(("name", "given", "numpy"), parse_lines(NONE))
def test_a_function_without_a_gradient(name, given, numpy):
    space, arrays = {"tf": tf, "np": np}, draw_arguments(collect_letters(f"f({given})"))
    tensors = {key: tf.constant(a) for key, a in arrays.items()}
    with tf.GradientTape() as tape:
        tape.watch(list(tensors.values()))
        found = eval(f"tf.{name}({given})", space | tensors)
        flowing = [t for t in to_list(found) if t.dtype == tf.float64]
    wanted = eval(numpy, space | arrays)
    for t, want in zip(to_list(found), [wanted] if not isinstance(wanted, tuple) else wanted, strict=True):
        np.testing.assert_array_equal(t.numpy(), want)
    for g in tape.gradient(flowing, list(tensors.values())) if flowing else []:
        assert (g is not None and not g.numpy().any()) if name in ZERO else g is None


@pytest.mark.parametrize("name", [*ONE, *TWO, "reduce_sum", "nn.softmax", "matmul", "norm", "math.reduce_std"])
def test_floats_of_each_size_stay_what_they_are(name):
    for dtype in (tf.float16, tf.float32, tf.float64):
        x = tf.constant([[0.25, 0.5], [0.75, 0.25]], dtype) + (1 if "acosh" in name else 0)
        given = [x, x] if name in TWO or name == "matmul" else [x]
        with tf.GradientTape() as tape:
            tape.watch(x)
            out = find_function(name)(*given)
        assert (out.dtype, tape.gradient(out, x).dtype) == (dtype, dtype)


def test_integers_are_divided_towards_zero_and_refused_where_only_floats_make_sense():
    numbers = tf.constant([-3, -4])
    assert tf.reduce_mean(numbers).numpy() == -3 and tf.reduce_mean(numbers).dtype == tf.int32
    for name in ("math.sin", "math.exp", "math.log", "math.sqrt", "nn.softmax", "norm", "math.sigmoid"):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Convert the input with tf\.cast"):
            find_function(name)(numbers)


def collect_table_names():
    """Return the names in the tables, keyed by namespace."""
    found = {space: set(names.split()) for space, names in OTHERS.items()}
    for name in [*ONE, *TWO, *SAME, *(line[0].partition("(")[0] for line in parse_lines(MORE) + parse_lines(NONE))]:
        outer, _, last = f"tf.{name}".rpartition(".")
        found.setdefault(outer, set()).add(last)
    return found


def test_each_public_name_is_in_a_table():
    have, objects = collect_table_names(), {}
    for space, names in have.items():
        for name in names:
            if space != "tf.compat.v1" or name not in have["tf"]:
                objects.setdefault(name, set()).add(space)
    missing = {
        f"{space}.{name}"
        for space, names in read_names_by_namespace().items()
        if space not in CLASSES
        for name in names
        # A function with two paths, such as tf.sin and tf.math.sin, is tested only once.
        if name not in have.get(space, set()) and not _is_same_elsewhere(space, name, objects.get(name, ()))
    }
    assert missing == set()


def _is_same_elsewhere(space, name, others):
    homes = [map_names_to_defining_modules(path.partition(".")[2]) for path in (space, *others)]
    return any(home.get(name) == homes[0].get(name) for home in homes[1:])


def test_no_table_names_what_is_gone():
    gone = {
        f"{space}.{name}"
        for space, found in collect_table_names().items()
        for name in found - read_names_by_namespace().get(space, set())
    }
    assert gone - {"tf.compat.v1.sin"} == set()
