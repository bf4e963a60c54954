"""What `explain` says of the operation as the user wrote it."""

import pytest

import minitape as tf

from .programs import explain_program


def test_before_the_block() -> None:
    why = explain_program("y = h * 2.0", before="h = tf.exp(x)")
    assert why.message.startswith("tf.exp ran before the tape's with block began (")


def test_after_the_block() -> None:
    why = explain_program("z = x * 2.0", after="y = tf.exp(z)")
    assert why.message.startswith("tf.exp ran after the tape's with block had ended (")


def test_a_watch_that_was_lost_in_a_pause() -> None:
    why = explain_program(
        "with tape.stop_recording():\n    tape.watch(c)\ny = c * 2.0", before="c = x = tf.constant(1.0)"
    )
    assert why.cause == "recording_paused" and "no effect" in why.message and "outside" in why.fix


@pytest.mark.parametrize("operation", ["tf.round(x)", "x // 2.0"])
def test_of_a_step_in_a_pause_the_pause_is_said_and_not_its_missing_derivative(operation: str) -> None:
    why = explain_program(f"with tape.stop_recording():\n    h = {operation}\ny = h * 2.0")
    assert why.cause == "recording_paused" and why.code == f"h = {operation}" and "stop_recording" in why.fix


def test_what_runs_once() -> None:
    net = "class Net:\n    def __init__(self):\n        self.w = x * 3.0\nnet = Net()"
    why = explain_program("y = net.w * 2.0", before=net)
    assert "ran only once, in __init__ (" in why.message and "in call" in why.fix


def test_what_runs_once_in_a_class_that_a_function_defines() -> None:
    net = "    class Net:\n        def __init__(self):\n            self.w = x * 3.0\n    return Net()"
    why = explain_program("y = net.w * 2.0", before=f"def make_net():\n{net}\nnet = make_net()")
    assert "ran only once, in __init__ (" in why.message and "in call" in why.fix


def test_a_tape_does_not_record_its_own_gradient() -> None:
    why = explain_program("z = x ** 3", after="y = tape.gradient(z, x)")
    assert "computed outside" in why.message and "nest two tapes" in why.fix


def test_second_derivative_of_what_is_linear() -> None:
    why = explain_program("with tf.GradientTape() as inner:\n    z = x * 3.0\ny = inner.gradient(z, x)")
    assert why.cause == "independent" and "linear in x" in why.message


@pytest.mark.parametrize(("update", "fix"), [
    ("x = x - 0.1 * x", "x.assign_sub(0.1 * x)"),
    ("x = x + 0.1", "x.assign_add(0.1)"),
    ("x = x.assign_sub([0.1, 0.1])", "x.assign_sub([0.1, 0.1])"),
    ("x = tf.clip_by_value(x, 0.0, 1.0)", "x.assign(tf.clip_by_value(x, 0.0, 1.0))"),
])  # fmt: skip
def test_a_variable_that_was_replaced(update: str, fix: str) -> None:
    why = explain_program("y = x * 2.0", before=update)
    assert why.cause == "rebound" and f"write {fix}." in why.fix


def test_a_variable_does_not_take_another_shape() -> None:
    why = explain_program("y = x * 2.0", before="x = tf.reshape(x, [2, 1])")
    assert why.cause == "rebound" and "different name" in why.fix and "tf.reshape" not in why.fix


def test_a_copy() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * 2.0
    first = x[0]
    assert "a different object, not from first" in tape.explain(y, first).message


def test_weights_of_keras_layers_have_their_names() -> None:
    layer = tf.keras.layers.Dense(1, name="head")
    with tf.GradientTape() as tape:
        out = layer(tf.ones([1, 2]))
    assert "layer.kernel" in tape.explain(out, layer.kernel).message


def test_a_comparison_of_what_is_rounded_has_its_own_name() -> None:
    w = tf.Variable([0.2, 1.7])
    with tf.GradientTape() as tape:
        hits = tf.math.equal(tf.round(w), [0.0, 1.0])
        y = tf.reduce_sum(tf.cast(hits, tf.float32))
    assert "truth value" in tape.explain(y, w).fix


def test_stored_before_the_block() -> None:
    why = explain_program("y = s * s", before="s = tf.Variable([0.0, 0.0])\ns.assign(x * 2.0)")
    assert why.cause == "state" and "Ask for the gradient of s" in why.fix
    why = explain_program("y = s * s", before="s = tf.Variable(tf.concat([x, x], 0))")
    assert why.cause == "state" and "Ask for the gradient of s" in why.fix


def test_what_ran_in_a_call_outside_is_the_call() -> None:
    helper = "def half(t):\n    return tf.multiply(t, 0.5)"
    why = explain_program("y = h * 2.0", before=f"{helper}\nh = half(x)")
    assert why.message.startswith("half(x) ran before") and why.code == "h = half(x)"
    stores = "class Box:\n    def fill(self):\n        self.h = x * 0.5\nbox = Box()"
    why = explain_program("y = box.h * 2.0", before=f"{stores}\nbox.fill()")
    assert why.code == "self.h = x * 0.5"


