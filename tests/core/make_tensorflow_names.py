"""Writes tensorflow_names.txt: what each namespace of TensorFlow offers. Run it with a Python that has TensorFlow.

    python tests/core/make_tensorflow_names.py
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path

import tensorflow as tf

NAMESPACES = """
tf tf.autodiff tf.autograph tf.autograph.experimental tf.bitwise tf.compat tf.compat.v1
tf.compat.v1.debugging tf.compat.v1.initializers tf.compat.v1.linalg tf.compat.v1.logging tf.compat.v1.losses
tf.compat.v1.math tf.compat.v1.nn tf.compat.v1.ragged tf.compat.v1.random tf.compat.v1.sparse tf.compat.v1.strings
tf.compat.v1.test tf.compat.v1.train
tf.config tf.config.experimental tf.data tf.data.experimental tf.debugging tf.dtypes tf.errors tf.experimental
tf.image tf.io tf.keras tf.keras.activations tf.keras.backend tf.keras.callbacks tf.keras.constraints
tf.keras.initializers tf.keras.layers tf.keras.losses tf.keras.metrics tf.keras.models tf.keras.ops
tf.keras.optimizers tf.keras.optimizers.schedules tf.keras.preprocessing tf.keras.preprocessing.sequence
tf.keras.random tf.keras.regularizers tf.keras.saving tf.keras.utils tf.linalg tf.math tf.math.special tf.nest
tf.nn tf.nn.experimental tf.ragged tf.random tf.random.experimental tf.sets tf.signal tf.sparse tf.strings tf.test
tf.train tf.types tf.types.experimental tf.version
""".split()


def names(namespace: str) -> list[str]:
    """The public names; of a part of Keras that ``tf.keras`` does not load, Keras's own."""
    try:
        found = functools.reduce(getattr, namespace.split(".")[1:], tf)
    except AttributeError:
        found = importlib.import_module(namespace.removeprefix("tf."))
    return [name for name in dir(found) if not name.startswith("_")]


def main() -> None:
    lines = [f"# TensorFlow {tf.__version__}, written by make_tensorflow_names.py"]
    lines += [f"{namespace}: {' '.join(names(namespace))}" for namespace in NAMESPACES]
    Path(__file__).with_name("tensorflow_names.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
