"""``tf.summary``: writers, and what is written.

See https://www.tensorflow.org/api_docs/python/tf/summary. In a graph, and in a ``tf.function``, a value is written whenever
that runs.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.block import During, Exit, block
from ...engine.convert import convert_to_tensor
from ...engine.shape import TensorShape
from ...engine.state import state
from ...engine.tensor import wrap
from ...graphs.scopes import get_current_name_scope
from . import events, values

_numbers = count()
_NO_STEP = "No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step()"


class _Now(threading.local):
    """Where this thread writes to, at which step, and whether at all."""

    writer: SummaryWriter | None = None
    step: Any = None
    on: Any = True


_now = _Now()


class SummaryWriter:
    """Writes one event file; see :func:`create_file_writer`.

    >>> import minitape as tf, tempfile, os
    >>> folder = tempfile.mkdtemp()
    >>> writer = tf.summary.create_file_writer(folder)
    >>> with writer.as_default(step=1):
    ...     wrote = tf.summary.scalar("loss", 0.5)
    ...     writer.set_as_default(step=2)
    ...     wrote = tf.summary.scalar("loss", 0.25)
    >>> writer.init()  # which is done already
    >>> writer.flush()
    >>> writer.close()
    >>> [name.startswith("events.out.tfevents.") for name in os.listdir(folder)]
    [True]
    """

    def __init__(self, path: Path | None, most: int = 10, seconds: float = 120.0) -> None:
        self._path, self._most, self._seconds = path, most, seconds
        self._lock = threading.Lock()
        self._queue: list[bytes] = []
        self._flushed = time.monotonic()
        self._closed = False
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(events.record(events.first_event(time.time())))

    def init(self) -> None:
        """Nothing is left to do: the file is made with the writer."""

    def as_default(self, step: Any = None) -> During:
        """In the block summaries are written here, at this step if one is given."""
        self._check()
        return _Default(_now, self, writer=self, **({} if step is None else {"step": step}))

    def set_as_default(self, step: Any = None) -> None:
        """From here on this thread's summaries are written here."""
        self._check()
        _now.writer, _now.step = self, _now.step if step is None else step

    def flush(self) -> None:
        """Writes to the file what is waiting."""
        with self._lock:
            self._write()

    def close(self) -> None:
        """Writes what is waiting; the writer takes nothing more."""
        self.flush()
        self._closed = True

    def __del__(self) -> None:
        if getattr(self, "_queue", None):
            self._write()

    def _check(self) -> None:
        if self._closed:
            raise RuntimeError("SummaryWriter is already closed")

    def _add(self, event: bytes) -> None:
        self._check()
        if self._path is None:
            return
        with self._lock:
            self._queue.append(event)
            if len(self._queue) > self._most or time.monotonic() - self._flushed > self._seconds:
                self._write()

    def _write(self) -> None:
        if self._queue and self._path is not None:
            with self._path.open("ab") as file:
                file.write(b"".join(events.record(event) for event in self._queue))
        self._queue, self._flushed = [], time.monotonic()


class _Default(During):
    """The block of ``as_default``. What ``set_as_default`` does in it ends with it, as in TensorFlow."""

    def _restore(self) -> None:
        for name, before in self._before.items():
            setattr(_now, name, before)

    def _leave(self, *error: Any) -> None:
        super()._leave()
        self._given.flush()

    __exit__ = Exit(_leave, lambda block: block._before)


def create_file_writer(
    logdir: str | os.PathLike[str], max_queue: int | None = None, flush_millis: int | None = None,
    filename_suffix: str | None = None, name: str | None = None, experimental_trackable: bool = False,
) -> SummaryWriter:  # fmt: skip
    """A writer of an event file in a folder, which TensorBoard shows: ``tensorboard --logdir FOLDER``.

    >>> import minitape as tf, tempfile
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> with writer.as_default():
    ...     wrote = [tf.summary.scalar("loss", 1.0 / (step + 1), step=step) for step in range(3)]
    """
    del name, experimental_trackable  # names of graphs' resources, which there are none of here
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    parts = f"{int(time.time()):010d}", socket.gethostname(), str(os.getpid()), str(next(_numbers))
    file = Path(os.fspath(logdir)) / f"events.out.tfevents.{'.'.join(parts)}{'.v2' if filename_suffix is None else filename_suffix}"
    return SummaryWriter(file, 10 if max_queue is None else int(max_queue), (120_000 if flush_millis is None else int(flush_millis)) / 1000)


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing.

    >>> import minitape as tf
    >>> with tf.summary.create_noop_writer().as_default(step=0):
    ...     wrote = tf.summary.scalar("loss", 0.5)
    """
    return SummaryWriter(None)


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Writes to the file what is waiting in a writer, or in the one of the block.

    >>> import minitape as tf
    >>> tf.summary.flush(tf.summary.create_noop_writer())
    """
    del name
    one = _now.writer if writer is None else writer
    if one is not None:
        one.flush()


