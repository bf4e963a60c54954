"""Writes tensorflow_names.txt: what each namespace of TensorFlow offers, and the methods of each class.

Run it with a Python that has TensorFlow.

    python tests/house/make_tensorflow_names.py
"""

from __future__ import annotations

import functools
import importlib
import inspect
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from google.protobuf.message import Message

NAMESPACES = """
tf tf.autodiff tf.autograph tf.autograph.experimental tf.bitwise tf.compat tf.compat.v1
tf.compat.v1.debugging tf.compat.v1.initializers tf.compat.v1.linalg tf.compat.v1.logging tf.compat.v1.losses
tf.compat.v1.math tf.compat.v1.nn tf.compat.v1.ragged tf.compat.v1.random tf.compat.v1.sparse tf.compat.v1.strings
tf.compat.v1.test tf.compat.v1.train
tf.config tf.config.experimental tf.data tf.data.experimental tf.debugging tf.dtypes tf.errors tf.experimental
tf.image tf.io tf.lookup tf.lookup.experimental tf.keras tf.keras.activations tf.keras.applications
tf.keras.applications.densenet tf.keras.applications.efficientnet tf.keras.applications.imagenet_utils tf.keras.applications.inception_v3
tf.keras.applications.mobilenet tf.keras.applications.mobilenet_v2 tf.keras.applications.resnet tf.keras.applications.resnet50
tf.keras.applications.resnet_v2 tf.keras.applications.vgg16 tf.keras.applications.vgg19 tf.keras.applications.xception tf.keras.backend tf.keras.callbacks tf.keras.constraints
tf.keras.datasets tf.keras.datasets.boston_housing tf.keras.datasets.california_housing tf.keras.datasets.cifar10 tf.keras.datasets.cifar100
tf.keras.datasets.fashion_mnist tf.keras.datasets.imdb tf.keras.datasets.mnist tf.keras.datasets.reuters
tf.keras.initializers tf.keras.layers tf.keras.losses tf.keras.metrics tf.keras.models tf.keras.ops
tf.keras.optimizers tf.keras.optimizers.schedules tf.keras.preprocessing tf.keras.preprocessing.sequence tf.keras.preprocessing.text
tf.keras.random tf.keras.regularizers tf.keras.saving tf.keras.utils tf.linalg tf.math tf.math.special tf.nest
tf.nn tf.nn.experimental tf.ragged tf.raw_ops tf.random tf.random.experimental tf.saved_model tf.sets tf.signal tf.sparse tf.strings tf.summary tf.summary.experimental tf.test
tf.train tf.types tf.types.experimental tf.version
""".split()


def find(namespace: str) -> Any:
    """The namespace; a part of Keras that ``tf.keras`` does not load is Keras's own."""
    try:
        return functools.reduce(getattr, namespace.split(".")[1:], tf)
    except AttributeError:
        return importlib.import_module(namespace.removeprefix("tf."))


def names(value: Any) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def classes() -> dict[type, str]:
    """Class -> its first public name; not of exceptions, protocol buffers and Python's own tests."""
    found: dict[type, str] = {}
    for namespace in NAMESPACES:
        for name in names(find(namespace)):
            value = getattr(find(namespace), name)
            if inspect.isclass(value) and not issubclass(value, (Exception, Message, unittest.TestCase)):
                found.setdefault(value, f"{namespace}.{name}")
    return found


def methods() -> Iterator[str]:
    """A line for each class: its public name, the public bases, and the methods that these lack.

    A base that is not public has no line: its methods stand at the first class that has them.
    """
    public, told = classes(), set()
    for kind, name in public.items():
        bases = kind.__mro__[1:-1]
        known = {attribute for base in bases if base in public for attribute in dir(base)}
        members = {n: (base, n) for base in [*bases[::-1], kind] for n, m in vars(base).items() if inspect.isroutine(m)}
        new = {n: owned for n, owned in members.items() if n not in known and not n.startswith("_")}
        if own := sorted(n for n, owned in new.items() if owned not in told):
            yield f"{name}({' '.join(public[base] for base in bases if base in public)}): {' '.join(own)}"
        told |= set(new.values())


def main() -> None:
    lines = [f"# TensorFlow {tf.__version__}, written by make_tensorflow_names.py"]
    lines += [f"{namespace}: {' '.join(names(find(namespace)))}" for namespace in NAMESPACES]
    lines += methods()
    Path(__file__).with_name("tensorflow_names.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
