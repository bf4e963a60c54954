"""Operations give in a graph what they give eagerly, gradients included: with known and with unknown sizes."""

import numpy as np
import pytest

import minitape as tf

OPERATIONS = {
    "add": lambda x: x + 1.5,
    "arithmetic": lambda x: (x * 2.0 - 3.0) / (x * x + 1.0) ** 0.5,
    "unary": lambda x: tf.sin(x) + tf.exp(x) * tf.tanh(x) - tf.math.softplus(x) + tf.nn.sigmoid(x),
    "abs_sign": lambda x: tf.abs(x) * tf.sign(x) + tf.floor(x),
    "maximum": lambda x: tf.maximum(x, 0.5) + tf.minimum(x, -0.5),
    "clip": lambda x: tf.clip_by_value(x, -0.5, 0.5),
    "where": lambda x: tf.where(x > 0.0, x * x, -x),
    "cast": lambda x: tf.cast(tf.cast(x * 10.0, tf.int32), tf.float64) * x,
    "reduce_sum": lambda x: tf.reduce_sum(x, axis=1),
    "reduce_mean": lambda x: tf.reduce_mean(x, axis=0, keepdims=True) * x,
    "reduce_max": lambda x: tf.reduce_max(x, axis=[0, 1]) - tf.reduce_min(x),
    "reduce_prod": lambda x: tf.reduce_prod(x, axis=1),
    "logsumexp": lambda x: tf.reduce_logsumexp(x, axis=1),
    "std": lambda x: tf.math.reduce_std(x, axis=0),
    "cumsum": lambda x: tf.cumsum(x, axis=1),
    "cumprod": lambda x: tf.math.cumprod(x, axis=0),
    "argmax": lambda x: tf.argmax(x, axis=1),
    "sort": lambda x: tf.sort(x, axis=1),
    "top_k": lambda x: tf.math.top_k(x, 2).values,
    "matmul": lambda x: x @ tf.transpose(x),
    "matmul_flags": lambda x: tf.matmul(x, x, transpose_a=True),
    "tensordot": lambda x: tf.tensordot(x, x, axes=[[0], [0]]),
    "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
    "norm": lambda x: tf.norm(x, axis=1),
    "l2_normalize": lambda x: tf.math.l2_normalize(x, axis=1),
    "reshape": lambda x: tf.reshape(x, [-1]) * 2.0,
    "reshape_by_shape": lambda x: tf.reshape(x, [tf.shape(x)[1], tf.shape(x)[0]]),
    "transpose": lambda x: tf.transpose(x) * 3.0,
    "expand_squeeze": lambda x: tf.squeeze(tf.expand_dims(x, 0), 0) * x,
    "concat": lambda x: tf.concat([x, x * 2.0], axis=0),
    "stack": lambda x: tf.stack([x, x * x], axis=1),
    "unstack": lambda x: tf.unstack(x, num=3, axis=1)[1],
    "split": lambda x: tf.split(x, 3, axis=1)[2],
    "tile": lambda x: tf.tile(x, [2, 1]),
    "repeat": lambda x: tf.repeat(x, 2, axis=1),
    "pad": lambda x: tf.pad(x, [[1, 0], [0, 2]]),
    "reverse": lambda x: tf.reverse(x, [0]),
    "roll": lambda x: tf.roll(x, 1, axis=0),
    "slice": lambda x: x[1:, ::2] * x[:-1, :2],
    "newaxis": lambda x: x[:, tf.newaxis] * x[..., 0:1, tf.newaxis],
    "last": lambda x: x[-1] + x[0, 1],
    "gather": lambda x: tf.gather(x, [1, 0, 1]),
    "gather_axis": lambda x: tf.gather(x, [2, 0], axis=1),
    "gather_nd": lambda x: tf.gather_nd(x, [[0, 1], [1, 2]]),
    "boolean_mask": lambda x: tf.boolean_mask(x, x > 0.0),
    "scatter": lambda x: tf.tensor_scatter_nd_update(x, [[0]], [[9.0, 8.0, 7.0]]),
    "one_hot": lambda x: tf.one_hot(tf.argmax(x, 1), 3, dtype=tf.float64) * x,
    "broadcast_to": lambda x: tf.broadcast_to(x[0], [2, 3]) * 2.0,
    "fill_like": lambda x: tf.zeros_like(x) + tf.ones_like(x) * x + tf.zeros(tf.shape(x), tf.float64),
    "range": lambda x: tf.cast(tf.range(tf.shape(x)[0]), tf.float64)[:, tf.newaxis] * x,
    "softmax": lambda x: tf.nn.softmax(x) * tf.nn.log_softmax(x),
    "relus": lambda x: tf.nn.relu(x) + tf.nn.leaky_relu(x) + tf.nn.elu(x) + tf.nn.relu6(x * 4.0),
    "cross_entropy": lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax(x), logits=x * 2.0),
    "sparse_cross_entropy": lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.argmax(x, 1), logits=x),
    "moments": lambda x: tf.stack(tf.nn.moments(x, axes=[0])),
    "segment_sum": lambda x: tf.math.unsorted_segment_sum(x, [0, 0, 1, 1], 2),
    "complex": lambda x: tf.math.real(tf.complex(x, x * 2.0) * tf.complex(x, 1.0 + x)),
    "stop_gradient": lambda x: tf.stop_gradient(x) * x,
    "add_n": lambda x: tf.add_n([x, x, x * x]),
    "size": lambda x: x * tf.cast(tf.size(x) + tf.rank(x), tf.float64),
    "linspace": lambda x: x * tf.cast(tf.linspace(0.0, 1.0, 3), tf.float64),
    "eye": lambda x: x @ tf.eye(3, dtype=tf.float64),
    "clip_norm": lambda x: tf.clip_by_norm(x, 1.0),
    "band": lambda x: tf.linalg.band_part(tf.matmul(x, x, transpose_a=True), 1, 0),
    "inv": lambda x: tf.linalg.inv(tf.matmul(x, x, transpose_a=True) + 2.0 * tf.eye(3, dtype=tf.float64)),
    "det": lambda x: tf.linalg.det(tf.matmul(x, x, transpose_a=True) + 2.0 * tf.eye(3, dtype=tf.float64)),
    "diag_part": lambda x: tf.linalg.diag_part(tf.matmul(x, x, transpose_a=True)),
    "map_fn": lambda x: tf.map_fn(lambda row: row * tf.reduce_sum(row), x),
    "identity_chain": lambda x: tf.identity(tf.identity(x)) * 1.0,
}
VALUE = np.random.default_rng(7).normal(size=(4, 3))


