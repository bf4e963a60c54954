"""tf.Module has TensorFlow's names, and finds the variables among its attributes in TensorFlow's order."""

import pytest

import minitape as tf


class Dense(tf.Module):
    def __init__(self, inputs, outputs, name=None):
        super().__init__(name)
        self.w = tf.Variable(tf.ones([inputs, outputs]), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b", trainable=False)

    @tf.Module.with_name_scope
    def late(self):
        return tf.Variable(1.0, name="late").name

    def __call__(self, x):
        return x @ self.w + self.b


class Net(tf.Module):
    def __init__(self):
        super().__init__("net")
        self.layers = [Dense(2, 3, "one"), (Dense(3, 1, "two"), {"scale": tf.Variable(2.0, name="scale")})]
        self.a = tf.Variable(0.0, name="a")
        self.note = "a text"

    def __call__(self, x):
        return self.layers[1][0](self.layers[0](x)) * self.layers[1][1]["scale"] + self.a


def test_variables_are_found_in_containers_and_in_order():
    net = Net()
    assert [v.name for v in net.variables] == ["a:0", "scale:0", "b:0", "w:0", "b:0", "w:0"]
    assert [v.name for v in net.trainable_variables] == ["a:0", "scale:0", "w:0", "w:0"]
    assert [v.name for v in net.non_trainable_variables] == ["b:0", "b:0"]
    assert all(isinstance(found, tuple) for found in (net.variables, net.trainable_variables, net.submodules))


def test_submodules():
    net = Net()
    assert [m.name for m in net.submodules] == ["one", "two"]
    outer = tf.Module()
    outer.inner = net
    assert [m.name for m in outer.submodules] == ["net", "one", "two"]


def test_a_shared_variable_is_found_once():
    module, shared = tf.Module(), tf.Variable(1.0)
    module.first, module.second = shared, [shared]
    assert module.variables == (shared,)


def test_modules_in_a_circle_end():
    a, b = tf.Module("a"), tf.Module("b")
    a.other, b.other = b, a
    assert [m.name for m in a.submodules] == ["b", "a"] or [m.name for m in a.submodules] == ["b"]
    assert a.variables == ()


def test_names():
    assert Net().name == "net" and Dense(1, 1).name == "dense" and tf.Module().name == "module"
    module = Dense(1, 1, "layer_1")
    assert module.late() == "layer_1/late:0"
    with module.name_scope as prefix:
        assert prefix == "layer_1/" and tf.Variable(1.0, name="v").name == "layer_1/v:0"
    with pytest.raises(ValueError, match="must be a Python identifier"):
        tf.Module("no name")
