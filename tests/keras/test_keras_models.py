"""Models: sequences, classes of one's own and functional ones; summaries, files, copies."""

import numpy as np
import pytest

import minitape as tf

K = tf.keras
L = K.layers


def data(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def small():
    K.utils.set_random_seed(3)
    return K.Sequential([K.Input((4,)), L.Dense(3, activation="tanh", name="a"), L.Dense(1, name="b")], name="small")


def test_inputs_in_a_dictionary_go_by_name():
    a, b = K.Input((1,), name="a"), K.Input((1,), name="b")
    model = K.Model({"b": b, "a": a}, a - b)
    x, y = tf.ones((1, 1)), tf.zeros((1, 1))
    assert float(model({"a": x, "b": y})[0, 0]) == 1.0
    with pytest.raises(ValueError, match="structure of `inputs` doesn't match"):
        model([x, y])  # nobody knows which is which
    with pytest.raises(ValueError, match='Missing data for input "b"'):
        model({"a": x, "c": y})


def test_the_trial_of_a_layer_leaves_no_trace():
    class Noisy(K.Layer):
        def __init__(self):
            super().__init__()
            self.calls = self.add_weight(initializer="zeros", trainable=False)
            self.seen = tf.Variable(0.0, trainable=False)

        def call(self, x):
            self.calls.assign_add(1.0)
            self.seen.assign(self.seen + 1.0)
            self.add_loss(tf.reduce_sum(x))
            return x + tf.random.uniform(tf.shape(x))

    tf.random.set_seed(7)
    wanted = [tf.random.uniform((3, 2)).numpy() for _ in range(2)]
    tf.random.set_seed(7)
    layer = Noisy()
    model = K.Sequential([layer, L.ReLU()])
    with tf.GradientTape() as tape:
        outputs = [model(tf.zeros((3, 2))).numpy() for _ in range(2)]
    np.testing.assert_array_equal(outputs, wanted)
    assert (float(layer.calls), float(layer.seen), len(model.losses)) == (2.0, 2.0, 1)
    assert not tape.watched_variables()


def test_training_reaches_the_layers_inside():
    model = K.Sequential([K.Input((50,)), L.Dropout(0.5, seed=0)])
    x = np.ones((4, 50), np.float32)
    assert (model(x).numpy() == 1).all() and set(np.unique(model(x, training=True))) == {0.0, 2.0}


def test_a_summary_says_what_keras_says(capsys):
    small().summary()
    printed = capsys.readouterr().out
    assert printed.splitlines()[:3] == [
        'Model: "small"',
        "Layer (type)  Output Shape  Param #",
        "a (Dense)     (None, 3)          15",
    ]
    assert "Total params: 19 (76.00 B)" in printed


def test_gradient_of_a_model_equals_finite_differences():
    model = small()
    x = data(5, 4)

    def loss():
        return float(tf.reduce_mean(model(x) ** 2))

    with tf.GradientTape() as tape:
        y = tf.reduce_mean(model(x) ** 2)
    for variable, gradient in zip(model.trainable_variables, tape.gradient(y, model.trainable_variables), strict=True):
        start = variable.numpy()
        for index in np.ndindex(start.shape):
            ends = []
            for step in (1e-2, -1e-2):
                moved = start.copy()
                moved[index] += step
                variable.assign(moved)
                ends.append(loss())
            variable.assign(start)
            assert abs((ends[0] - ends[1]) / 2e-2 - gradient.numpy()[index]) < 2e-3


def test_models_differ_by_seed_only():
    np.testing.assert_array_equal(small().weights[0], small().weights[0])


def test_a_model_inside_a_model_is_not_run_to_find_its_shapes():
    calls = []

    class Seen(tf.keras.layers.Layer):
        def call(self, x):
            calls.append(tuple(x.shape))
            return x

        def compute_output_shape(self, shape):
            return shape

    x = tf.keras.Input((None, 2))
    inner = tf.keras.Model(x, tf.keras.layers.Dense(3)(Seen()(x)))
    outer = tf.keras.Sequential([tf.keras.Input((None, 2)), tf.keras.Sequential([tf.keras.Input((None, 2)), inner])])
    assert not calls and outer.output_shape == (None, None, 3)
    assert outer(tf.ones([1, 4, 2])).shape == (1, 4, 3) and calls == [(1, 4, 2)]
    two = tf.keras.Model([x, y := tf.keras.Input((2,))], tf.keras.layers.Add()([x, y]))
    assert two([tf.keras.Input((5, 2)), tf.keras.Input((2,))]).shape == (None, 5, 2)
