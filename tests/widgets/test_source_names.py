"""Rows that no variable refers to any longer are named as the program's text names them."""

import numpy as np

import minitape as tf
from minitape.picture.source_names import MAX_ASSIGNMENTS


class Dense:
    def __init__(self, weight):
        self.w, self.b = tf.Variable(weight), tf.Variable(0.1)

    def __call__(self, x):
        return tf.tanh(self.w * x + self.b)


def collect_names(tape):
    """The names of the rows, by row, without the rows that have none."""
    return {row["row"]: row["name"] for row in tf.snapshot(tape)["rows"] if row["name"] is not None}


def test_locals_of_a_function_keep_their_names():
    def record():
        a, b = tf.Variable(2.0), tf.Variable(1.5)
        with tf.GradientTape() as tape:
            h = a * b
            y = tf.sin(h) + a
        return tape, y

    assert collect_names(record()[0]) == {0: "a", 1: "b", 2: "h", 4: "y"}


def test_the_derivative_of_a_local_is_named_after_it():
    def record():
        x = tf.Variable(1.2)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x**3
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)
        return outer

    names = list(collect_names(record()).values())
    assert names == ["x", "y", "∂y/∂y", "∂y/∂x"]


def test_annotated_and_nested_assignments_and_calls_over_several_lines_give_names():
    def record():
        a, b = tf.Variable(2.0), tf.Variable(1.5)
        with tf.GradientTape() as tape:
            h: tf.Tensor = a * b
            result = [g := tf.sin(h)]
            result = (
                tf.math
                .multiply(g, b)
            )  # fmt: skip
        return tape, result

    assert collect_names(record()[0]) == {0: "a", 1: "b", 2: "h", 3: "g", 4: "result"}


def test_attributes_of_two_objects_have_the_names_with_which_the_program_accesses_them():
    layers, data = [Dense(0.5), Dense(2.0)], tf.constant(0.3)
    with tf.GradientTape() as tape:
        h = data
        for layer in layers:
            h = layer(h)
        y = h - np.float32(0.7)
    names = [row["name"] for row in tf.snapshot(tape)["rows"] if row["kind"] != "operation"]
    assert names == ["layers[0].w", "data", "layers[0].b", "layers[1].w", "layers[1].b", None]
    assert collect_names(tape)[tape.record.find_row(y)] == "y"


def test_attributes_of_two_objects_that_the_program_cannot_access_are_numbered():
    def record(data):
        layers = [Dense(0.5), Dense(2.0)]
        with tf.GradientTape() as tape:
            layers[1](layers[0](data))
        return tape

    tape = record(tf.constant(0.3))
    names = [row["name"] for row in tf.snapshot(tape)["rows"] if row["kind"] != "operation"]
    assert names == ["self.w", "x₀", "self.b", "self.w₂", "self.b₂"]


def test_the_last_item_of_a_list_is_not_named_after_the_variable_of_a_loop():
    ws, v = [tf.Variable(0.1), tf.Variable(0.2)], tf.Variable(0.3)
    parameters = [v, *ws]
    with tf.GradientTape() as tape:
        h = v * tf.constant(1.0)
        for w in ws:
            h = h + w
    names = [row["name"] for row in tf.snapshot(tape)["rows"] if row["kind"] == "variable"]
    assert names == ["v", "ws[0]", "ws[1]"] and len(parameters) == 3


def test_a_variable_with_a_name_and_the_turns_of_a_loop():
    def record():
        w, v = tf.Variable(2.0, name="kernel"), tf.Variable(3.0)
        with tf.GradientTape() as tape:
            h = w * 1.0
            for _ in range(2):
                g = h * v
                h = tf.sin(g)
        return tape

    names = collect_names(record())
    assert names[0] == "kernel:0" and "v" in names.values()
    assert not {"g", "h"} & {*names.values()}  # Each turn assigns them again.


def test_the_arguments_of_a_function_with_several_rows_are_not_guessed():
    def record():
        t, p = tf.constant([1.0, 2.0]), tf.Variable([0.5, 0.5])
        with tf.GradientTape() as tape:
            loss = tf.keras.losses.MSE(t, p)
            y = tf.multiply(y=p, x=t) + loss
        return tape, y

    tape, _ = record()
    rows = tf.snapshot(tape)["rows"]
    assert {row["name"] for row in rows if row["kind"] != "operation"} <= {None}
    (loss,) = [row for row in rows if row["name"] == "loss"]
    assert loss["shape"] == [] and rows[-1]["name"] == "y"


def test_a_name_that_another_value_has_is_not_given_twice():
    x = tf.Variable(1.0)

    def multiply_by_own(value):
        x = tf.constant(4.0)
        return value * x

    with tf.GradientTape() as tape:
        y = multiply_by_own(x)
    names = [row["name"] for row in tf.snapshot(tape)["rows"]]
    assert names == ["x", "x₂", "y"] and tape.gradient(y, x).numpy() == 4.0


def test_the_start_value_of_a_name_that_is_assigned_again_has_the_number_0():
    y = tf.constant(1.0)
    with tf.GradientTape() as tape:
        for _ in range(2):
            y = y * tf.Variable(2.0, name="w")
    assert [row["name"] for row in tf.snapshot(tape)["rows"]] == ["w:0", "y₀", "y₁", "w:0", "y"]


def test_values_that_a_name_had_one_after_the_other_are_numbered():
    def record(stops):
        a = tf.Variable(1.2)
        with tf.GradientTape() as tape:
            h = tf.exp(a)
            if stops:
                h = tf.stop_gradient(h)
            for _ in range(2):
                y = tf.sin(h * a)
        return tape, y

    assert collect_names(record(False)[0]) == {0: "a", 1: "h", 3: "y₁", 5: "y₂"}
    assert collect_names(record(True)[0]) == {0: "a", 1: "h₁", 2: "h₂", 4: "y₁", 6: "y₂"}


def test_a_very_long_loop_leaves_its_results_without_names():
    y = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        for _ in range(MAX_ASSIGNMENTS + 2):
            y = tf.sin(y)
    assert [row["name"] for row in tf.snapshot(tape)["rows"]][2:-1] == [None] * MAX_ASSIGNMENTS


def test_an_element_is_called_by_its_index_in_each_picture():
    x = tf.Variable([[0.5, 1.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = x[0, 1] * x[1][0] + tf.reduce_sum(x[:, 1:]) + (x * x)[1, 1]
    labels = [row["label"] for row in tf.snapshot(tape)["rows"] if row["op"] == "slice"]
    assert labels == ["[0, 1]", "[1]", "[0]", "[:, 1:]", "[1, 1]"]
    svg = tf.draw(tape, y, x).svg
    assert all(f">{text}<" in svg for text in ("x[0, 1]", "x[1][0]", "x[:, 1:]", "(x × x)[1, 1]"))
    assert "x[0, 1]" in tf.draw(tape, y, x).source


def test_an_element_that_is_read_twice_has_one_name_without_a_number():
    x = tf.Variable([1.0, 2.0, 3.0], name="x")
    with tf.GradientTape() as tape:
        tf.stack([x[0] * x[1], x[1] * x[2], x[0]])
    names = [row["name"] for row in tf.snapshot(tape)["rows"] if row["label"].startswith("[")]
    assert names == ["x[0]", "x[1]", "x[1]", "x[2]", "x[0]"]


def test_the_same_element_of_two_values_is_numbered():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x[0] * 2.0
        x.assign_add([1.0, 1.0])
        y * x[0]
    names = [row["name"] for row in tf.snapshot(tape)["rows"] if row["label"].startswith("[")]
    assert names == ["x[0]", "x[0]₂"]
