"""Checkpoints, which keep the values of variables in a file.

A checkpoint is one NumPy archive (``numpy.savez``) named PREFIX.index; nothing in it is ever unpickled. Its keys are
TensorFlow's: the path of attributes from the root to the variable (https://www.tensorflow.org/guide/checkpoint). Beside
the values it keeps the graph of the objects, so that a value is found on any path that leads to it, and so that what is
not there yet when a checkpoint is restored gets its value as soon as it comes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..engine import dtypes, errors
from ..engine.beside import beside
from ..engine.invalid import unsupported
from ..engine.variable import ResourceVariable
from .archive import arrays_in, write
from .awaited import AWAITED, resume

_VALUE, _PLACE, _GRAPH = "/.ATTRIBUTES/VARIABLE_VALUE", "/.ATTRIBUTES/ITERATOR_STATE", "_CHECKPOINTABLE_OBJECT_GRAPH"


def is_variable(value: Any) -> bool:
    return isinstance(value, ResourceVariable) or (hasattr(value, "assign") and hasattr(value, "numpy"))


def _is_tracked(value: Any) -> bool:
    """Whether checkpoints keep a value or look into it: modules, layers, optimizers, generators, iterators, containers."""
    return isinstance(value, (Mapping, list, tuple)) or hasattr(value, "_checkpointed") or is_variable(value)


def _children(value: Any) -> dict[str, Any]:
    """The tracked attributes or items of an object, by name."""
    if isinstance(value, Mapping):
        found: Any = value.items()
    elif isinstance(value, (list, tuple)):
        found = enumerate(value)
    elif isinstance(value, Checkpoint):
        found = [*value._own(), *_children(value._root).items()]
    elif is_variable(value):
        found = ()
    elif hasattr(type(value), "_tracked_children"):  # a model of tf.saved_model.load
        found = value._tracked_children().items()
    else:
        hidden = getattr(value, "_checkpointed", None)
        found = [(k, v) for k, v in vars(value).items() if k not in hidden] if hidden is not None else ()
    return {str(name): child for name, child in found if _is_tracked(child)}


def _key(path: tuple[str, ...], value: Any) -> str | None:
    """Under which name a file keeps the value of an object that has one."""
    text = "/".join(name.replace(".", "..").replace("/", ".S") for name in path)
    return text + _VALUE if is_variable(value) else text + _PLACE if hasattr(value, "_place") else None


def nodes_of(root: Any) -> list[tuple[Any, str | None, dict[str, int]]]:
    """(object, key, children by number) of all that can be reached from ``root``, on the shortest path to it."""
    numbers, order, found = {id(root): 0}, [((), root)], []
    for path, value in order:
        below = {}
        for name, child in _children(value).items():
            if id(child) not in numbers:
                numbers[id(child)] = len(order)
                order.append(((*path, name), child))
            below[name] = numbers[id(child)]
        found.append((value, _key(path, value), below))
    return found


def _file(prefix: Any) -> Path:
    return Path(os.fspath(prefix) + ".index")


def _load(prefix: Any) -> dict[str, np.ndarray]:
    try:
        return arrays_in(_file(prefix), "checkpoint that minitape wrote")
    except FileNotFoundError:
        raise errors.NotFoundError(
            None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}"
        ) from None


class Checkpoint:
    """Saves and restores the variables of the objects that it is given, found by their attributes.

    These are variables, modules, layers, optimizers, random generators, iterators over datasets, and lists, tuples and
    dictionaries of them; ValueError for another object. What is made only after ``restore`` (the weights of a layer that
    is not built, an attribute that is set later) gets its value when it comes.

    >>> import minitape as tf, tempfile
    >>> v = tf.Variable(1.0)
    >>> checkpoint = tf.train.Checkpoint(v=v)
    >>> path = checkpoint.write(tempfile.mkdtemp() + "/first")
    >>> _ = v.assign(5.0)
    >>> _ = checkpoint.restore(path)
    >>> v.numpy()
    np.float32(1.0)
    """

    _checkpointed: frozenset[str] = frozenset()

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        self._root = {} if root is None else root
        for name, value in sorted(kwargs.items()):
            if not _is_tracked(value):
                raise ValueError(
                    f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got "
                    f"{value}. If you believe this object should be trackable (i.e. it is part of the TensorFlow Python API "
                    "and manages state), please open an issue."
                )
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        wrapper = {list: ListWrapper, dict: DictWrapper}.get(type(value))
        object.__setattr__(self, name, value if wrapper is None or name == "_root" else wrapper(value))
        resume(self)

    def _own(self) -> list[tuple[str, Any]]:
        hidden = ("_root", AWAITED)
        return [(name.replace("_counter", "save_counter"), v) for name, v in vars(self).items() if name not in hidden]

    @property
    def save_counter(self) -> Any:
        """How often ``save`` was called, a variable that is there from the first call on."""
        if "_counter" not in vars(self):
            object.__setattr__(self, "_counter", ResourceVariable(0, trainable=False, dtype="int64", name="save_counter"))
            resume(self)
        return vars(self)["_counter"]

    def write(self, file_prefix: Any, options: Any = None) -> str:
        """Writes the variables to PREFIX.index and returns the prefix.

        >>> import minitape as tf, tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tempfile.mkdtemp() + "/first")
        >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
        np.float32(1.0)
        """
        unsupported("Checkpoint.write", options=options)
        nodes = nodes_of(self)
        arrays = {
            key: value._place if hasattr(value, "_place") else np.asarray(value.numpy())
            for value, key, _ in nodes
            if key is not None
        }
        arrays[_GRAPH] = np.array(json.dumps([[key, below] for _, key, below in nodes]))
        file = _file(file_prefix)
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, arrays)
        return os.fspath(file_prefix)

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Counts up, and writes to PREFIX-COUNT.index; returns that prefix.

        >>> import minitape as tf, tempfile
        >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
        >>> paths = [checkpoint.save(tempfile.mkdtemp() + "/ckpt") for _ in range(2)]
        >>> [path.rpartition("/")[2] for path in paths]
        ['ckpt-1', 'ckpt-2']
        """
        unsupported("Checkpoint.save", options=options)
        self.save_counter.assign_add(1)
        prefix = f"{os.fspath(file_prefix)}-{int(self.save_counter.numpy())}"
        self.write(prefix)
        with beside(Path(prefix).parent / "checkpoint") as part:
            part.write_text(f'model_checkpoint_path: "{Path(prefix).name}"\n')
        return prefix

    def read(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """Assigns the values of a checkpoint to the variables that have the same place.

        Raises NotFoundError when there is no such checkpoint, ValueError when a shape differs.

        >>> import minitape as tf, tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/first")
        >>> v = tf.Variable([0.0, 0.0])
        >>> _ = tf.train.Checkpoint(v=v).read(path).assert_consumed()
        >>> v.numpy()
        array([1., 2.], dtype=float32)
        """
        unsupported("Checkpoint.read", options=options)
        arrays = _load(save_path)
        restoring = _Restoring(arrays, _nodes_in(arrays, _file(save_path)))
        restoring.match(self, 0)
        return CheckpointLoadStatus(self, restoring)

    def restore(self, save_path: Any, options: Any = None) -> CheckpointLoadStatus:
        """As ``read``; ``None`` for the path restores nothing.

        >>> import minitape as tf, tempfile
        >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).save(tempfile.mkdtemp() + "/ckpt")
        >>> v = tf.Variable([0.0, 0.0])
        >>> _ = tf.train.Checkpoint(v=v).restore(path)
        >>> v.numpy()
        array([1., 2.], dtype=float32)
        """
        unsupported("Checkpoint.restore", options=options)
        if save_path is None:
            return CheckpointLoadStatus(self, None)
        status = self.read(save_path)
        _ = self.save_counter
        return status


def _nodes_in(arrays: dict[str, np.ndarray], file: Path) -> list[tuple[str | None, dict[str, int]]]:
    """The objects that a checkpoint tells of: under which key each has a value, and the numbers of its children by name."""
    try:
        nodes = json.loads(str(arrays[_GRAPH]))
        if nodes and all(
            (key is None or key in arrays) and all(type(n) is int and 0 <= n < len(nodes) for n in below.values())
            for key, below in nodes
        ):
            return nodes
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        pass
    raise ValueError(f"{file} is no checkpoint that minitape wrote: it does not say which objects its values belong to.")


class _Restoring:
    """A checkpoint that was read: its values, and which objects have taken the places of the objects that were saved."""

    def __init__(self, arrays: dict[str, np.ndarray], nodes: list[tuple[str | None, dict[str, int]]]) -> None:
        self._arrays, self.nodes = arrays, nodes
        self.taken: dict[int, Any] = {}

    def match(self, value: Any, number: int) -> None:
        """Gives ``value`` and what is below it the values that were saved at a place and below."""
        waiting, seen = [(value, number)], set()
        while waiting:
            value, number = waiting.pop()
            if (id(value), number) in seen:
                continue
            seen.add((id(value), number))
            key, below = self.nodes[number]
            if key is not None and number not in self.taken:
                self._restore(value, key)
            self.taken[number] = value
            children = _children(value)
            waiting += [(children[name], child) for name, child in below.items() if name in children]
            for holder in (value, getattr(value, "_root", None)):
                if below.keys() - children.keys() and hasattr(holder, "__dict__"):
                    vars(holder)[AWAITED] = self, number

    def _restore(self, value: Any, key: str) -> None:
        from ..graphs.scopes import init_scope

        array = self._arrays[key]
        if hasattr(value, "_place"):
            value._place = array
        elif value.shape != array.shape:
            raise ValueError(
                f"Received incompatible tensor with shape {array.shape} when attempting to restore variable with shape "
                f"{value.shape} and name {value.name}."
            )
        else:
            with init_scope():
                value.assign(array)


class ListWrapper(list):
    """A list that is an attribute of a checkpoint: what is appended is restored if it was awaited."""

    def append(self, value: Any) -> None:
        """Adds a value at the end."""
        super().append(value)
        resume(self)

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"


class DictWrapper(dict):
    """The same of a dictionary."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        resume(self)


class CheckpointLoadStatus:
    """What ``restore`` returns: which values found their variables."""

    def __init__(self, checkpoint: Checkpoint, restoring: _Restoring | None) -> None:
        self._checkpoint, self._restoring = checkpoint, restoring

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises AssertionError unless every saved value found a variable and every variable a value."""
        self.assert_existing_objects_matched()
        if self._restoring is not None:
            for number, (key, _) in enumerate(self._restoring.nodes):
                if key is not None and number not in self._restoring.taken:
                    path = key.removesuffix(_VALUE).removesuffix(_PLACE).replace("/", ".")
                    raise AssertionError(f"Unresolved object in checkpoint (root).{path}")
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises AssertionError when a variable found no value."""
        if self._restoring is None:
            raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")
        taken = {id(value) for value in self._restoring.taken.values()}
        odd = [value for value, key, _ in nodes_of(self._checkpoint) if key is not None and id(value) not in taken]
        odd = [value for value in odd if value is not vars(self._checkpoint).get("_counter")]
        if odd:
            raise AssertionError(
                f"Found {len(odd)} Python objects that were not bound to checkpointed values, likely due to changes in the "
                f"Python program. Showing {min(10, len(odd))} of {len(odd)} unmatched objects: {odd[:10]}"
            )
        return self

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises AssertionError when nothing but the root found its place."""
        if self._restoring is None or len(self._restoring.taken) < 2:
            raise AssertionError("Nothing except the root object matched a checkpointed value.")
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that values may be left over: minitape does not warn of them anyway."""
        return self


class CheckpointManager:
    """Keeps the last few checkpoints in a folder.

    With ``step_counter``, a variable, and ``checkpoint_interval`` ``save`` does nothing between the steps. ``init_fn`` is
    what ``restore_or_initialize`` calls where there is no checkpoint.

    >>> import minitape as tf, tempfile
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), tempfile.mkdtemp(), max_to_keep=1)
    >>> manager.save() == manager.latest_checkpoint
    True
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Any = None,
    ) -> None:
        unsupported("CheckpointManager", keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours)
        self._checkpoint, self._folder, self._keep = checkpoint, os.fspath(directory), max_to_keep
        self._name, self._counter, self._interval, self._init_fn = checkpoint_name, step_counter, checkpoint_interval, init_fn
        self._last: int | None = None

    directory = property(lambda self: self._folder, doc="The folder.")
    checkpoint = property(lambda self: self._checkpoint, doc="What is saved.")
    checkpoint_interval = property(lambda self: self._interval, doc="How many steps lie between two checkpoints.")

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints in the folder, oldest first."""
        names = [p.name.removesuffix(".index") for p in Path(self._folder).glob("*.index")]
        numbered = [(re.fullmatch(rf"{re.escape(self._name)}-(\d+)", name), name) for name in names]
        return [os.path.join(self._folder, name) for m, name in sorted((int(m[1]), name) for m, name in numbered if m)]

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest prefix, None for an empty folder."""
        return next(iter(reversed(self.checkpoints)), None)

    def save(self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None) -> str | None:
        """Saves, removes the oldest checkpoints beyond ``max_to_keep``, and returns the prefix.

        None, and nothing is saved, while fewer steps than the interval have gone by, unless ``check_interval`` is False.
        """
        unsupported("CheckpointManager.save", options=options)
        step = None if self._counter is None else int(self._counter.numpy())
        if step is not None and self._interval and check_interval:
            if self._last is not None and step < self._last + self._interval:
                return None
            self._last = step
        if checkpoint_number is not None:
            self._checkpoint.save_counter.assign(int(checkpoint_number) - 1)
        path = self._checkpoint.save(os.path.join(self._folder, self._name))
        for old in self.checkpoints[: -self._keep] if self._keep else []:
            _file(old).unlink()
        return path

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint and returns its prefix; without one it calls ``init_fn`` and returns None.

        >>> import minitape as tf, tempfile
        >>> v = tf.Variable(1.0)
        >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tempfile.mkdtemp(), max_to_keep=1)
        >>> print(manager.restore_or_initialize())
        None
        >>> _ = manager.save(), v.assign(5.0)
        >>> manager.restore_or_initialize() == manager.latest_checkpoint, v.numpy()
        (True, np.float32(1.0))
        """
        latest = self.latest_checkpoint
        if latest is not None:
            self._checkpoint.restore(latest)
        elif self._init_fn is not None:
            self._init_fn()
        return latest


class CheckpointReader:
    """The values in a checkpoint, by key: what ``load_checkpoint`` returns."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shape of each value."""
        return {key: list(array.shape) for key, array in self._arrays.items()}

    def get_variable_to_dtype_map(self) -> dict[str, Any]:
        """The type of each value."""
        return {key: self._dtype(key) for key in self._arrays}

    def _dtype(self, key: str) -> Any:
        return dtypes.variant if key.endswith(_PLACE) else dtypes.string if key == _GRAPH else dtypes.as_dtype(self._arrays[key].dtype)

    def has_tensor(self, tensor_str: str) -> bool:
        """Whether there is a value under this key."""
        return tensor_str in self._arrays

    def get_tensor(self, tensor_str: str) -> np.ndarray:
        """The value under a key; NotFoundError when there is none."""
        if tensor_str not in self._arrays:
            raise errors.NotFoundError(None, None, f"Key {tensor_str} not found in checkpoint")
        return self._arrays[tensor_str][()]


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of the values of a checkpoint, or of the newest one in a folder.

    Raises NotFoundError when there is no such checkpoint, ValueError for a folder without one.

    >>> import minitape as tf, tempfile
    >>> reader = tf.train.load_checkpoint(tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/c"))
    >>> reader.get_variable_to_shape_map()["v/.ATTRIBUTES/VARIABLE_VALUE"]
    [2]
    """
    path = ckpt_dir_or_file
    if os.path.isdir(path):
        path = latest_checkpoint(path)
        if path is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}")
    return CheckpointReader(_load(path))


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """(key, shape) of every value in a checkpoint.

    >>> import minitape as tf, tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/c")
    >>> tf.train.list_variables(path)
    [('_CHECKPOINTABLE_OBJECT_GRAPH', []), ('v/.ATTRIBUTES/VARIABLE_VALUE', [2])]
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> np.ndarray:
    """The value that a checkpoint keeps under a key; NotFoundError when there is none.

    >>> import minitape as tf, tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).write(tempfile.mkdtemp() + "/c")
    >>> tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of the last checkpoint that ``Checkpoint.save`` wrote into a folder, or None.

    ValueError where the folder's note names a file elsewhere.

    >>> import minitape as tf, tempfile
    >>> tf.train.latest_checkpoint(tempfile.mkdtemp()) is None
    True
    """
    note = Path(checkpoint_dir) / (latest_filename or "checkpoint")
    if not note.exists():
        return None
    found = re.search(r'model_checkpoint_path: "([^"]+)"', note.read_text(encoding="utf-8", errors="replace"))
    if found is None:
        return None
    if Path(found[1]).name != found[1]:
        raise ValueError(
            f"{note} names a checkpoint outside of its folder: {found[1]}. `Checkpoint.save` writes the name alone. If you trust the "
            "checkpoint there, give its prefix to `restore`."
        )
    return os.path.join(os.fspath(checkpoint_dir), found[1])
