"""Arguments of layers, specifications and inputs beyond the default ones. The numbers were computed by Keras 3."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf

K, L = tf.keras, tf.keras.layers
X = tf.constant(np.linspace(-1, 1, 24).reshape(2, 4, 3).astype(np.float32))
MASK = tf.constant([[True, True, False, False], [False, True, True, True]])
STATE = tf.constant([[0.5, -0.5], [1.0, 0.0]])
CALLS = (
    ({}, {}),
    ({}, {"mask": MASK}),
    ({"zero_output_for_mask": True, "return_sequences": True}, {"mask": MASK}),
    ({}, {"initial_state": STATE}),
    ({"dropout": 0.5, "seed": 4}, {"training": True}),
    ({"dropout": 0.3, "recurrent_dropout": 0.5, "seed": 4}, {"training": True}),
    ({"go_backwards": True}, {}),
)
RECURRENT = {  # for each of the calls; then the penalties
    "SimpleRNN": ((1.4393, 1.5547, 3.9162, 1.7882, 2.9728, 1.0891, 1.6932), (0.0092, 0.0183, 0.0114)),
    "LSTM": ((1.3603, 1.1248, 2.4281, 1.5196, 0.8095, 1.1905, 1.9072), (0.0647, 0.0674, 0.0475)),
    "GRU": ((-3.1999, -2.0163, -5.1944, -3.1793, -2.7002, -2.0922, -1.2777), (0.0534, 0.0547, 0.04)),
}


def begin():
    names = ("kernel", "recurrent", "bias")
    return {f"{n}_initializer": K.initializers.RandomUniform(-1, 1, seed=i + 1) for i, n in enumerate(names)}


def weighed(y):
    return float(tf.reduce_sum(y * tf.constant([1.0, 2.0])))


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_layers(name):
    results, penalties = RECURRENT[name]
    for (arguments, call), wanted in zip(CALLS, results, strict=True):
        if name == "LSTM" and "initial_state" in call:
            call = {"initial_state": [STATE, STATE]}
        assert weighed(getattr(L, name)(2, **begin(), **arguments)(X, **call)) == pytest.approx(wanted, abs=1e-4)
    layer = getattr(L, name)(
        2, **begin(), kernel_regularizer="l2", recurrent_regularizer="l1", bias_regularizer="l2",
        kernel_constraint="non_neg", recurrent_constraint="unit_norm", bias_constraint="max_norm",
    )  # fmt: skip
    layer(X)
    assert [float(loss) for loss in layer.losses] == pytest.approx(penalties, abs=1e-4)
    assert [type(w.constraint).__name__ for w in layer.weights] == ["NonNeg", "UnitNorm", "MaxNorm"]
    assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()


def test_gates_that_reset_before_the_product():
    layer = L.GRU(2, reset_after=False, **begin(), recurrent_dropout=0.4, seed=3)
    assert weighed(layer(X)) == pytest.approx(-2.8652, abs=1e-4)
    assert weighed(layer(X, training=True)) == pytest.approx(-3.0691, abs=1e-4)
    assert tuple(layer.cell.bias.shape) == (6,)


def test_recurrent_layers_in_a_model_with_a_state():
    x, h = K.Input((4, 3)), K.Input((2,))
    model = K.Model([x, h], L.GRU(2, **begin())(x, initial_state=h))
    assert weighed(model([X, STATE])) == pytest.approx(-3.1793, abs=1e-4)


DECLINED = {
    "weights": lambda: L.Bidirectional(L.LSTM(2), weights=[1.0, 2.0]),
    "renorm": lambda: L.BatchNormalization(renorm=True),
    "rms_scaling": lambda: L.LayerNormalization(rms_scaling=True),
    "lora_rank": lambda: L.Dense(2, lora_rank=1),
}


@pytest.mark.parametrize("name", DECLINED)
def test_what_is_declined_is_named(name):
    with pytest.raises(ValueError, match=f"minitape's .* has no `{name}`"):
        DECLINED[name]()


def test_defaults_of_what_is_declined_are_fine():
    L.LSTM(2, stateful=False, unroll=True, use_cudnn="auto")
    L.BatchNormalization(renorm=False, synchronized=False)
    with pytest.raises(ValueError, match="Unrecognized keyword arguments passed to Dense"):
        L.Dense(2, foo=1)
    with pytest.raises(TypeError):
        L.LSTM(2, "tanh", "sigmoid", True, "glorot_uniform")  # no other argument takes its place


def test_batch_normalization_of_what_a_mask_keeps():
    layer = L.BatchNormalization(momentum=0.0, epsilon=0.0)
    y = layer(X, training=True, mask=MASK).numpy()
    kept = y[MASK.numpy()]
    np.testing.assert_allclose(kept.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(kept.std(0), 1, atol=1e-4)
    np.testing.assert_allclose(layer.moving_mean.numpy(), X.numpy()[MASK.numpy()].mean(0), atol=1e-5)
    with pytest.raises(ValueError, match="one dimension less than the inputs"):
        layer(X, training=True, mask=MASK[0])


def test_normalization_keeps_what_it_learnt(tmp_path):
    layer = L.Normalization()
    layer.adapt(X.numpy())
    assert [w.name for w in layer.weights] == ["mean", "variance", "count"] and not layer.trainable_weights
    np.testing.assert_allclose(layer(X).numpy().std((0, 1)), 1, atol=1e-5)
    model = K.Sequential([K.Input((4, 3)), layer])
    model.save(tmp_path / "n.keras")
    np.testing.assert_allclose(K.models.load_model(tmp_path / "n.keras")(X), layer(X))
    batches = L.Normalization()
    batches.adapt(tf.data.Dataset.from_tensor_slices(X).batch(1))
    np.testing.assert_allclose(batches.mean, layer.mean, atol=1e-6)


def test_normalization_with_given_statistics():
    given = L.Normalization(axis=(1, 2), mean=[0.0, 1.0, 2.0], variance=[1.0, 4.0, 9.0], invert=True)
    np.testing.assert_allclose(given(X), X.numpy() * [1, 2, 3] + [0, 1, 2], rtol=1e-5)
    again = L.Normalization.from_config(given.get_config())
    np.testing.assert_allclose(again(X), given(X))
    with pytest.raises(ValueError, match="must have the same shape"):
        L.Normalization(mean=[1.0], variance=1.0)
    with pytest.raises(ValueError, match="rank of `mean` must be less than or equal to the number of axes"):
        L.Normalization(mean=[[1.0]], variance=[[1.0]])
    with pytest.raises(ValueError, match="in the range"):
        L.Normalization(axis=5)(X)
    with pytest.raises(ValueError, match="empty iterable"):
        L.Normalization().adapt([])


class Given(K.layers.Layer):
    def __init__(self, spec):
        super().__init__()
        self.input_spec = spec

    def call(self, x):
        return x


SPECS = [
    (L.InputSpec(ndim=2), tf.ones([2]), "expected ndim=2, found ndim=1"),
    (L.InputSpec(min_ndim=2), tf.ones([2]), "expected min_ndim=2"),
    (L.InputSpec(max_ndim=1), tf.ones([2, 2]), "expected max_ndim=1"),
    (L.InputSpec(dtype="int32"), tf.ones([2]), "expected dtype=int32, found dtype=float32"),
    (L.InputSpec(axes={-1: 3}), tf.ones([2]), "expected axis -1 of input shape to have value 3"),
    (L.InputSpec(shape=(None, 3)), tf.ones([2, 2]), r"expected shape=\(None, 3\), found shape=\(2, 2\)"),
    ([L.InputSpec(ndim=1), L.InputSpec(ndim=2)], [tf.ones([2]), tf.ones([2])], "Input 1 with name 'None'"),
    ([L.InputSpec(ndim=1), L.InputSpec(ndim=2)], [tf.ones([2])], r"expects 2 input\(s\), but it received 1"),
    ([L.InputSpec(name="a"), L.InputSpec(name="b")], {"a": tf.ones([2])}, 'Missing data for input "b"'),
]


@pytest.mark.parametrize(("spec", "x", "message"), SPECS)
def test_inputs_are_held_to_specifications(spec, x, message):
    with pytest.raises(ValueError, match=message):
        Given(spec)(x)


def test_specifications_leave_room():
    Given(L.InputSpec(shape=(None, 3, 1), allow_last_axis_squeeze=True))(tf.ones([2, 3]))
    Given([L.InputSpec(ndim=1), L.InputSpec(ndim=2, optional=True)])([tf.ones([2]), None])
    spec = L.InputSpec(shape=(None, 3))
    assert L.InputSpec.from_config(spec.get_config()).get_config() == spec.get_config()
    with pytest.raises(TypeError, match="must be a dict with integer keys"):
        L.InputSpec(axes={"a": 1})
    with pytest.raises(ValueError, match="Axis 2 is greater than the maximum allowed value: 1"):
        L.InputSpec(ndim=2, axes={2: 1})


def test_optional_inputs_may_be_none():
    class AddIfThere(L.Layer):
        def call(self, x, y):
            return x if y is None else x + y

        def compute_output_shape(self, x, y=None):
            return x

    x, y = K.Input((2,)), K.Input((2,), optional=True)
    model = K.Model([x, y], AddIfThere()(x, y))
    assert model([tf.ones([1, 2]), None]).numpy().tolist() == [[1.0, 1.0]]
    assert model([tf.ones([1, 2]), tf.ones([1, 2])]).numpy().tolist() == [[2.0, 2.0]]
    with pytest.raises(ValueError, match="is not optional, but None was passed"):
        model([None, tf.ones([1, 2])])


def test_a_symbolic_tensor_becomes_an_input():
    middle = L.Dense(2)(K.Input((3,)))
    model = K.Model(K.Input(tensor=middle), L.Rescaling(2.0)(middle))
    assert model(tf.ones([1, 2])).numpy().tolist() == [[2.0, 2.0]]
    with pytest.raises(ValueError, match="incompatible `shape` argument"):
        K.Input((5,), tensor=middle)
    with pytest.raises(ValueError, match="must be a KerasTensor"):
        K.Input(tensor=tf.ones([1]))


class Masked(L.Layer):
    def __init__(self):
        super().__init__()
        self.supports_masking = True

    def call(self, x, mask=None):
        return x if mask is None else x * tf.cast(mask, x.dtype)[:, :, None]


def test_masks_given_to_models_reach_their_layers():
    x = K.Input((4, 3))
    functional = K.Model(x, Masked()(x))
    late = K.Sequential([Masked()])
    for model in (functional, late, K.Sequential([K.Input((4, 3)), Masked()])):
        with pytest.warns(UserWarning, match="this layer does not support masking"):  # the model itself, as in Keras
            y = model(X + 0, mask=MASK)
        np.testing.assert_array_equal(y, X * tf.cast(MASK, tf.float32)[:, :, None])


def test_words_for_replicas_are_known_words():
    assert K.Variable(1.0, aggregation="mean", synchronization="on_read").aggregation == "mean"
    with pytest.raises(
        ValueError, match=r"Invalid value for argument `aggregation`\. Expected one of `None`, `'none'`"
    ):
        L.Layer().add_weight((), aggregation="all")
    with pytest.raises(ValueError, match="Invalid value for argument `synchronization`"):
        K.Variable(1.0, synchronization="now")


def test_layers_that_do_not_ask_are_not_told_of_training():
    x = tf.ones([1, 2, 2])
    for layer in (L.Embedding(3, 2), L.LayerNormalization(), L.Conv1D(1, 1), L.Normalization()):
        first = layer(x, training=True)  # also when it builds them
        np.testing.assert_array_equal(first, layer(x))


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
    (L.Conv1D(2, 3), (None, 7, 3), (None, 5, 2)),
    (L.Conv1D(2, 3, padding="causal", dilation_rate=2), (2, None, 3), (2, None, 2)),
    (L.Conv2D(4, (2, 3), strides=(1, 2), padding="same"), (None, 5, 6, 3), (None, 5, 3, 4)),
    (L.Conv2D(4, 2, dilation_rate=2), (None, 5, 6, 3), (None, 3, 4, 4)),
    (L.Reshape((3, -1)), (None, 12), (None, 3, 4)),
    (L.Reshape((3, -1)), (None, None, 2), (None, 3, None)),
    (L.Permute((2, 1)), (None, 4, 3), (None, 3, 4)),
    (L.RepeatVector(5), (None, 3), (None, 5, 3)),
]


@pytest.mark.parametrize(("layer", "before", "after"), SHAPES)
def test_shapes_are_known_before_a_layer_is_built(layer, before, after):
    assert tuple(layer.compute_output_shape(before)) == after
    assert not layer.weights
    symbol = layer(K.Input(batch_shape=before))
    assert symbol.shape == after


def test_shapes_that_do_not_fit():
    for call, message in (
        (lambda: L.Conv1D(1, 2)(tf.ones([1, 2, 3, 4])), "Kernel shape must have the same length as input"),
        (lambda: L.Conv2D(1, 2, strides=2, dilation_rate=2), "`strides > 1` not supported in conjunction"),
        (lambda: L.Reshape((-1, -1)), "at most one unknown dimension"),
        (lambda: L.Reshape((-1, 3))(tf.ones([1, 4])), "cannot by divided by the specified dimensions"),
        (lambda: K.Sequential([K.Input((3,)), L.Dense(1)])(tf.ones([2, 3, 3])), "Invalid input shape for input"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert L.Reshape((-1,))(tf.ones([0, 3])).shape == (0, 3)


def test_layers_of_whole_numbers_keep_them():
    assert L.Permute((2, 1))(K.Input((2, 3), dtype="int32")).dtype == "int32"
    assert L.Embedding(3, 2, mask_zero=True)(np.array([[True, False]])).shape == (1, 2, 2)


def test_symbolic_tensors_are_compared():
    x = K.Input((2,))
    model = K.Model(x, [x > 0.0, abs(x), ~(x <= 0.0)])
    bigger, size, also = model(tf.constant([[-1.0, 2.0]]))
    assert bigger.numpy().tolist() == also.numpy().tolist() == [[False, True]] and size.numpy().tolist() == [[1.0, 2.0]]
    assert (x > 0.0).dtype == "bool"
    with pytest.raises(NotImplementedError, match="Iterating over a symbolic KerasTensor"):
        list(x)


def test_an_activity_regularizer_is_kept():
    layer = L.Dense(1, activity_regularizer="l2")
    assert type(layer).from_config(layer.get_config()).activity_regularizer is not None


def test_a_missing_input_is_named():
    x, y = K.Input((2,), name="a"), K.Input((2,), name="b")
    with pytest.raises(ValueError, match=r"expects 2 named input\(s\) with keys \['a', 'b'\], but it received 1"):
        K.Model([x, y], L.Add()([x, y]))([tf.ones([1, 2])])