def value_and_gradient(f):
    x = tf.constant(VALUE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        z = tf.reduce_sum(tf.cast(y, tf.float64) ** 2)
    g = tape.gradient(z, x)
    return y.numpy(), None if g is None else tf.convert_to_tensor(g).numpy()


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("shape", [None, (None, 3)], ids=["known", "unknown"])
def test_same_as_eagerly(name, shape):
    f = OPERATIONS[name]
    signature = None if shape is None else [tf.TensorSpec(shape, tf.float64)]
    value, gradient = value_and_gradient(f)
    traced = tf.function(f, input_signature=signature)
    got, got_gradient = value_and_gradient(traced)
    assert got.dtype == value.dtype
    assert got.shape == value.shape
    np.testing.assert_allclose(got, value, rtol=1e-12)
    if gradient is None:
        assert got_gradient is None or not got_gradient.any()
    else:
        np.testing.assert_allclose(got_gradient, gradient, rtol=1e-9, atol=1e-12)
    assert traced.get_concrete_function(tf.constant(VALUE)).outputs[0].shape.is_compatible_with(value.shape)


def test_a_gradient_finds_back_to_a_variable_that_a_function_of_values_was_given():
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def total():
        return tf.reduce_sum(tf.boolean_mask(v, v > 1.0) ** 2)

    for factor in (1.0, 2.0):
        v.assign([1.0, 2.0 * factor, 3.0])
        with tf.GradientTape() as tape:
            y = total()
        assert y.numpy() == 9.0 + 4.0 * factor**2
        assert tape.gradient(y, v).numpy().tolist() == [0.0, 4.0 * factor, 6.0]
