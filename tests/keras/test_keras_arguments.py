"""Arguments of optimizers, schedules, callbacks, losses and utilities that must not be ignored."""

from __future__ import annotations

import math

import numpy as np
import pytest

import minitape as tf

K = tf.keras
X = np.ones((4, 1), np.float32)


def model(rate=0.0):
    made = K.Sequential([K.Input((1,)), K.layers.Dense(1, kernel_initializer="zeros", use_bias=False)])
    made.compile(K.optimizers.SGD(rate), "mse")
    return made


def test_weights_spared_from_decay():
    variables = [tf.Variable(1.0, name="kernel"), tf.Variable(1.0, name="bias"), tf.Variable(1.0, name="scale")]
    optimizer = K.optimizers.SGD(0.5, weight_decay=0.5)
    optimizer.exclude_from_weight_decay([variables[2]], var_names=["bias"])
    optimizer.apply_gradients([(tf.constant(0.0), v) for v in variables])
    assert [float(v) for v in variables] == [0.75, 1.0, 1.0]
    with pytest.raises(ValueError, match="before the optimizer is built"):
        optimizer.exclude_from_weight_decay(var_names=["kernel"])


def test_gradients_are_accumulated():
    v = tf.Variable([1.0, 2.0])
    optimizer = K.optimizers.SGD(0.5, gradient_accumulation_steps=2)
    seen = []
    for gradient in ([1.0, 0.0], [3.0, 2.0], [0.0, 4.0], [2.0, 0.0]):
        optimizer.apply_gradients([(tf.constant(gradient), v)])
        seen.append((v.numpy().tolist(), int(optimizer.iterations)))
    assert seen == [([1.0, 2.0], 0), ([0.0, 1.5], 1), ([0.0, 1.5], 1), ([-0.5, 0.5], 2)]
    with pytest.raises(ValueError, match="must be an integer >= 2"):
        K.optimizers.SGD(gradient_accumulation_steps=1)


def test_weights_are_averaged():
    v = tf.Variable(0.0)
    optimizer = K.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5)
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(-1.0), v)])
    assert float(v) == 3.0
    optimizer.finalize_variable_values([v])
    assert float(v) == ((1.0 + 2.0) / 2 + 3.0) / 2
    v = tf.Variable(0.0)
    optimizer = K.optimizers.SGD(1.0, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2)
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant(-1.0), v)])
    assert float(v) == 1.5
    for wrong, said in (({"ema_momentum": 2.0}, r"range \[0, 1\]"), ({"ema_overwrite_frequency": 0.5}, "integer >= 1")):
        with pytest.raises(ValueError, match=said):
            K.optimizers.SGD(use_ema=True, **wrong)


