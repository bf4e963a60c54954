"""compile, fit, evaluate and predict: what is learnt, what is kept and what is printed."""

import re

import numpy as np
import pytest

import minitape as tf

K = tf.keras
L = K.layers


def line(count=32):
    x = np.linspace(-1, 1, count, dtype=np.float32)[:, None]
    return x, 3 * x + 1


def compiled(**kwargs):
    K.utils.set_random_seed(0)
    model = K.Sequential([K.Input((1,)), L.Dense(1)])
    model.compile(**({"optimizer": K.optimizers.SGD(0.3), "loss": "mse"} | kwargs))
    return model


def test_progress_as_keras_prints_it(capsys):
    model = compiled(metrics=["mae"])
    model.fit(*line(), epochs=2, batch_size=8, verbose=2)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Epoch 1/2" and printed[2] == "Epoch 2/2"
    assert re.fullmatch(r"4/4 - \d+m?s - \d+[mu]?s/step - loss: \d\.\d{4} - mae: \d\.\d{4}", printed[1])
    model.fit(*line(), epochs=1, batch_size=8, verbose=1)
    printed = capsys.readouterr().out
    assert "4/4" in printed and "━" * 20 in printed
    model.fit(*line(), epochs=1, verbose=0)
    assert capsys.readouterr().out == ""


def test_a_shuffled_dataset_in_the_order_of_keras():
    # Keras 3 on TensorFlow 2.21 takes every second iteration of the dataset
    K.utils.set_random_seed(3)
    x = np.arange(6, dtype=np.float32)
    orders = []

    class Listener(K.Model):
        def train_step(self, data):
            orders.append(data[0].numpy().tolist())
            return {"loss": 0.0}

    model = Listener()
    model.compile("sgd", "mse", run_eagerly=True)
    model.fit(tf.data.Dataset.from_tensor_slices((x, x)).shuffle(6).batch(6), epochs=3, shuffle=False, verbose=0)
    assert orders == [[3, 4, 0, 5, 1, 2], [0, 4, 2, 5, 1, 3], [5, 1, 2, 4, 0, 3]]


def test_weights_of_samples():
    x, y = line()
    weighted = compiled()
    weighted.fit(x, y, sample_weight=np.zeros(32), epochs=1, verbose=0)
    np.testing.assert_array_equal(weighted.weights[0], compiled().weights[0])


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: K.Sequential([L.Dense(1)]).fit(*line(), verbose=0), "compile"),
        (lambda: compiled().fit(line()[0], line()[1][:5], verbose=0), "cardinality|same.*(number|length|size)"),
        (lambda: compiled(loss="foo").fit(*line(), verbose=0), "Could not interpret|Unknown|unknown"),
        (lambda: compiled().fit(np.ones((3, 2)), np.ones((3, 1)), verbose=0), "expected"),
    ],
)
def test_wrong_use_raises(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
