"""Keras layers: their values against NumPy, their weights and derivatives, and what Keras 3 does with variables."""

from __future__ import annotations

import collections
import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf
from minitape.check import check_grads

L = tf.keras.layers
QUICK = settings(max_examples=25, deadline=None, derandomize=True)
SIZES = st.integers(1, 4)


def data(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


# -- values ----------------------------------------------------------------------------------------


@QUICK
@given(SIZES, SIZES, SIZES, st.booleans())
def test_dense_multiplies_and_shifts(rows, inputs, units, use_bias):
    x = data(rows, inputs)
    layer = L.Dense(units, use_bias=use_bias, bias_initializer="ones")
    y = layer(x)
    assert [v.path.split("/")[-1] for v in layer.weights] == ["kernel", "bias"][: 1 + use_bias]
    close(y, x @ layer.kernel.numpy() + (1 if use_bias else 0))


def test_dense_takes_more_axes_and_an_activation():
    x = data(2, 3, 4)
    layer = L.Dense(5, activation="relu")
    y = layer(x)
    close(y, np.maximum(x @ layer.kernel.numpy(), 0))


@QUICK
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6))
def test_embedding_picks_rows(ids):
    layer = L.Embedding(5, 3)
    close(layer(np.array(ids)), layer.embeddings.numpy()[ids])


def test_flatten_and_reshape_keep_the_values():
    x = data(2, 3, 4)
    close(L.Flatten()(x), x.reshape(2, 12))
    close(L.Reshape((4, 3))(x), x.reshape(2, 4, 3))


def test_dropout_acts_in_training_only():
    x = np.ones((200, 50), np.float32)
    layer = L.Dropout(0.5, seed=1)
    close(layer(x), x)
    y = layer(x, training=True).numpy()
    assert set(np.unique(y)) == {0.0, 2.0} and abs(y.mean() - 1) < 0.05


def convolved(x, kernel, stride):
    """Convolution without padding, written as sums over windows."""
    kh, kw = kernel.shape[:2]
    rows, columns = (x.shape[1] - kh) // stride + 1, (x.shape[2] - kw) // stride + 1
    out = np.zeros((x.shape[0], rows, columns, kernel.shape[3]))
    for i in range(rows):
        for j in range(columns):
            window = x[:, i * stride : i * stride + kh, j * stride : j * stride + kw]
            out[:, i, j] = np.tensordot(window, kernel, axes=3)
    return out


@QUICK
@given(st.integers(1, 3), st.integers(1, 2), SIZES, SIZES)
def test_conv2d_sums_over_windows(size, stride, channels, filters):
    x = data(2, 5, 6, channels)
    layer = L.Conv2D(filters, size, strides=stride)
    y = layer(x)
    close(y, convolved(x, layer.kernel.numpy(), stride), 1e-4)
    assert tuple(y.shape) == tuple(layer.compute_output_shape(x.shape))


@pytest.mark.parametrize("layer, reduce", [("MaxPooling2D", np.max), ("AveragePooling2D", np.mean)])
def test_pooling_reduces_windows(layer, reduce):
    x = data(2, 4, 6, 3)
    blocks = x.reshape(2, 2, 2, 3, 2, 3)
    close(getattr(L, layer)(2)(x), reduce(blocks, axis=(2, 4)))


def test_global_pooling_reduces_all_positions():
    x = data(2, 4, 6, 3)
    close(L.GlobalAveragePooling2D()(x), x.mean((1, 2)))
    close(L.GlobalMaxPooling2D()(x), x.max((1, 2)))


def test_layer_normalization_makes_rows_standard():
    x = data(4, 8) * 3 + 1
    y = L.LayerNormalization(epsilon=1e-6)(x).numpy()
    close(y.mean(1), np.zeros(4), 1e-4)
    close(y.std(1), np.ones(4), 1e-3)


def test_batch_normalization_learns_moments_in_training():
    x = data(64, 3) * 2 + 5
    layer = L.BatchNormalization(momentum=0.5, epsilon=1e-6)
    close(layer(x), x, 1e-4)  # nothing is known of the data yet
    y = layer(x, training=True).numpy()
    close(y.mean(0), np.zeros(3), 1e-4)
    close(y.std(0), np.ones(3), 1e-3)
    close(layer.moving_mean, 0.5 * x.mean(0), 1e-4)
    close(layer.moving_variance, 0.5 + 0.5 * x.var(0), 1e-4)
    assert len(layer.trainable_weights) == len(layer.non_trainable_weights) == 2