def test_optimizers_of_ones_own_look_their_variables_up():
    class Counting(K.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.counts, self.sums = self.add_optimizer_variables(variables, ["count", "sum"], ["zeros", "ones"])
            self.all = self.add_variable((), name="all")

        def update_step(self, gradient, variable, learning_rate):
            place = self._get_variable_index(variable)
            self.assign_add(self.counts[place], 1.0)
            self.assign_sub(self.sums[place], gradient)
            self.assign(self.all, self.all + 1.0)
            self.assign_sub(variable, learning_rate * gradient)

    a, b = tf.Variable(1.0), tf.Variable(2.0)
    optimizer = Counting(learning_rate=0.5)
    optimizer.apply_gradients([(tf.constant(1.0), a), (tf.constant(2.0), b)])
    optimizer.apply_gradients([(tf.constant(4.0), b)])
    assert (float(a), float(b), float(optimizer.all)) == (0.5, -1.0, 3.0)
    assert [[float(v) for v in slot] for slot in (optimizer.counts, optimizer.sums)] == [[1.0, 2.0], [0.0, -5.0]]
    with pytest.raises(ValueError, match="number of provided names"):
        optimizer.add_optimizer_variables([a], ["one", "two"], ["zeros"])


def test_cosine_decay_warms_up():
    rate = K.optimizers.schedules.CosineDecay(0.5, 10, alpha=0.1, warmup_target=2.0, warmup_steps=4)
    wave = [2.0 * (0.9 * 0.5 * (1 + math.cos(math.pi * k / 10)) + 0.1) for k in (0, 3, 10, 10)]
    np.testing.assert_allclose([float(rate(k)) for k in (0, 2)], [0.5, 1.25], rtol=1e-6)
    np.testing.assert_allclose([float(rate(k)) for k in (4, 7, 14, 99)], wave, rtol=1e-5)
    again = type(rate).from_config(rate.get_config())
    assert float(again(2)) == 1.25


def test_csv_files_get_their_first_line_once(tmp_path):
    for append in (True, True, False):
        log = K.callbacks.CSVLogger(tmp_path / "log.csv", append=append)
        model().fit(X, X, verbose=0, callbacks=[log])
        text = (tmp_path / "log.csv").read_text().split()
        assert text[0] == "epoch,loss,val_loss" and set(text[1:]) == {"0,1.0,NA"}
    assert len(text) == 2  # the last one began anew


def test_nan_ends_training_by_an_error_if_wanted():
    with pytest.raises(RuntimeError, match="NaN or Inf loss encountered at batch 0"):
        model().fit(X, X * np.nan, verbose=0, callbacks=[K.callbacks.TerminateOnNaN(raise_error=True)])


def test_callbacks_take_only_what_they_know():
    with pytest.raises(TypeError, match="epsilon"):
        K.callbacks.ReduceLROnPlateau(epsilon=0.1)
    with pytest.raises(TypeError, match="on_foo"):
        K.callbacks.LambdaCallback(on_foo=print)


def test_plateaus_are_waited_for():
    plateau = K.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, cooldown=2, min_delta=10.0, min_lr=0.2)
    history = model(0.8).fit(X, X, epochs=6, verbose=0, callbacks=[plateau])
    np.testing.assert_allclose(history.history["learning_rate"], [0.8, 0.8, 0.4, 0.4, 0.2, 0.2], rtol=1e-6)


def test_several_callbacks_as_one():
    told = []

    class Tell(K.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            told.append((epoch, self.model is trained, self.params))

    trained = model()
    both = K.callbacks.CallbackList([Tell()], add_history=True, model=trained, epochs=3)
    both.append(Tell())
    both.callbacks[-1].set_model(trained)
    both.callbacks[-1].set_params({"epochs": 3})
    both.on_train_begin()
    both.on_epoch_end(1, {"loss": 2.0})
    assert told == [(1, True, {"epochs": 3})] * 2
    assert trained.history.history == {"loss": [2.0]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"padding": "both"}, 'Padding type "both" not understood'),
        ({"truncating": "both"}, 'Truncating type "both" not understood'),
        ({"value": "x"}, "is not compatible with `value`'s type"),
    ],
)
def test_sequences_are_padded_in_two_ways(arguments, message):
    with pytest.raises(ValueError, match=message):
        K.utils.pad_sequences([[1], [2, 3]], **arguments)


def test_sequences_of_vectors_and_words():
    padded = K.utils.pad_sequences([[[1, 2]], [[3, 4], [5, 6]]], padding="post")
    assert padded.tolist() == [[[1, 2], [0, 0]], [[3, 4], [5, 6]]]
    words = K.utils.pad_sequences([["a"], ["b", "c"]], dtype=object, value="-")
    assert words.tolist() == [["-", "a"], ["b", "c"]]
    for wrong, message in (
        (3, "must be iterable"),
        ([1], "Found non-iterable: 1"),
        ([[[1]], [[1, 2]]], "Shape of sample"),
    ):
        with pytest.raises(ValueError, match=message):
            K.utils.pad_sequences(wrong)


def test_normalize_gives_what_it_got():
    array = np.array([[3.0, 0.0], [4.0, 2.0]])
    assert K.utils.normalize(array, axis=0).tolist() == [[0.6, 0.0], [0.8, 1.0]]
    assert K.utils.normalize(array, order=1).tolist() == [[1.0, 0.0], [4 / 6, 2 / 6]]
    assert isinstance(K.utils.normalize(tf.constant(array)), tf.Tensor)


