"""Arguments of layers, specifications and inputs beyond the default ones. The numbers were computed by Keras 3."""

import numpy as np
import pytest

import minitape as tf
from minitape.keras.calls import InputSpec

K, L = tf.keras, tf.keras.layers
X = tf.constant(np.linspace(-1, 1, 24).reshape(2, 4, 3).astype(np.float32))
STATE = tf.constant([[0.5, -0.5], [1.0, 0.0]])


def begin():
    names = ("kernel", "recurrent", "bias")
    return {f"{n}_initializer": K.initializers.RandomUniform(-1, 1, seed=i + 1) for i, n in enumerate(names)}


def weighed(y):
    return float(tf.reduce_sum(y * tf.constant([1.0, 2.0])))


def test_a_recurrent_layer():
    for call, wanted in ({}, 1.3603), ({"initial_state": [STATE, STATE]}, 1.5196):
        assert weighed(L.LSTM(2, **begin())(X, **call)) == pytest.approx(wanted, abs=1e-4)
    layer = L.LSTM(2, **begin(), kernel_regularizer="l2", recurrent_regularizer="l1", bias_regularizer="l2")
    layer(X)
    assert [float(loss) for loss in layer.losses] == pytest.approx((0.0647, 0.0674, 0.0475), abs=1e-4)


def test_a_recurrent_layer_in_a_model_with_a_state():
    x, h = K.Input((4, 3)), K.Input((2,))
    model = K.Model([x, h], L.LSTM(2, **begin())(x, initial_state=[h, h]))
    assert weighed(model([X, STATE])) == pytest.approx(1.5196, abs=1e-4)


GONE = [
    (lambda: L.Dense(2, kernel_constraint="non_neg"), "Unrecognized keyword arguments passed to Dense"),
    (lambda: L.BatchNormalization(renorm=True), "Unrecognized keyword arguments passed to BatchNormalization"),
    (lambda: L.LSTM(2, stateful=True), "Unrecognized keyword arguments passed to LSTM"),
    (lambda: L.LSTM(2, dropout=0.5), "Unrecognized keyword arguments passed to LSTM"),
    (lambda: L.Embedding(3, 2, mask_zero=True), "cannot mark zeros as padding"),
    (lambda: L.Conv2D(2, 3, data_format="channels_first"), "data_format='channels_last'"),
]


@pytest.mark.parametrize(("make", "message"), GONE)
def test_what_is_not_there_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


class Given(K.layers.Layer):
    def __init__(self, spec):
        super().__init__()
        self.input_spec = spec

    def call(self, x):
        return x


SPECS = [
    (InputSpec(ndim=2), tf.ones([2]), "expected ndim=2, found ndim=1"),
    (InputSpec(min_ndim=2), tf.ones([2]), "expected min_ndim=2"),
    (InputSpec(axes={-1: 3}), tf.ones([2]), "expected axis -1 of input shape to have value 3"),
    (InputSpec(shape=(None, 3)), tf.ones([2, 2]), r"expected shape=\(None, 3\), found shape=\(2, 2\)"),
    ([InputSpec(ndim=1), InputSpec(ndim=2)], [tf.ones([2]), tf.ones([2])], "Input 1 with name 'None'"),
    ([InputSpec(ndim=1), InputSpec(ndim=2)], [tf.ones([2])], r"expects 2 input\(s\), but it received 1"),
    ([InputSpec(name="a"), InputSpec(name="b")], {"a": tf.ones([2])}, 'Missing data for input "b"'),
]


@pytest.mark.parametrize(("spec", "x", "message"), SPECS)
def test_inputs_are_held_to_specifications(spec, x, message):
    with pytest.raises(ValueError, match=message):
        Given(spec)(x)


def test_normalisation_computes_in_floats():
    numbers = np.array([[1, 2, 3]])
    np.testing.assert_allclose(L.BatchNormalization(epsilon=0.0)(numbers), numbers)
    assert L.LayerNormalization()(numbers).numpy().tolist() == [[-1.0, 0.0, 1.0]]  # of integers, as Keras
    wide = L.LayerNormalization(epsilon=0.0)(np.array([[1.0, 3.0]], np.float64))
    assert wide.dtype == tf.float32 and wide.numpy().tolist() == [[-1.0, 1.0]]
    with pytest.raises(IndexError):
        L.LayerNormalization(axis=3)(tf.ones([2, 2]))
    with pytest.raises(ValueError, match="Axis 3 is out of bounds"):
        L.BatchNormalization(axis=3).compute_output_shape((None, 2))


SHAPES = [
    (L.Conv2D(4, (2, 3), strides=(1, 2), padding="same"), (None, 5, 6, 3), (None, 5, 3, 4)),
    (L.Conv2D(4, 2, dilation_rate=2), (None, 5, 6, 3), (None, 3, 4, 4)),
    (L.Reshape((3, -1)), (None, 12), (None, 3, 4)),
    (L.Reshape((3, -1)), (None, None, 2), (None, 3, None)),
    (L.MaxPooling2D(2), (None, 5, None, 3), (None, 2, None, 3)),
]


@pytest.mark.parametrize(("layer", "before", "after"), SHAPES)
def test_shapes_are_known_before_a_layer_is_built(layer, before, after):
    assert tuple(layer.compute_output_shape(before)) == after
    assert not layer.weights
    symbol = layer(K.Input(batch_shape=before))
    assert symbol.shape == after


def test_shapes_that_do_not_fit():
    for call, message in (
        (lambda: L.Conv2D(1, 2)(tf.ones([1, 2, 3, 4, 5])), "Kernel shape must have the same length as input"),
        (lambda: L.Conv2D(1, 2, strides=2, dilation_rate=2), "`strides > 1` not supported in conjunction"),
        (lambda: L.Reshape((-1, -1)), "at most one unknown dimension"),
        (lambda: L.Reshape((-1, 3))(tf.ones([1, 4])), "cannot by divided by the specified dimensions"),
        (lambda: K.Sequential([K.Input((3,)), L.Dense(1)])(tf.ones([2, 3, 3])), "Invalid input shape for input"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert L.Reshape((-1,))(tf.ones([0, 3])).shape == (0, 3)


def test_layers_of_whole_numbers_keep_them():
    assert L.Reshape((3, 2))(K.Input((2, 3), dtype="int32")).dtype == "int32"
    assert L.Embedding(3, 2)(np.array([[True, False]])).shape == (1, 2, 2)


def test_symbolic_tensors_are_compared():
    x = K.Input((2,))
    model = K.Model(x, [x > 0.0, abs(x), ~(x <= 0.0)])
    bigger, size, also = model(tf.constant([[-1.0, 2.0]]))
    assert bigger.numpy().tolist() == also.numpy().tolist() == [[False, True]] and size.numpy().tolist() == [[1.0, 2.0]]
    assert (x > 0.0).dtype == "bool"
    with pytest.raises(NotImplementedError, match="Iterating over a symbolic KerasTensor"):
        list(x)


def test_a_missing_input_is_named():
    x, y = K.Input((2,), name="a"), K.Input((2,), name="b")
    with pytest.raises(ValueError, match=r"expects 2 named input\(s\) with keys \['a', 'b'\], but it received 1"):
        K.Model([x, y], L.Add()([x, y]))([tf.ones([1, 2])])
