"""Editors and type checkers know every public name, and report no fault in a correct program."""

import re
import subprocess
import sys

import pytest
from make_stubs import PACKAGE, build_stubs

PROGRAM = """
import numpy as np

import minitape as tf
import minitape.compat.v1 as v1
from minitape import nn
from minitape.keras.layers import Dense
from minitape.python.framework import ops


class Line(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(tf.random.normal([2, 1]), name="w")
        self.b = tf.Variable(np.zeros(1, np.float32))

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x @ self.w + self.b)


line = Line()
x = tf.constant([[1.0, 2.0]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    value = tf.reduce_mean(tf.math.square(line(x) - 1.0) * 2)
for v, g in zip(line.trainable_variables, tape.gradient(value, line.trainable_variables)):
    if g is not None:
        v.assign_sub(0.1 * g)
state = tf.Variable(3.0)
state.assign_add(1.0)
print((2.0 * state + 1).numpy(), -state, state[..., None], value > 0, tape.explain(value, x).cause)
net = tf.keras.Sequential([Dense(3, activation="relu"), tf.keras.layers.Dense(1)])
tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.constant([[1.0]]), tf.Variable([[1.0]]))])
print(net(np.ones((4, 2))).shape, tf.keras.losses.MeanSquaredError()([[1.0]], [[2.0]]))
print(tf.ragged.constant([[1], [2, 3]]).to_tensor(), tf.strings.length("a"), nn.relu(x), v1.placeholder, ops.op_scope)


@tf.function
def double(x: tf.Tensor) -> tf.Tensor:
    return 2 * x


print(double(x), tf.float32.name)
"""
TYPES = {
    "x": "Tensor", "2.0 * x": "Tensor", "x @ v": "Tensor", "-v": "Tensor", "x[0]": "Tensor", "x > 1.0": "Tensor",
    "tf.exp(x)": "Tensor", "tf.math.log1p(x)": "Tensor", "tf.reduce_sum(x * x)": "Tensor",
    "tf.nn.softmax(tf.zeros([2]))": "Tensor", "nn.relu(x)": "Tensor", "tf.keras.layers.Dense(1)(x)": "Tensor",
    "v": "ResourceVariable", "tape": "GradientTape", "tape.gradient(x, v)": "Tensor | None",
    "tape.gradient(x, [v, v])": "list[Tensor | None]", "tape.gradient(x, {'v': v})": "dict[str, Tensor | None]",
    "tape.explain(x, v)": "ExplanationResult", "tape.explain(x, v).cause": "str",
    "tape.explain(x, [v])": "list[ExplanationResult]",
    "tf.sin(x).shape": "TensorShape", "Dense(2)": "Dense", "minitape.linalg.solve(x, x)": "Tensor",
}  # fmt: skip


def test_the_stubs_say_what_the_tables_say():
    """If this test fails, run `python tests/repository/make_stubs.py`."""
    wanted = build_stubs()
    assert {*PACKAGE.rglob("*.pyi")} == {*wanted}
    assert [str(path) for path, text in wanted.items() if path.read_text(encoding="utf-8") != text] == []


def test_the_program_runs(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(program)], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


@pytest.mark.long
def test_a_type_checker_finds_no_fault_in_it_and_knows_each_type(tmp_path):
    given = "x, v, tape = tf.constant([[1.0]]), tf.Variable([[1.0]]), tf.GradientTape()\nimport minitape.linalg\n"
    asked = "".join(f"reveal_type({value})\n" for value in TYPES)
    told = run_mypy(tmp_path, f"{PROGRAM}{given}{asked}tf.constnat(1.0)\ntf.math.sine(1.0)\n")
    found = [re.sub(r"[\w.]*\.(?=\w)", "", text) for text in re.findall(r'Revealed type is "(.+)"', told)]
    assert dict(zip(TYPES, found, strict=True)) == TYPES
    assert re.findall(r'error: Module has no attribute "(\w+)"', told) == ["constnat", "sine"]
    assert told.count("error:") == 2, told


def run_mypy(folder, program):
    """Return mypy's output for a program."""
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--check-untyped-defs", "--cache-dir", str(folder), "program.py"]
    return subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False).stdout
