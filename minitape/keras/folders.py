"""``text_dataset_from_directory``: the text files of a folder as a dataset, labelled by the folders that they are in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..tf.data.dataset import Dataset

_SUBSETS = ("training", "validation", "both")


def text_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """Batches of the texts in the ``.txt`` files below a folder and of their labels: the numbers of the folders, by name.

    ``labels`` may be a list, one for each file, or None for texts alone. ``label_mode`` "int" gives int32 numbers, "binary" a
    column of 0.0 and 1.0, "categorical" rows of one-hot numbers. ``max_length`` cuts texts. ``validation_split`` is the share of the
    files, the last ones, that the ``subset`` "validation" has and "training" has not; "both" gives two datasets. Links between
    folders are followed with ``follow_links``. ValueError for arguments that do not fit, for a ``format`` other than "tf", and for
    no files. ``class_names`` of the result are the names of the folders. All files are read at once.

    >>> import minitape as tf, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for kind in ("bad", "good"):
    ...         pathlib.Path(folder, kind).mkdir()
    ...         _ = pathlib.Path(folder, kind, "review.txt").write_text(f"a {kind} film")
    ...     texts = tf.keras.utils.text_dataset_from_directory(folder, shuffle=False)
    ...     print(texts.class_names, [(x.numpy().tolist(), y.numpy().tolist()) for x, y in texts])
    Found 2 files belonging to 2 classes.
    ['bad', 'good'] [([b'a bad film', b'a good film'], [0, 1])]
    """
    _check(labels, label_mode, class_names, shuffle, seed, validation_split, subset, format)
    inferred = labels == "inferred"
    label_mode = None if labels is None else label_mode
    files, numbers, names = _found(Path(directory), inferred and label_mode is not None, class_names, follow_links)
    if isinstance(labels, (list, tuple)):
        if len(labels) != len(files):
            raise ValueError("Expected the lengths of `labels` to match the number of files in the target directory. "
                             f"len(labels) is {len(labels)} while we found {len(files)} files in directory {directory}.")  # fmt: skip
        numbers, names = np.array(labels), [str(label) for label in sorted(set(labels))]
    if verbose:
        print(f"Found {len(files)} files" + (f" belonging to {len(names)} classes." if label_mode is not None else "."))
    if label_mode == "binary" and len(names) != 2:
        raise ValueError(f'When passing `label_mode="binary"`, there must be exactly 2 class_names. Received: class_names={names}')
    if not files:
        raise ValueError(f"No text files found in directory {directory}. Allowed format: .txt")
    if shuffle:
        seed = np.random.randint(10**6) if seed is None else seed
        for items in (files, numbers):
            np.random.RandomState(seed).shuffle(items)
    kept = len(files) - int((validation_split or 0) * len(files))
    parts = {"training": slice(kept), "validation": slice(kept, None), None: slice(None)}

    def dataset(part: str | None) -> Any:
        return _dataset(files[parts[part]], numbers[parts[part]], names, label_mode, max_length, batch_size, shuffle, seed)

    wanted = ("training", "validation") if subset == "both" else (subset,)
    for part in wanted if verbose and subset else ():
        print(f"Using {len(files[parts[part]])} files for {part}.")
    made = [dataset(part) for part in wanted]
    return made if subset == "both" else made[0]


def _check(labels: Any, label_mode: Any, class_names: Any, shuffle: bool, seed: Any, split: Any, subset: Any, format: str) -> None:
    if labels not in ("inferred", None) and not isinstance(labels, (list, tuple)):
        raise ValueError(
            "`labels` argument should be a list/tuple of integer labels, of the same size as the number of text files in the target "
            "directory. If you wish to infer the labels from the subdirectory names in the target directory, pass "
            '`labels="inferred"`. If you wish to get a dataset that only contains text samples (no labels), pass `labels=None`. '
            f"Received: labels={labels}"
        )
    if class_names and labels is None:
        raise ValueError("When `labels=None` (no labels), argument `class_names` cannot be specified.")
    if label_mode not in ("int", "categorical", "binary", None):
        raise ValueError('`label_mode` argument must be one of "int", "categorical", "binary", or None. '
                         f"Received: label_mode={label_mode}")  # fmt: skip
    if split and not 0 < split < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {split}")
    if bool(split) != bool(subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely.")
    if subset not in (*_SUBSETS, None):
        raise ValueError(f'`subset` must be either "training", "validation" or "both", received: {subset}')
    if split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, to make sure that "
                         "there is no overlap between the training and validation subset.")  # fmt: skip
    if format != "tf":
        raise ValueError(f'minitape gives datasets: `format` must be "tf". Received: format={format}')


def _found(folder: Path, by_folder: bool, class_names: Any, follow_links: bool) -> tuple[list[Path], Any, list[str]]:
    """The text files, the numbers of their folders, and the names of these."""
    names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    if not by_folder:
        files = _texts(folder, follow_links)
        return files, np.zeros(len(files), np.int32), names
    if class_names is not None:
        if not set(class_names) <= set(names):
            raise ValueError(
                "The `class_names` passed did not match the names of the subdirectories of the target directory. Expected: "
                f"{names} (or a subset of it), but received: class_names={class_names}"
            )
        names = list(class_names)
    found = [_texts(folder / name, follow_links) for name in names]
    return [path for files in found for path in files], np.repeat(np.arange(len(names)), [len(files) for files in found]), names


def _texts(folder: Path, follow_links: bool) -> list[Path]:
    """The text files below a folder, in the order of their names: those of the folder itself come first."""
    here = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix.lower() == ".txt")
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and (follow_links or not path.is_symlink()))
    return here + [path for below in inner for path in _texts(below, follow_links)]


def _dataset(
    files: list[Path], numbers: Any, names: list[str], label_mode: Any, max_length: Any, batch_size: Any, shuffle: bool, seed: Any
) -> Any:
    texts = np.array([path.read_bytes()[:max_length] for path in files], object)
    if label_mode is None:
        made = Dataset.from_tensor_slices(texts)
    else:
        marks = {
            "int": lambda: numbers.astype(np.int32),
            "binary": lambda: numbers.astype(np.float32)[:, None],
            "categorical": lambda: np.eye(len(names), dtype=np.float32)[numbers],
        }
        made = Dataset.from_tensor_slices((texts, marks[label_mode]()))
    if shuffle:
        made = made.shuffle(1024 if batch_size is None else 8 * batch_size, seed=seed)
    made = (made if batch_size is None else made.batch(batch_size)).prefetch(-1)
    made.class_names = names if label_mode is not None else None
    return made
