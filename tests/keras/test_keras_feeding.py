"""Where batches come from, and what is refused. Losses and warnings are those of Keras 3 for the same calls."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minitape as tf

K = tf.keras
X = np.ones((4, 2), np.float32)
Y = np.array([[0.0], [1.0], [1.0], [2.0]], np.float32)  # the squared errors of the model below: 4, 1, 1, 0


def model(**how):
    made = K.Sequential([K.Input((2,)), K.layers.Dense(1, kernel_initializer="ones")])
    made.compile(K.optimizers.SGD(0.0), "mse", **how)
    return made


def dataset():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)


def generator(count):
    for _ in range(count):
        yield X[:2], Y[:2]


def losses(*data, ran_out=0, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        history = model().fit(*data, shuffle=False, verbose=0, **how).history
    assert ["Your input ran out of data" in str(w.message) for w in caught] == [True] * ran_out
    return history["loss"]


def test_steps_go_on_where_the_last_epoch_ended():
    assert losses(dataset(), steps_per_epoch=1, epochs=3) == [2.5, 0.5, 2.5]
    assert losses(X, Y, batch_size=2, steps_per_epoch=1, epochs=3) == [2.5, 0.5, 2.5]
    assert losses(X, Y, steps_per_epoch=2, epochs=2) == [1.5, 1.5]
    np.testing.assert_allclose(losses(dataset().repeat(), steps_per_epoch=3, epochs=2), [11 / 6, 7 / 6], rtol=1e-6)
    assert losses(generator(4), steps_per_epoch=2, epochs=2) == [2.5, 2.5]


def test_data_that_runs_out_is_told():
    assert losses(dataset(), steps_per_epoch=3, epochs=2, ran_out=2) == [1.5, 1.5]
    assert losses(X, Y, batch_size=2, steps_per_epoch=3, epochs=2, ran_out=2) == [1.5, 1.5]
    assert losses(dataset().filter(lambda x, y: True), epochs=2, ran_out=2) == [1.5, 1.5]
    assert losses(generator(3), steps_per_epoch=2, epochs=2, ran_out=1) == [2.5, 2.5]


def test_data_that_can_not_be_shuffled_is_told():
    with pytest.warns(UserWarning, match=r"`shuffle=True` was passed, but will be ignored .* tf\.data\.Dataset"):
        model().fit(dataset(), verbose=0)
    with pytest.warns(UserWarning, match="`shuffle=True` was passed, but will be ignored .* generator"):
        model().fit(generator(2), steps_per_epoch=2, verbose=0)


def test_classes_have_weights():
    assert losses(X, Y, class_weight={0: 1.0, 1: 5.0}) == [3.5]
    assert losses(dataset(), class_weight={0: 1.0, 1: 5.0, 2: 1.0}) == [3.5]
    assert model().train_on_batch(X, Y, class_weight={0: 2.0}) == 2.5


ONES = np.ones(4, np.float32)
WEIGHED = tf.data.Dataset.from_tensor_slices((X, Y, ONES)).batch(2)
REFUSED = {
    "both kinds of weights": (
        lambda: losses(X, Y, class_weight={0: 1.0}, sample_weight=ONES),
        "`class_weight` and `sample",
    ),
    "both in a dataset": (lambda: losses(WEIGHED, class_weight={0: 1.0}), "`class_weight` and `sample_weight`"),
    "both in a batch": (
        lambda: model().train_on_batch(X, Y, class_weight={0: 1.0}, sample_weight=ONES),
        "cannot be specified at the same time",
    ),
    "class weights of two outputs": (lambda: losses(X, [Y], class_weight={0: 1.0}), "Models with a single output"),
    "class weights of a generator": (
        lambda: losses(generator(1), class_weight={0: 1.0}),
        "not supported for Python gen",
    ),
    "labels beside a dataset": (lambda: losses(dataset(), Y), "`y` should not be passed"),
    "labels beside a generator": (lambda: losses(generator(1), Y), "x` as a generator, `y` should not be passed"),
    "weights beside a dataset": (lambda: losses(dataset(), sample_weight=Y), "`sample_weights` should not be passed"),
    "an empty generator": (lambda: losses(generator(0)), "Received an empty generator"),
    "a generator of arrays": (lambda: losses(x for x in X), "the generator must return a tuple"),
    "a part of a dataset": (lambda: losses(dataset(), validation_split=0.5), "only supported for tensors or NumPy"),
    "text": (lambda: losses("x", Y), "Unrecognized data type"),
    "too many loss weights": (lambda: model(loss_weights=[1.0, 2.0]), "got 1 losses and 2 weights"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    call, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        call()


def test_no_epochs_give_an_empty_history():
    assert model().fit(X, Y, epochs=0, verbose=0).history == {}


def test_models_take_no_arguments_that_nobody_reads():
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        model()(X, foo=1)


def two_outputs():
    x = K.Input((2,))
    made = {name: K.layers.Dense(1, kernel_initializer="ones", name=name)(x) for name in "ab"}
    return K.Model(x, made)


def test_some_outputs_may_have_no_loss():
    made = two_outputs()
    made.compile(K.optimizers.SGD(0.0), {"a": "mse"})
    with pytest.warns(UserWarning, match="Gradients do not exist"):
        history = made.fit(X, {"a": Y, "b": Y}, verbose=0).history
    assert history == {"loss": [1.5]}  # no loss of its own for each output where there is one only
    made.compile("sgd", {"z": "mse"})
    with pytest.raises(KeyError, match=r"The path: \('z',\) in the `loss` argument, can't be found"):
        made.evaluate(X, {"a": Y, "b": Y}, verbose=0)


def test_results_come_in_the_order_of_keras():
    made = two_outputs()
    made.compile("sgd", "mse", metrics={"a": ["mae"], "b": ["mae"]}, loss_weights=None)
    values = made.evaluate(X, {"a": Y, "b": 2 * Y}, verbose=0)
    by_name = made.evaluate(X, {"a": Y, "b": 2 * Y}, verbose=0, return_dict=True)
    assert values == [by_name[name] for name in ("loss", "a_loss", "b_loss", "a_mae", "b_mae")]


def test_callbacks_are_told_as_by_keras():
    told = []

    class Record(K.callbacks.Callback):
        def on_train_begin(self, *args, **kwargs):
            told.append(("train", args, kwargs))

        def on_epoch_begin(self, *args, **kwargs):
            told.append(("epoch", args, kwargs))

        def on_train_batch_begin(self, *args, **kwargs):
            told.append(("batch", args, kwargs))

    model().fit(X, Y, verbose=0, callbacks=[Record()])
    assert told == [("train", ({},), {}), ("epoch", (0, {}), {}), ("batch", (0,), {"logs": {}})]


def test_long_names_are_cut_in_a_summary(capsys):
    made = K.Sequential([K.Input((3,)), K.layers.Dense(1, name="a" * 60)], name="m")
    made.summary(line_length=50, show_trainable=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [
        "┃                   ┃               ┃ Param ┃    ┃",
        "┃ Layer (type)      ┃ Output Shape  ┃     # ┃ T… ┃",
    ]
    assert lines[5:7] == [
        "│ aaaaaaaaaaaaaaaa… │ (None, 1)     │     4 │ Y  │",
        "│ (Dense)           │               │       │    │",
    ]


def test_functions_are_metrics_by_name():
    made = model(metrics=[lambda y_true, y_pred: y_true])
    assert sorted(made.evaluate(X, Y, verbose=0, return_dict=True)) == ["lambda", "loss"]


def test_a_column_of_pandas_has_rows_of_one_number():
    class Series:
        def __init__(self, values):
            self.values, self.shape = np.asarray(values), (len(values),)

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)

    class Joined(tf.keras.Model):
        def call(self, inputs):
            return tf.concat([inputs["a"], inputs["b"]], 1)

    column = Series([1.0, 2.0])
    assert Joined().predict({"a": column, "b": column}, verbose=0).tolist() == [[1.0, 1.0], [2.0, 2.0]]


def test_an_input_layer_takes_the_older_names_of_its_arguments():
    with pytest.warns(UserWarning, match="Argument `input_shape` is deprecated. Use `shape` instead."):
        start = K.layers.InputLayer(input_shape=(3,))
    assert start.batch_shape == (None, 3)
    assert K.layers.InputLayer(batch_input_shape=(2, 3)).batch_shape == (2, 3)
    assert K.Sequential([start, K.layers.Dense(2)]).count_params() == 8
