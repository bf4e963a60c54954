"""Where batches come from, and what is refused. Losses and warnings are those of Keras 3 for the same calls."""

import numpy as np
import pytest

import minitape as tf

K = tf.keras
X = np.ones((4, 2), np.float32)
Y = np.array([[0.0], [1.0], [1.0], [2.0]], np.float32)  # the squared errors of the model below: 4, 1, 1, 0


def compiled(made, loss="mse", **how):
    made.compile(K.optimizers.SGD(0.0), loss, **how)
    return made


def model(**how):
    return compiled(K.Sequential([K.Input((2,)), K.layers.Dense(1, kernel_initializer="ones")]), **how)


def dataset():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)


def losses(*data, **how):
    return model().fit(*data, shuffle=False, verbose=0, **how).history["loss"]


def test_data_that_can_not_be_shuffled_is_told():
    with pytest.warns(UserWarning, match=r"`shuffle=True` was passed, but will be ignored .* tf\.data\.Dataset"):
        model().fit(dataset(), verbose=0)


def two_outputs():
    x = K.Input((2,))
    return K.Model(x, {name: K.layers.Dense(1, name=name)(x) for name in ("a", "b")})


REFUSED = {
    "labels beside a dataset": (lambda: losses(dataset(), Y), "`y` should not be passed"),
    "weights beside a dataset": (lambda: losses(dataset(), sample_weight=Y), "`sample_weights` should not be passed"),
    "a generator": (lambda: losses(batch for batch in [(X, Y)]), "takes no generators"),
    "an argument that is gone": (
        lambda: losses(X, Y, class_weight={0: 1.0}),
        "unexpected keyword argument 'class_weight'",
    ),
    "text": (lambda: losses("x", Y), "Unrecognized data type"),
    "several losses": (lambda: model(loss=["mse", "mae"]).fit(X, Y, verbose=0), "takes one loss"),
    "several outputs": (lambda: compiled(two_outputs()).fit(X, {"a": Y, "b": Y}, verbose=0), "for several outputs"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    call, message = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_models_take_no_arguments_that_nobody_reads():
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        model()(X, foo=1)


def test_a_dataset_of_unknown_length_is_counted():
    data = dataset().filter(lambda x, y: True)
    with pytest.warns(UserWarning, match="Your input ran out of data"):
        assert len(losses(data, epochs=2)) == 2
