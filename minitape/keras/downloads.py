"""``tf.keras.utils.get_file``, without a network: the path of a file that is there already."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def get_file(
    fname: str | None = None,
    origin: str | None = None,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str = "auto",
    cache_dir: str | None = None,
    force_download: bool = False,
) -> str:
    """The path of a file that stands where Keras would have put it: in ``cache_dir`` (``~/.keras``), under ``cache_subdir``.

    minitape loads nothing from the network: FileNotFoundError says where to put a file that is not there, or that
    ``force_download`` wants anew. ValueError without ``origin``, for archives that are to be unpacked, and for a file whose hash is
    another one. ``archive_format`` has no effect.

    >>> import pathlib, tempfile
    >>> import minitape as tf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "words.txt").write_text("to be or not to be")
    ...     path = tf.keras.utils.get_file("words.txt", "https://example.org/words.txt", cache_dir=folder, cache_subdir="")
    ...     print(pathlib.Path(path).read_text())
    to be or not to be
    """
    if origin is None:
        raise ValueError('Please specify the "origin" argument (URL of the file to download).')
    if untar or extract:
        raise ValueError("minitape unpacks no archives: unpack it yourself, and read the files from there.")
    home = cache_dir or os.environ.get("KERAS_HOME") or Path.home() / ".keras"
    path = Path(home, cache_subdir, fname or origin.rpartition("/")[2])
    if force_download or not path.is_file():
        raise FileNotFoundError(f"minitape loads nothing from the network. Load {origin} yourself, and put it at {path}.")
    wanted = file_hash or md5_hash
    if wanted is not None and _hash(path, "md5" if md5_hash and not file_hash else hash_algorithm, wanted) != wanted:
        raise ValueError(f"The file {path} has another hash than {wanted}: it may be incomplete, or another one.")
    return str(path)


def _hash(path: Path, algorithm: str, wanted: str) -> str:
    if algorithm == "auto":
        algorithm = "sha256" if len(wanted) == 64 else "md5"
    return hashlib.new(algorithm, path.read_bytes()).hexdigest()
