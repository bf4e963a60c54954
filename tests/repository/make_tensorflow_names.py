"""Writes minitape/tf/tensorflow_names.txt: what each namespace that minitape has, too, offers in TensorFlow, and the
methods of the classes.

Run it with a Python that has TensorFlow.

    python tests/repository/make_tensorflow_names.py
"""

import functools
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from surface import listed

LIST = Path(__file__).parents[2] / "minitape" / "tf" / "tensorflow_names.txt"
OTHERS = ("tf.explain", "tf.python")  # minitape's own, and TensorFlow's private package
NAMESPACES = [path for path in listed() if not path.startswith(OTHERS)]


def find(namespace: str) -> Any:
    """The namespace; a part of Keras that ``tf.keras`` does not load is Keras's own."""
    try:
        return functools.reduce(getattr, namespace.split(".")[1:], tf)
    except AttributeError:
        return importlib.import_module(namespace.removeprefix("tf."))


def names(value: Any) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def classes() -> dict[type, str]:
    """Class -> its first public name: the classes that minitape has, too, but exceptions, and their public bases."""
    public: dict[type, str] = {}
    for namespace in NAMESPACES:
        for name in names(find(namespace)):
            value = getattr(find(namespace), name)
            if inspect.isclass(value) and not issubclass(value, Exception):
                public.setdefault(value, f"{namespace}.{name}")
    ours = {base for kind, path in public.items() if is_listed(path) for base in kind.__mro__}
    return {kind: path for kind, path in public.items() if kind in ours}


def is_listed(path: str) -> bool:
    """True for a name that stands in surface.txt."""
    namespace, _, name = path.rpartition(".")
    return name in listed()[namespace]


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
    lines = [f"# TensorFlow {tf.__version__}, written by tests/repository/make_tensorflow_names.py"]
    lines += [f"{namespace}: {' '.join(names(find(namespace)))}" for namespace in NAMESPACES]
    lines += methods()
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