def test_an_unwatched_tensor_that_was_used_outside_wants_both_mended() -> None:
    why = explain_program("tape.watch(b)\ny = b * 2.0", before="x = tf.constant([1.0, 2.0])\nb = x[tf.newaxis]")
    assert why.cause == "outside_tape" and why.message.startswith("x[tf.newaxis] ran before")
    assert [other.cause for other in why.others] == ["not_watched"]


def test_an_object_that_holds_variables_is_not_assigned_to() -> None:
    pair = "from collections import namedtuple\nP = namedtuple('P', 'w b')\np = P(tf.Variable(1.0), tf.Variable(2.0))\n"
    why = explain_program("y = x * 2.0", before=pair + "p = P(p.w * 0.5, p.b)\nx = p.w")
    assert why.cause == "rebound" and ".assign(P(" not in why.fix


def test_what_another_tape_recorded() -> None:
    why = explain_program("y = h * 2.0", before="with tf.GradientTape() as first:\n    h = tf.exp(x)")
    assert (
        why.cause == "outside_tape" and "ran under a different tape" in why.message and "with the other tape" in why.fix
    )


def test_a_name_that_got_a_tensor_of_its_own_is_said_so() -> None:
    why = explain_program("y = x * 2.0", before="x = x * 0.5")
    assert why.cause == "rebound" and "bound to a new tensor" in why.message and "x.assign(x * 0.5)" in why.fix


def test_an_assignment_in_traced_code() -> None:
    f = "@tf.function\ndef f(v, total):\n    total.assign_add(v)\n    return total * 2.0\n"
    f += "total = tf.Variable([0.0, 0.0])"
    why = explain_program("y = f(x, total)", before=f)
    assert (
        why.cause == "state"
        and "value = total + v. Store it with total.assign(value), and continue with value" in why.fix
    )


MAKES = "def net(t):\n    w = tf.Variable([3.0, 4.0])\n    return t * w, w\n"


@pytest.mark.parametrize(("before", "body", "what", "code"), [
    (f"{MAKES}c, x = net(x)", "y, _ = net(tf.ones([2]))", "w was created again", "w = tf.Variable([3.0, 4.0])"),
])  # fmt: skip
def test_what_the_block_makes_for_itself(before: str, body: str, what: str, code: str) -> None:
    why = explain_program(body, before=before)
    assert (why.cause, why.code) == ("rebound", code) and what in why.message and "only once" in why.fix


BUILDS = """def build():
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    net(tf.ones([1, 2]))
    return net
nets = []
class Trainer:
    def renew(self):
        self.net = build()
trainer = Trainer()
trainer.renew()
kept, old = trainer.net.trainable_variables, trainer.net
"""


def test_a_model_that_a_function_built_again() -> None:
    why = explain_program("y = net(x[tf.newaxis])\nx = kept[0]", before=BUILDS + "net = old\nnet = build()")
    assert why.cause == "unused_layer" and "was not called" in why.message, why


def test_in_another_thread_what_left_is_known() -> None:
    worker = "import threading\ndef work():\n    left.append(np.exp(x))\nleft = []\n"
    why = explain_program(
        "t = threading.Thread(target=work)\nt.start()\nt.join()\ny = tf.constant(left[0]) * 2.0", before=worker
    )
    assert why.cause == "left_through_numpy" and "np.exp" in why.message and "tf.exp" in why.fix


def test_of_several_elements_the_gradient_is_that_of_their_sum() -> None:
    assert "has 2 elements, so this is the gradient of their sum" in explain_program("y = x * 2.0").message
    assert "2 targets" in explain_program("y = [x[0], x[1] * 2.0]").message
    assert "sum" not in explain_program("y = tf.reduce_sum(x)").message


def test_a_size_in_a_list() -> None:
    why = explain_program("n = tf.cast(x[1], tf.int32)\ny = tf.pad(tf.ones([2]), [[0, n]]) + 1.0")
    assert why.cause == "integer_dtype" and "has the dtype int32" in why.message


def test_a_tensor_that_is_not_used_wants_to_be_watched_too() -> None:
    why = explain_program("y = x * 2.0\nx = t", before="t = tf.ones([2])")
    assert why.cause == "independent" and why.fix.startswith("Use t to compute the target, after tape.watch(t), or")


def test_a_value_that_only_decides_is_a_choice() -> None:
    why = explain_program(
        "y = tf.reduce_sum(x)\nif math.isnan(y):\n    y = tf.constant(0.0)\nelse:\n    y = tf.constant(1.0)"
    )
    assert why.message.startswith("Python used the value (") and "tf.where" in why.fix


def test_a_layer_that_leaves_its_weight_out() -> None:
    layer = """
class L(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(1.0)
    def call(self, t):
        return t * 2.0
layer = L()
"""
    why = explain_program("y = layer(x)\nx = layer.w", before=layer)
    assert why.cause == "unused_layer" and "call method does not use" in why.message
