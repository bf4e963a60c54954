"""How layers find their weights and inner layers."""

import copy

import pytest

import minitape as tf

K = tf.keras


class Held(K.layers.Layer):
    def __init__(self):
        super().__init__()
        self.first = K.Variable(1.0, name="first")


def test_a_built_layer_takes_no_new_weights():
    layer = Held()
    layer.build((1,))
    layer.first = layer.weights[0]
    layer.notes = [1, "two"]
    with pytest.raises(ValueError, match="You cannot add new elements of state"):
        layer.late = [K.layers.Dense(1)]


def test_a_copy_has_weights_of_its_own():
    model = K.Sequential([K.Input((2,)), K.layers.Dense(1)])
    other = copy.deepcopy(model)
    other.weights[0].assign(model.weights[0] + 1.0)
    assert float(tf.reduce_sum(other(tf.ones([1, 2])) - model(tf.ones([1, 2])))) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "hold", [lambda inner: inner, lambda inner: (inner,), lambda inner: ((inner,),), lambda inner: {"a": inner}]
)
def test_what_is_appended_to_a_list_later_counts(hold):
    layer, inner = tf.keras.layers.Layer(), [tf.keras.layers.Dense(1)]
    layer.held = hold(inner)
    assert len([*layer._flatten_layers()]) == 2
    inner.append(tf.keras.layers.Dense(1))
    assert len([*layer._flatten_layers()]) == 3
    del layer.held
    assert len([*layer._flatten_layers()]) == 1