def test_lstm_steps_through_its_equations():
    x, units = data(2, 3, 4), 5
    layer = L.LSTM(units, return_sequences=True)
    y = layer(x).numpy()
    kernel, recurrent, bias = (v.numpy() for v in layer.weights)
    h = c = np.zeros((2, units))
    for t in range(3):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        close(y[:, t], h, 1e-4)
    close(bias, np.repeat([0, 1, 0, 0], units))  # the gate that forgets starts open


@pytest.mark.parametrize("name, combine", [("Add", np.add), ("Multiply", np.multiply)])
def test_merging_layers_combine_two_inputs(name, combine):
    a, b = data(2, 3), data(2, 3)[::-1]
    close(getattr(L, name)()([a, b]), combine(a, b))
    close(L.Concatenate()([a, b]), np.concatenate([a, b], -1))


# -- derivatives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layer, shape",
    [
        (L.Dense(3, activation="tanh", dtype="float64"), (2, 4)),
        (L.Conv2D(2, 2, activation="softplus", dtype="float64"), (1, 4, 4, 2)),
        (L.AveragePooling2D(2, dtype="float64"), (1, 4, 4, 2)),
        (L.LayerNormalization(dtype="float64", epsilon=0.1), (2, 4)),
        (L.LSTM(2, dtype="float64"), (1, 2, 3)),
        (L.Activation("gelu", dtype="float64"), (2, 4)),
    ],
    ids=lambda v: getattr(v, "name", ""),
)
def test_layers_are_differentiable(layer, shape):
    check_grads(layer, [data(*shape).astype(np.float64)], order=1, modes=("rev",))


# -- weights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: tf.keras.layers.Dense(2), (2, 3)),
        (lambda: tf.keras.layers.Dense(2), (2, 3, 4)),
        (lambda: tf.keras.layers.LayerNormalization(), (2, 3)),
        (lambda: tf.keras.layers.BatchNormalization(), (2, 3)),
        (lambda: tf.keras.layers.Flatten(), (2, 3, 4)),
        (lambda: tf.keras.layers.Conv2D(2, 2), (1, 4, 4, 2)),
        (lambda: tf.keras.layers.LSTM(2), (2, 3, 4)),
        (lambda: tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)]), (2, 3)),
    ],
)
def test_a_layer_takes_a_variable(make, shape):
    # an image that is optimised is a tf.Variable, which has no ndim
    layer, x = make(), tf.Variable(tf.random.normal(shape))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(x) ** 2)
    assert tape.gradient(y, x).shape == shape


def test_a_layer_is_built_at_its_first_call():
    layer = L.Dense(2)
    assert not layer.built and layer.weights == []
    layer(data(1, 3))
    assert layer.built and [tuple(w.shape) for w in layer.weights] == [(3, 2), (2,)]
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 3"):
        layer(data(1, 4))


def test_weights_of_layers_are_keras_variables_a_tape_does_not_watch():
    layer = L.Dense(2, kernel_initializer="ones")
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(layer.variables)  # not built: an empty list
        y = layer(x)
    assert not isinstance(layer.kernel, tf.Variable)
    assert tape.gradient(y, layer.trainable_variables) == [None, None]
    with tf.GradientTape(watch_accessed_variables=False) as tape, pytest.raises(ValueError, match="Passed in object"):
        tape.watch(layer.variables)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([v.value for v in layer.variables])
        y = layer(x)
    kernel, bias = tape.gradient(y, layer.trainable_variables)
    close(kernel, [[1, 1], [2, 2]])
    close(bias, [1, 1])


def test_a_layer_of_ones_own():
    class Scale(L.Layer):
        def build(self, shape):
            self.factor = self.add_weight(shape=(shape[-1],), initializer="ones", name="factor")
            self.count = self.add_weight(shape=(), initializer="zeros", trainable=False, name="count")

        def call(self, x):
            self.count.assign_add(1.0)
            return x * self.factor

    layer = Scale()
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(layer(x))
    (g,) = tape.gradient(y, layer.trainable_weights)
    close(g, [1, 2])
    assert layer.count.numpy() == 1 and layer.name == "scale"


def test_trainable_moves_weights():
    layer = L.Dense(2)
    layer(data(1, 3))
    layer.trainable = False
    assert layer.trainable_weights == [] and len(layer.non_trainable_weights) == 2


def test_set_weights_checks_shapes():
    layer = L.Dense(2)
    layer(data(1, 3))
    layer.set_weights([np.ones((3, 2)), np.zeros(2)])
    close(layer.get_weights()[0], np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"(?i)shape|weights"):
        layer.set_weights([np.ones((2, 2)), np.zeros(2)])