def get_step() -> Any:
    """The step that summaries take when they are given none; None where none is set.

    >>> import minitape as tf
    >>> tf.summary.experimental.set_step(7)
    >>> tf.summary.experimental.get_step()
    7
    >>> tf.summary.experimental.set_step(None)
    """
    return _now.step


def set_step(step: Any) -> None:
    """Sets the step that summaries take when they are given none: a number, or a variable that the program increases.

    >>> import minitape as tf
    >>> tf.summary.experimental.set_step(None)
    """
    _now.step = step


@block
def record_if(condition: Any) -> Iterator[None]:
    """In the block summaries are written only where a condition holds: True, a tensor, or a function without arguments.

    >>> import minitape as tf
    >>> with tf.summary.create_noop_writer().as_default(step=0), tf.summary.record_if(False):
    ...     print(tf.summary.scalar("loss", 0.5).numpy())
    False
    """
    with During(_now, on=condition):
        yield


def should_record_summaries() -> Any:
    """Whether a summary would be written here: there is a writer, and no ``record_if`` forbids it.

    >>> import minitape as tf
    >>> bool(tf.summary.should_record_summaries())
    False
    """
    return _condition() if _now.writer is not None else wrap(np.bool_(False))


def _condition() -> Any:
    found = _now.on() if callable(_now.on) else _now.on
    return convert_to_tensor(found, dtypes.bool)


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes a number; returns whether it was written.

    >>> import minitape as tf
    >>> bool(tf.summary.scalar("loss", 0.5, step=0))  # there is no writer
    False
    """
    def made(array: np.ndarray) -> np.ndarray:
        if array.ndim:
            raise ValueError(f"The data of a scalar summary must be a scalar, but it has shape {array.shape}.")
        return np.asarray(array, np.float32)

    return _summary(name, data, step, made, events.metadata("scalars", values.SCALAR, description))


def histogram(name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None) -> Any:
    """Writes how the values of a tensor are spread, in 30 buckets or as many as are asked for; returns whether it was written.

    >>> import minitape as tf
    >>> with tf.summary.create_noop_writer().as_default(step=0):
    ...     print(tf.summary.histogram("weights", [1.0, 2.0, 2.0]).numpy())
    True
    """
    def made(array: np.ndarray) -> np.ndarray:
        return values.buckets_of(array, buckets)

    return _summary(name, data, step, made, events.metadata("histograms", values.TENSOR, description))


def image(name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None) -> Any:
    """Writes the first pictures of a tensor (k, height, width, channels) with values from 0 to 1, or of uint8; returns whether it did.

    >>> import minitape as tf
    >>> with tf.summary.create_noop_writer().as_default(step=0):
    ...     print(tf.summary.image("pictures", tf.zeros([1, 2, 2, 3])).numpy())
    True
    """
    def made(array: np.ndarray) -> np.ndarray:
        return values.pictures_of(array, max_outputs)

    return _summary(name, data, step, made, events.metadata("images", values.BLOBS, description))


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Writes a text, or a tensor of texts, which TensorBoard shows as Markdown; returns whether it was written.

    >>> import minitape as tf
    >>> with tf.summary.create_noop_writer().as_default(step=0):
    ...     print(tf.summary.text("note", "**learned**").numpy())
    True
    """
    given = convert_to_tensor(data)
    if given.dtype is not dtypes.string:
        raise TypeError(f"The data of a text summary must be text, but it is {given.dtype.name}.")
    return _summary(name, given, step, lambda array: np.asarray(array, object), events.metadata("text", values.TENSOR, description))


def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None) -> Any:
    """Writes a tensor under a tag, for the plugin that ``metadata`` names (a serialized SummaryMetadata); returns whether it did.

    >>> import minitape as tf
    >>> with tf.summary.create_noop_writer().as_default(step=0):
    ...     print(tf.summary.write("weights", [1.0, 2.0]).numpy())
    True
    """
    del name
    about = metadata if isinstance(metadata, bytes) else b"" if metadata is None else metadata.SerializeToString()
    return _summary(tag, tensor, step, lambda array: array, about, scoped=False)


def _summary(
    name: str, data: Any, step: Any, made: Callable[[np.ndarray], np.ndarray], about: bytes, scoped: bool = True
) -> Any:
    """Writes ``made(data)`` at a step: now, or in a graph when that runs."""
    writer = _now.writer
    if writer is None:
        return wrap(np.bool_(False))
    at = _now.step if step is None else step
    if at is None:
        raise ValueError(_NO_STEP)
    scope = get_current_name_scope() if scoped else ""
    tag = f"{scope}/{name}" if scope else name

    def run(value: Any, number: Any, condition: Any) -> Any:
        if condition.array:
            writer._add(events.summary_event(time.time(), int(number.array), tag, made(value.array), about))
        return wrap(np.bool_(condition.array))

    tensors = [convert_to_tensor(data), convert_to_tensor(at, None if hasattr(at, "dtype") else dtypes.int64), _condition()]
    if state.graph is None:
        return run(*tensors)
    from ...graphs.effects import later

    return later(lambda *given: [run(*given)], tensors, [(TensorShape([]), dtypes.bool)], stateful=True)[0]
