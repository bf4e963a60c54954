"""What editors and type checkers know of minitape: every public name, and no fault in a program that has none."""

from __future__ import annotations

import re
import subprocess
import sys

from make_stubs import PACKAGE, stubs

PROGRAM = '''
import numpy as np

import minitape as tf


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
    v.assign_sub(0.1 * g)
state = tf.Variable(3.0)
state.assign_add(1.0)
print((2.0 * state + 1).numpy(), -state, state[..., None], value > 0, tape.explain(value, x).cause)
net = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu"), tf.keras.layers.Dense(1)])
net.compile(optimizer=tf.keras.optimizers.Adam(0.1), loss="mse")
net.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=2, verbose=0)
for batch in tf.data.Dataset.from_tensor_slices([1, 2, 3]).batch(2):
    print(tf.ragged.constant([[1], [2, 3]]) + batch[0], tf.convert_to_tensor(batch), tf.keras.ops.sin(1.0))


@tf.function
def double(x: tf.Tensor) -> tf.Tensor:
    return 2 * x


print(double(x), tf.compat.v1.placeholder, tf.float32.name)
'''


def test_the_stubs_say_what_the_tables_say():
    """`python tests/core/make_stubs.py` writes them anew."""
    wanted = stubs()
    assert {*PACKAGE.rglob("*.pyi")} == {*wanted}
    assert [str(path) for path, text in wanted.items() if path.read_text(encoding="utf-8") != text] == []


def test_a_type_checker_knows_the_names_and_finds_the_misspelt(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"{PROGRAM}reveal_type(tape)\nreveal_type(state)\ntf.constnat(1.0)\ntf.math.sine(1.0)\n")
    command = [sys.executable, "-m", "mypy", "--check-untyped-defs", "--cache-dir", str(tmp_path), "program.py"]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    told = re.findall(r"(?:Revealed type is|error: Module has no attribute) \"([\w.]+)\"", done.stdout)
    assert told == ["minitape.tape.GradientTape", "minitape.variable.ResourceVariable", "constnat", "sine"], done
    assert done.stdout.count("error:") == 2, done.stdout


def test_the_program_runs(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(program)], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