def test_only_what_has_a_configuration_is_registered():
    with pytest.raises(ValueError, match="does not have a get_config"):
        K.utils.register_keras_serializable()(type("Plain", (), {}))


def test_losses_have_the_signatures_of_keras():
    loss = K.losses.SparseCategoricalCrossentropy(True, 0, "sum", -1, "mine", "float64")
    assert (loss.name, loss.dtype, loss.reduction) == ("mine", "float64", "sum")
    assert loss.get_config() == {"name": "mine", "reduction": "sum", "from_logits": True, "ignore_class": 0, "axis": -1}
    assert K.losses.Huber.from_config(K.losses.Huber(0.5).get_config()).delta == 0.5
    with pytest.raises(TypeError, match="unexpected keyword argument 'deltas'"):
        K.losses.Huber(deltas=1.0)


def test_hinges_of_traced_labels():
    hinge = tf.function(lambda y: K.losses.hinge(y, tf.constant([[0.5], [0.5]])))
    assert hinge(tf.constant([[1.0], [0.0]])).numpy().tolist() == [0.5, 1.5]
    assert hinge(tf.constant([[1.0], [-1.0]])).numpy().tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    "made",
    [
        K.constraints.MinMaxNorm(0.5, 1.5, 0.25, 1),
        K.regularizers.L1L2(0.5, 0.25),
        K.initializers.RandomUniform(-2.0, 2.0, seed=3),
        K.optimizers.schedules.PolynomialDecay(1.0, 5, cycle=True),
    ],
)
def test_configurations_make_the_same_again(made):
    again = type(made).from_config(made.get_config())
    assert type(again) is type(made) and again.get_config() == made.get_config()


@pytest.mark.parametrize(
    ("metric", "monitor", "epochs"),
    [
        (K.metrics.AUC(name="area"), "area", 5),
        ("mae", "mae", 2),
        (K.metrics.RootMeanSquaredError(), "root_mean_squared_error", 2),
        ("cosine_similarity", "val_cosine_similarity", 5),
    ],
)
def test_what_is_better_is_known_of_metrics(metric, monitor, epochs):
    """All values are told to rise: training goes on where that is better."""
    made = model()
    made.compile(K.optimizers.SGD(0.0), "mse", metrics=[metric])

    class Rise(K.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs[monitor] = float(epoch)

    stop = K.callbacks.EarlyStopping(monitor)
    assert len(made.fit(X, X, epochs=5, verbose=0, callbacks=[Rise(), stop]).epoch) == epochs


def test_what_is_better_must_be_told_otherwise():
    made = model()
    made.compile("sgd", "mse", metrics=[lambda y_true, y_pred: y_pred])
    with pytest.raises(ValueError, match="isn't able to automatically determine"):
        made.fit(X, X, verbose=0, callbacks=[K.callbacks.EarlyStopping("lambda")])
    made.fit(X, X, verbose=0, callbacks=[K.callbacks.EarlyStopping("lambda", mode="min")])


def test_name_scopes_of_one_caller_and_other_parents():
    def path():
        return tf.keras.Variable([1.0], name="w").path

    caller = object()
    with tf.keras.name_scope("a", caller=caller):
        with tf.keras.name_scope("a", caller=caller):
            assert path() == "a/w"
        with tf.keras.name_scope("a", caller=caller, deduplicate=False):
            assert path() == "a/a/w"
        with tf.keras.name_scope("b", override_parent="x/y"):
            assert path() == "x/y/b/w"
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        tf.keras.name_scope("a", foo=1)


def test_sorted_segments():
    x = tf.constant([1.0, 2.0, 4.0])
    assert tf.keras.ops.segment_sum(x, tf.constant([0, 0, 1]), sorted=True).numpy().tolist() == [3, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment ids are not increasing"):
        tf.keras.ops.segment_sum(x, tf.constant([1, 0, 1]), sorted=True)
    with pytest.raises(ValueError, match="`num_segments` cannot be set when sorted is True"):
        tf.keras.ops.segment_sum(x, tf.constant([0, 0, 1]), num_segments=2, sorted=True)
