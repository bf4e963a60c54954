"""Checkpoints, which keep the values of variables in a file.

A checkpoint is one NumPy archive (``numpy.savez``) named PREFIX.index; nothing in it is ever unpickled. Its keys are
TensorFlow's: the path of attributes from the root to the variable (https://www.tensorflow.org/guide/checkpoint).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import errors
from .invalid import unsupported
from .variable import ResourceVariable

_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def _is_variable(value: Any) -> bool:
    return isinstance(value, ResourceVariable) or (hasattr(value, "assign") and hasattr(value, "numpy"))


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    """The tracked attributes or items of an object, with their names."""
    if isinstance(value, Mapping):
        yield from ((str(k), v) for k, v in value.items())
    elif isinstance(value, (list, tuple)):
        yield from ((str(i), v) for i, v in enumerate(value))
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        for name in sorted(vars(value)):
            if not name.startswith("__"):
                yield name, vars(value)[name]


def _variables(root: Any) -> dict[str, Any]:
    """Every variable that can be reached from ``root``, under the shortest path to it."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    level = [("", root)]
    while level:
        following = []
        for path, value in level:
            if id(value) in seen:
                continue
            seen.add(id(value))
            if _is_variable(value):
                found[path + _VALUE] = value
            elif not isinstance(value, (str, bytes, int, float, np.ndarray)):
                following += [(f"{path}/{name}" if path else name, child) for name, child in _children(value)]
        level = following
    return found


def _file(prefix: Any) -> Path:
    return Path(os.fspath(prefix) + ".index")


def _load(prefix: Any) -> dict[str, np.ndarray]:
    try:
        with np.load(_file(prefix), allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except FileNotFoundError:
        raise errors.NotFoundError(
            None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}"
        ) from None


class Checkpoint:
    """Saves and restores the variables of the objects that it is given, found by their attributes.

    >>> import minitape as tf, tempfile
    >>> v = tf.Variable(1.0)
    >>> checkpoint = tf.train.Checkpoint(v=v)
    >>> path = checkpoint.write(tempfile.mkdtemp() + "/first")
    >>> _ = v.assign(5.0)
    >>> _ = checkpoint.restore(path)
    >>> v.numpy()
    np.float32(1.0)
    """

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root = root
        for name, value in kwargs.items():
            setattr(self, name, value)
        self.save_counter = ResourceVariable(0, trainable=False, dtype="int64", name="save_counter")

    def _found(self) -> dict[str, Any]:
        own = {k: v for k, v in vars(self).items() if k != "_root"}
        return (_variables(self._root) if self._root is not None else {}) | _variables(own)

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Writes the variables to PREFIX.index and returns the prefix."""
        unsupported("Checkpoint.write", options=options)
        arrays = {key: np.asarray(v.numpy()) for key, v in self._found().items()}
        file = _file(file_prefix)
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "wb") as out:
            np.savez(out, **arrays)
        return os.fspath(file_prefix)

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Counts up, and writes to PREFIX-COUNT.index; returns that prefix."""
        unsupported("Checkpoint.save", options=options)
        self.save_counter.assign_add(1)
        prefix = f"{os.fspath(file_prefix)}-{int(self.save_counter.numpy())}"
        self.write(prefix)
        (Path(prefix).parent / "checkpoint").write_text(f'model_checkpoint_path: "{Path(prefix).name}"\n')
        return prefix

    def read(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """Assigns the values of a checkpoint to the variables of the same path.

        Raises NotFoundError when there is no such checkpoint, ValueError when a shape differs.
        """
        unsupported("Checkpoint.read", options=options)
        saved, found = _load(save_path), self._found()
        for key, variable in found.items():
            if key in saved:
                variable.assign(saved[key])
        return CheckpointLoadStatus(set(saved), set(found))

    def restore(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """As ``read``; ``None`` for the path restores nothing."""
        unsupported("Checkpoint.restore", options=options)
        return CheckpointLoadStatus(set(), set()) if save_path is None else self.read(save_path)


class CheckpointLoadStatus:
    """What ``restore`` returns: which values found their variables."""

    def __init__(self, saved: set[str], found: set[str]) -> None:
        self._saved, self._found = saved, found

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError unless every saved value found a variable and every variable a value."""
        odd = sorted((self._saved ^ self._found) - {"save_counter" + _VALUE})
        if odd:
            raise AssertionError(f"Some objects had no counterpart: {', '.join(odd)}")
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises AssertionError when a variable found no value."""
        odd = sorted(self._found - self._saved - {"save_counter" + _VALUE})
        if odd:
            raise AssertionError(f"No saved value for: {', '.join(odd)}")
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that values may be left over: minitape does not warn of them anyway."""
        return self


class CheckpointManager:
    """Keeps the last few checkpoints in a folder.

    >>> import minitape as tf, tempfile
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tempfile.mkdtemp(), max_to_keep=1)
    >>> manager.save() == manager.latest_checkpoint
    True
    """

    def __init__(
        self, checkpoint: Checkpoint, directory: Any, max_to_keep: int | None, checkpoint_name: str = "ckpt"
    ) -> None:
        self._checkpoint, self._folder = checkpoint, Path(directory)
        self._keep, self._name = max_to_keep, checkpoint_name

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints in the folder, oldest first."""
        numbered = [
            (re.fullmatch(rf"{re.escape(self._name)}-(\d+)\.index", p.name), p) for p in self._folder.glob("*.index")
        ]
        return [str(p)[: -len(".index")] for m, p in sorted((int(m[1]), p) for m, p in numbered if m)]

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest prefix, None for an empty folder."""
        return next(iter(reversed(self.checkpoints)), None)

    def save(self, checkpoint_number: int | None = None) -> str:
        """Saves, removes the oldest checkpoints beyond ``max_to_keep``, and returns the prefix."""
        if checkpoint_number is not None:
            self._checkpoint.save_counter.assign(checkpoint_number - 1)
        path = self._checkpoint.save(self._folder / self._name)
        for old in self.checkpoints[: -self._keep] if self._keep else []:
            _file(old).unlink()
        return path


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """(key, shape) of every value in a checkpoint.

    >>> import minitape as tf, tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/c")
    >>> tf.train.list_variables(path)[-1]
    ('v/.ATTRIBUTES/VARIABLE_VALUE', [2])
    """
    path = latest_checkpoint(ckpt_dir_or_file) if os.path.isdir(ckpt_dir_or_file) else ckpt_dir_or_file
    return sorted((key, list(array.shape)) for key, array in _load(path).items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> np.ndarray:
    """The value that a checkpoint keeps under a key; KeyError when there is none.

    >>> import minitape as tf, tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/c")
    >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)
    """
    path = latest_checkpoint(ckpt_dir_or_file) if os.path.isdir(ckpt_dir_or_file) else ckpt_dir_or_file
    return _load(path)[name]


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of the last checkpoint that ``Checkpoint.save`` wrote into a folder, or None.

    >>> import minitape as tf, tempfile
    >>> tf.train.latest_checkpoint(tempfile.mkdtemp()) is None
    True
    """
    note = Path(checkpoint_dir) / (latest_filename or "checkpoint")
    if not note.exists():
        return None
    found = re.search(r'model_checkpoint_path: "([^"]+)"', note.read_text())
    return None if found is None else str(Path(checkpoint_dir) / found[1])
