"""Layers of sequence models against NumPy, and step by step."""

import numpy as np
import pytest

import minitape as tf

K, L = tf.keras, tf.keras.layers


def data(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def test_a_recurrent_layer_goes_step_by_step():
    layer, x = L.LSTM(3, return_state=True), tf.constant(data(2, 4, 5))
    y = layer(x)[0]
    states = layer.get_initial_state(batch_size=2)
    for i in range(4):
        out, *states = layer(x[:, i : i + 1], initial_state=states)
    close(out, y)
    assert [w.path for w in layer.weights] == [
        f"{layer.name}/lstm_cell/{weight}" for weight in ("kernel", "recurrent_kernel", "bias")
    ]
    with pytest.raises(ValueError, match=r"LSTM has 2 state\(s\), but got 1"):
        layer(x, initial_state=[tf.ones([2, 3])])


def test_a_layer_is_no_part_of_itself():
    class Named(L.Layer):
        def build(me, shape):
            me.w = me.add_weight((shape[-1],), name="w")

        def call(me, x):
            return x * me.w

    layer = Named()
    layer(data(2, 3))
    assert [w.path for w in layer.weights] == ["named/w"]
