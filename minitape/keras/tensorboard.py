"""The callback that writes what TensorBoard shows of a training."""

from __future__ import annotations

import os
from typing import Any

from ..tf.summary.writing import SummaryWriter, create_file_writer, histogram, scalar
from .callback import Callback


class TensorBoard(Callback):
    """Writes the metrics of each epoch for TensorBoard, those of training and of validation in a folder each.

    ``histogram_freq`` writes the weights as histograms every so many epochs; ``update_freq`` "batch", or a number, writes metrics of batches as
    well. There are no graphs, images of weights and profiles: ``write_graph``, ``write_images``, ``write_steps_per_second`` and
    ``profile_batch`` change nothing. NotImplementedError for embeddings.

    >>> import minitape as tf, os, tempfile
    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> folder = tempfile.mkdtemp()
    >>> board = tf.keras.callbacks.TensorBoard(folder)
    >>> _ = model.fit(tf.ones([4, 1]), tf.ones([4, 1]), verbose=0, callbacks=[board])
    >>> os.listdir(folder)
    ['train']
    """

    def __init__(self, log_dir: Any = "logs", histogram_freq: int = 0, write_graph: bool = True, write_images: bool = False,
                 write_steps_per_second: bool = False, update_freq: Any = "epoch", profile_batch: Any = 0, embeddings_freq: int = 0,
                 embeddings_metadata: Any = None) -> None:  # fmt: skip
        super().__init__()
        if embeddings_freq or embeddings_metadata is not None:
            raise NotImplementedError("minitape writes no embeddings: leave embeddings_freq and embeddings_metadata at their defaults.")
        self.log_dir, self.histogram_freq = os.fspath(log_dir), histogram_freq
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._writers: dict[str, SummaryWriter] = {}
        self._batches = 0

    def _to(self, part: str) -> SummaryWriter:
        if part not in self._writers:
            self._writers[part] = create_file_writer(os.path.join(self.log_dir, part))
        return self._writers[part]

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Writes the metrics of every so many batches."""
        if self.update_freq != "epoch" and self._batches % self.update_freq == 0:
            with self._to("train").as_default(step=self._batches):
                for name, value in (logs or {}).items():
                    scalar(f"batch_{name}", value)
        self._batches += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Writes the metrics of the epoch, the learning rate, and histograms when it is their turn."""
        parts: dict[str, dict[str, Any]] = {}
        for name, value in (logs or {}).items():
            own = not name.startswith("val_")
            parts.setdefault("train" if own else "validation", {})[name if own else name[4:]] = value
        rate = getattr(getattr(self.model, "optimizer", None), "learning_rate", None)
        if rate is not None and "train" in parts:
            parts["train"]["learning_rate"] = float(rate)
        for part, found in parts.items():
            with self._to(part).as_default(step=epoch):
                for name, value in found.items():
                    scalar(f"epoch_{name}", value)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            with self._to("train").as_default(step=epoch):
                for weight in self.model.weights:
                    histogram(f"{weight.path}/histogram", weight)

    def on_train_end(self, logs: Any = None) -> None:
        """Closes the files."""
        for writer in self._writers.values():
            writer.close()
        self._writers = {}
