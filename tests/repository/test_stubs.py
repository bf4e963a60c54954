"""What editors and type checkers know of minitape: every public name, and no fault in a program that has none."""

import re
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from make_stubs import PACKAGE, stubs

PROGRAM = """
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
    print(tf.ragged.constant([[1], [2, 3]]) + batch[0], tf.convert_to_tensor(batch), tf.strings.length("a"))


@tf.function
def double(x: tf.Tensor) -> tf.Tensor:
    return 2 * x


print(double(x), tf.compat.v1.placeholder, tf.float32.name)
"""


def test_the_stubs_say_what_the_tables_say():
    """`python tests/repository/make_stubs.py` writes them anew."""
    wanted = stubs()
    assert {*PACKAGE.rglob("*.pyi")} == {*wanted}
    assert [str(path) for path, text in wanted.items() if path.read_text(encoding="utf-8") != text] == []


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """What mypy says of a program."""
    folder = tmp_path_factory.mktemp("checked")

    def check(program: str) -> str:
        (folder / "program.py").write_text(program)
        command = [sys.executable, "-m", "mypy", "--check-untyped-defs", "--cache-dir", str(folder), "program.py"]
        done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
        assert "program.py" in done.stdout or done.returncode == 0, done
        return done.stdout

    return check


@pytest.mark.long
def test_a_type_checker_knows_the_names_and_finds_the_misspelt(checked):
    told = checked(f"{PROGRAM}reveal_type(tape)\nreveal_type(state)\ntf.constnat(1.0)\ntf.math.sine(1.0)\n")
    found = re.findall(r"(?:Revealed type is|error: Module has no attribute) \"([\w.]+)\"", told)
    assert found == [
        "minitape.engine.back.tape.GradientTape",
        "minitape.engine.tensor.variable.ResourceVariable",
        "constnat",
        "sine",
    ], told
    assert told.count("error:") == 2, told


@pytest.mark.long
def test_what_is_computed_from_tensors_is_a_tensor(checked):
    values = [
        "x",
        "2.0 * x",
        "x @ v",
        "-v",
        "x[0]",
        "x > 1.0",
        "tf.exp(x)",
        "tf.reduce_sum(x * x)",
        "tf.nn.softmax(tf.zeros([2]))",
    ]
    told = checked(
        "\n".join(
            [
                "import minitape as tf",
                "x, v = tf.constant([[1.0]]), tf.Variable([[1.0]])",
                *[f"reveal_type({value})" for value in values],
                "reveal_type(tf.sin(x).shape)",
            ]
        )
    )
    found = re.findall(r'Revealed type is "([\w.]+)"', told)
    assert found == ["minitape.engine.tensor.tensor.Tensor"] * len(values) + [
        "minitape.engine.values.shape.TensorShape"
    ], told


def functions(space: Any, path: str, seen: set[str]):
    """The names of all public functions below a namespace."""
    for name in dir(space):
        value = getattr(space, name)
        if not isinstance(value, ModuleType):
            if callable(value) and not isinstance(value, type):
                yield path + name
        elif value.__name__.startswith("minitape.") and value.__name__ not in seen:
            seen.add(value.__name__)
            yield from functions(value, f"{path}{name}.", seen)


def test_the_program_runs(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(program)], text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