def test_regularizers_give_losses():
    layer = L.Dense(2, kernel_initializer="ones", kernel_regularizer=tf.keras.regularizers.L2(0.5))
    layer(data(1, 3))
    close(layer.losses[0], 0.5 * 6)


@pytest.mark.parametrize(
    "name",
    [
        "GlorotUniform",
        "GlorotNormal",
        "HeNormal",
        "HeUniform",
        "LecunNormal",
        "RandomNormal",
        "TruncatedNormal",
        "VarianceScaling",
        "Orthogonal",
    ],
)
def test_initializers_repeat_with_a_seed(name):
    make = getattr(tf.keras.initializers, name)
    a, b, c = (make(seed=s)((40, 30)).numpy() for s in (1, 1, 2))
    close(a, b)
    assert np.abs(a - c).max() > 1e-3


def test_scales_of_initializers():
    make = tf.keras.initializers
    limit = np.sqrt(6 / 70)
    drawn = make.GlorotUniform(seed=0)((40, 30)).numpy()
    assert np.abs(drawn).max() <= limit and abs(drawn.std() - limit / np.sqrt(3)) < 0.02
    q = make.Orthogonal(seed=0)((6, 4)).numpy()
    close(q.T @ q, np.eye(4))


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: L.Dense(0), "Received an invalid value for `units`"),
        (lambda: L.Dense(2, activation="foo"), "Could not interpret activation"),
        (lambda: L.Dense(2)(np.float32(1.0)), "incompatible with the layer|at least"),
        (lambda: L.Dropout(2), "rate"),
        (lambda: L.Conv2D(1, 9)(data(1, 3, 3, 1)), "negative|output"),
    ],
)
def test_wrong_arguments_raise(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


def test_what_is_put_into_collections_is_part_of_a_layer_and_what_is_taken_away_is_not():
    pair = collections.namedtuple("pair", "first second")

    class Holder(L.Layer):
        def __init__(self):
            super().__init__()
            self.one, self.many, self.by_name = L.Dense(1), [L.Dense(2), L.Dense(3)], {"a": L.Dense(4)}
            self.some, self.two = {L.Dense(5)}, pair(L.Dense(6), "text")
            self.ordered = collections.OrderedDict(b=L.Dense(7))

    holder = Holder()

    def units():
        return sorted(layer.units for layer in holder._layers)

    assert units() == [1, 2, 3, 4, 5, 6, 7] and type(holder.two) is pair and holder.two.second == "text"
    holder.by_name.setdefault("c", L.Dense(8))
    holder.by_name |= {"d": L.Dense(9)}
    holder.many += [L.Dense(10)]
    holder.some.add(L.Dense(11))
    holder.ordered.move_to_end("b")
    assert units() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert holder.many.pop().units == 10 and holder.by_name.pop("c").units == 8 and holder.by_name.popitem()[0] == "d"
    holder.many.remove(holder.many[0])
    del holder.one
    assert units() == [3, 4, 5, 6, 7, 11]
    for collection in (holder.many, holder.by_name, holder.some, holder.ordered):
        collection.clear()
    assert units() == [6]
    with pytest.raises(KeyError):
        holder.by_name.pop("a")
    assert holder.by_name.pop("a", 3) == 3


def test_a_copy_of_a_built_layer_has_layers_of_its_own():
    class Both(L.Layer):
        def __init__(self):
            super().__init__()
            self.inner = [L.Dense(1, kernel_initializer="ones"), L.Dense(1, kernel_initializer="ones")]

        def build(self, shape):
            self.inner[0].build(shape)
            self.inner[1].build((None, 1))

        def call(self, x):
            return self.inner[1](self.inner[0](x))

    layer = Both()
    layer(tf.ones([1, 1]))
    other = copy.deepcopy(layer)
    other.inner[0].kernel.assign([[3.0]])
    assert len(other.weights) == 4 and other._layers == list(other.inner)
    assert [made(tf.ones([1, 1])).numpy().item() for made in (layer, other)] == [1.0, 3.0]


def test_a_call_that_is_a_tf_function_takes_what_the_layer_is_given():
    """Its signature is a method's, without ``self``: the layer's own ``build`` gets the shape of the first argument."""

    class Doubled(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1],), initializer="ones")

        @tf.function
        def call(self, x, training=False):
            return x * self.w * (1.0 if training else 2.0)

    layer = Doubled()
    assert layer(tf.ones([2, 3])).numpy().tolist() == [[2.0] * 3] * 2
    assert layer(tf.ones([2, 3]), training=True).numpy().tolist() == [[1.0] * 3] * 2
