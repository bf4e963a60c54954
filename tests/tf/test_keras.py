"""Layers find their weights, optimizers follow their equations, and losses agree with NumPy."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf

K = tf.keras
QUICK = settings(max_examples=20, deadline=None, derandomize=True)
RATES = st.floats(0.01, 0.5)
GRADIENTS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


class Scale(K.layers.Layer):
    def __init__(self):
        super().__init__(name="scale")
        self.inner = {"a": [K.layers.Dense(1, name="dense")]}

    def build(self, input_shape):
        self.factor = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="factor")
        self.fixed = self.add_weight(initializer=lambda shape, dtype: tf.fill(shape, 2.0), trainable=False, name="two")

    def call(self, x):
        return self.inner["a"][0](x * self.factor) * self.fixed


# -- layers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", [None, "relu", "sigmoid", "softmax", "tanh", abs])
def test_a_dense_layer_is_a_product_a_sum_and_an_activation(activation):
    layer, x = K.layers.Dense(4, activation), np.random.default_rng(1).normal(size=(2, 5, 3)).astype(np.float32)
    y = layer(x)
    wanted = x @ layer.kernel.numpy() + layer.bias.numpy()
    made = {None: lambda v: v, abs: np.abs, "relu": lambda v: np.maximum(v, 0), "tanh": np.tanh}
    made["sigmoid"] = lambda v: 1 / (1 + np.exp(-v))
    made["softmax"] = lambda v: np.exp(v) / np.exp(v).sum(-1, keepdims=True)
    np.testing.assert_allclose(y, made[activation](wanted), rtol=1e-5, atol=1e-6)
    limit = np.sqrt(6 / 7)
    assert layer.kernel.shape == (3, 4) and np.abs(layer.kernel).max() <= limit and not np.any(layer.bias.numpy())


def test_inputs_of_another_dtype_become_that_of_the_layer():
    layer = K.layers.Dense(2, kernel_initializer="ones")
    for x in (np.ones((1, 3)), np.ones((1, 3), int), [[1.0, 1.0, 1.0]]):
        y = layer(x)
        assert y.dtype == tf.float32 and y.numpy().tolist() == [[3, 3]]


def test_a_layer_finds_its_weights_and_those_of_layers_in_its_attributes():
    layer = Scale()
    assert not layer.built and layer.variables == []
    layer(tf.ones([2, 3]))
    paths = ["scale/dense/kernel", "scale/dense/bias", "scale/factor", "scale/two"]
    assert [w.path for w in layer.weights] == paths and [w.path for w in layer.trainable_variables] == paths[:3]
    layer.inner["a"][0].trainable = False
    assert [w.path for w in layer.trainable_weights] == ["scale/factor"]
    layer.trainable = False
    assert layer.trainable_variables == [] and len(layer.variables) == 4


def test_gradients_reach_the_weights_of_a_model():
    model = K.Sequential([K.layers.Dense(2, kernel_initializer="ones")])
    model.add(K.layers.Dense(1, use_bias=False, kernel_initializer="ones"))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(model(tf.constant([[1.0, 2.0]])))
    found = tape.gradient(y, model.trainable_variables)
    assert [g.numpy().tolist() for g in found] == [[[1, 1], [2, 2]], [1, 1], [[3], [3]]]


def test_a_weight_computes_as_its_value():
    model = K.layers.Dense(1, kernel_initializer="ones")
    model.build([None, 2])
    w = model.kernel
    for made in (w + 1, 1 + w, w * 2, 2 * w, 3 - w, w @ [[2.0]], -(-2 * w), w**1 + w, tf.add(w, 1), abs(w) * 2):
        assert made.numpy().tolist() == [[2], [2]]
    w.assign([[3], [4]])
    assert np.asarray(w).tolist() == [[3], [4]] and w[1].numpy() == 4 and float(w[0, 0]) == 3
    with pytest.raises(ValueError, match=r"[Ss]hape"):
        w.assign([1.0])


def test_a_layer_without_call_says_so():
    with pytest.raises(NotImplementedError, match=r"does not have a `call` method"):
        K.layers.Layer()(tf.ones([1]))


# -- losses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shapes", [((3, 2), (3, 2)), ((3,), (3,)), ((3, 1), (3,)), ((3,), (3, 1)), ((2, 3, 1), (2, 3))]
)
def test_losses(shapes):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=shapes[0]), rng.normal(size=shapes[1])
    away = x.reshape(-1) - y.reshape(-1)
    assert K.losses.MeanSquaredError()(x, y).numpy() == pytest.approx(np.mean(away**2))
    assert K.losses.MeanAbsoluteError()(x, y).numpy() == pytest.approx(np.mean(np.abs(away)))
    if shapes[0] == shapes[1]:
        np.testing.assert_allclose(K.losses.MSE(x, y), np.mean((x - y) ** 2, -1))
        np.testing.assert_allclose(K.losses.MAE(x, y), np.mean(np.abs(x - y), -1))


# -- optimizers ------------------------------------------------------------------------------------


def run_steps(optimizer, variable):
    for g in GRADIENTS:
        optimizer.apply_gradients([(tf.constant(g), variable)])
    return variable.numpy()


@QUICK
@given(RATES, st.sampled_from([0.0, 0.5, 0.9]), st.booleans())
def test_sgd(rate, momentum, nesterov):
    w, velocity = np.ones(3), np.zeros(3)
    for g in GRADIENTS:
        velocity = momentum * velocity - rate * g
        w = w + (momentum * velocity - rate * g if nesterov else velocity)
    found = run_steps(K.optimizers.SGD(rate, momentum, nesterov), tf.Variable(tf.ones(3)))
    np.testing.assert_allclose(found, w, rtol=1e-4, atol=1e-5)


@QUICK
@given(RATES, st.sampled_from([0.5, 0.9]), st.sampled_from([0.9, 0.999]))
def test_adam(rate, beta_1, beta_2):
    w, m, v = np.ones(3), np.zeros(3), np.zeros(3)
    for t, g in enumerate(GRADIENTS, 1):
        m, v = beta_1 * m + (1 - beta_1) * g, beta_2 * v + (1 - beta_2) * g * g
        w = w - rate * np.sqrt(1 - beta_2**t) / (1 - beta_1**t) * m / (np.sqrt(v) + 1e-7)
    found = run_steps(K.optimizers.Adam(rate, beta_1, beta_2), tf.Variable(tf.ones(3)))
    np.testing.assert_allclose(found, w, rtol=1e-3, atol=1e-4)


def test_the_steps_are_those_of_keras_to_the_last_bit():
    """The expected numbers come from Keras 3 with TensorFlow 2.21."""
    wanted = {
        "Adam": [0.5149227380752563, 2.485078811645508, -3.485078811645508],
        "SGD": [0.7146999835968018, 3.6167001724243164, -5.09220027923584],
    }
    for optimizer, steps in ((K.optimizers.Adam(0.1), 5), (K.optimizers.SGD(0.1, momentum=0.9), 3)):
        v = tf.Variable([1.0, 2.0, -3.0])
        for step in range(steps):
            optimizer.apply_gradients([(tf.constant([0.3, -1.7, 2.2]) * (step + 1), v)])
        assert v.numpy().tolist() == wanted[type(optimizer).__name__]


@pytest.mark.parametrize("make", [lambda: K.optimizers.SGD(0.05, 0.9), lambda: K.optimizers.Adam(0.05)])
def test_a_step_is_the_same_in_a_function(make):
    made = []
    for wrap in (lambda f: f, tf.function):
        weights = [tf.Variable(np.linspace(-1, 1, 6, dtype=np.float32)), tf.Variable(0.3, dtype=tf.float64)]
        optimizer = make()
        step = wrap(lambda *grads, o=optimizer, w=weights: int(o.apply_gradients(zip(grads, w, strict=True)) is None))
        for seed in range(3):
            step(*[tf.constant(np.random.default_rng(seed).normal(size=w.shape), w.dtype) for w in weights])
        made.append([*[w.numpy().tolist() for w in weights], int(optimizer.iterations)])
    assert made[0] == made[1] and made[0][-1] == 3


def test_variables_without_a_gradient_are_named_and_left_alone():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    with pytest.warns(UserWarning, match=r"Gradients do not exist for variables \['w:0'\]"):
        K.optimizers.SGD(0.5).apply_gradients([(tf.constant(1.0), v), (None, w)])
    assert (v.numpy(), w.numpy()) == (0.5, 2.0)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        K.optimizers.SGD().apply_gradients([(None, v)])
    with pytest.raises(ValueError, match="momentum"):
        K.optimizers.SGD(0.1, momentum=2.0)


@pytest.mark.parametrize("make", [lambda: K.optimizers.SGD(0.5), lambda: K.optimizers.Adam(0.5)])
def test_an_optimizer_takes_only_the_variables_of_its_first_step(make):
    v, left_alone, other = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(5.0)
    optimizer, g = make(), tf.constant(1.0)
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        optimizer.apply_gradients([(g, v), (None, left_alone)])
    optimizer.apply_gradients([(g, left_alone)])
    with pytest.raises(ValueError, match=r"^Unknown variable: .*numpy=5\.0.*Create a new optimizer"):
        optimizer.apply_gradients([(g, v), (g, other)])
    assert other.numpy() == 5.0 and int(optimizer.iterations) == 2


@pytest.mark.parametrize("name", ["compile", "fit", "summary"])
def test_what_a_model_of_keras_has_besides_ends_in_one_sentence(name):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    sentence = rf"^minitape has no tf\.keras\.Sequential\.{name}, because it has only the TensorFlow names"
    with pytest.raises(AttributeError, match=sentence):
        getattr(model, name)
    assert copy.deepcopy(model).layers[0].built is False
