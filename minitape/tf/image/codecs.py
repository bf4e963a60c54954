"""Images as the bytes of files. Pillow reads them (``pip install "minitape[images]"``); PNG is written without it.

See https://www.tensorflow.org/api_docs/python/tf/io/decode_image. Nothing of this is differentiable. TensorFlow decodes JPEG
by a quicker transform unless it is told otherwise: single values differ by one or two.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine import dtypes
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.shape import TensorShape
from ...engine.state import state
from ...engine.tensor import Tensor, wrap
from .adjusting import convert_image_dtype
from .png import encoded

_FORMATS = ("PNG", "JPEG", "GIF", "BMP")
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_OWN = {"1": 1, "L": 1, "I;16": 1, "I;16B": 1, "I": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 3, "YCbCr": 3}  # channels of a file as it is


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError('Pillow reads and writes images: pip install "minitape[images]".') from error
    return Image


def _decoded(data: bytes, channels: int, dtype: Any, op: str, frames: bool = False) -> np.ndarray:
    """The image in a file (h, w, c); of one that moves all frames, if they are asked for."""
    image = _pillow()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", image.DecompressionBombWarning)  # a small file of a huge image is refused
            found = image.open(io.BytesIO(data), formats=_FORMATS)
            if frames and found.format == "GIF":
                shots, count = [], getattr(found, "n_frames", 1)
                if count * found.width * found.height > image.MAX_IMAGE_PIXELS:
                    raise image.DecompressionBombError(f"It has {count} frames of {found.size}.")
                for k in range(count):
                    found.seek(k)
                    shots.append(np.asarray(found.convert(_MODES[channels or 3])))
                return np.stack(shots)
            return _as_array(found, channels, dtype)
    except (OSError, SyntaxError, ValueError, image.DecompressionBombError, image.DecompressionBombWarning) as error:
        raise invalid(f"Unknown image file format. One of JPEG, PNG, GIF, BMP required. ({error})", op) from error


def _as_array(found: Any, channels: int, dtype: Any) -> np.ndarray:
    """An image of Pillow's with so many channels, 0 for those of the file, of uint8 or uint16."""
    if found.mode == "P":
        found = found.convert("RGBA" if "transparency" in found.info else "RGB")
    deep = found.mode.startswith("I")
    mode = _MODES[channels or _OWN.get(found.mode, 3)]
    if deep and mode == "L":
        array = np.asarray(found).astype(np.uint16)[..., None]
        return array if dtype is dtypes.uint16 else (array >> 8).astype(np.uint8)
    array = np.asarray(found if found.mode == mode else found.convert(mode))
    array = array[..., None] if array.ndim == 2 else array
    return array.astype(np.uint16) * 257 if dtype is dtypes.uint16 else array


def _now_or_later(run: Callable[[Any], Any], given: Any, shape: Any, dtype: Any) -> Any:
    if state.graph is None:
        return run(given)
    from ...graphs.effects import later

    return later(lambda one: [run(one)], [given], [(TensorShape(shape), dtype)])[0]


def _decode(contents: Any, channels: Any, dtype: Any, op: str, frames: bool = False) -> Tensor:
    text, kind, count = convert_to_tensor(contents, dtypes.string), dtypes.as_dtype(dtype), int(channels or 0)
    if count not in (0, 1, 3, 4):
        raise invalid(f"channels must be 0, 1, 3, or 4, got {count}", op)
    stored = dtypes.uint16 if kind is dtypes.uint16 else dtypes.uint8

    def run(one: Any) -> Any:
        if one.ndim:
            raise invalid(f"contents must be scalar, got shape {list(one.shape)}", op)
        return wrap(_decoded(one.numpy(), count, stored, op, frames))

    made = _now_or_later(run, text, None if frames else [None, None, count or None], stored)
    return made if kind is stored else convert_image_dtype(made, kind)


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """The image in a PNG file, (height, width, channels); with ``channels=0`` as many as the file has.

    >>> import minitape as tf
    >>> data = tf.io.encode_png(tf.zeros([2, 3, 1], tf.uint8))
    >>> tf.io.decode_png(data).shape  # doctest: +SKIP
    TensorShape([2, 3, 1])
    """
    if dtypes.as_dtype(dtype) not in (dtypes.uint8, dtypes.uint16):
        raise TypeError(f"decode_png gives uint8 or uint16, not {dtypes.as_dtype(dtype).name}.")
    return _decode(contents, channels, dtype, "DecodePng")


def decode_jpeg(
    contents: Any, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True, try_recover_truncated: bool = False,
    acceptable_fraction: float = 1, dct_method: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """The image in a JPEG file, (height, width, channels) of uint8.

    Only the defaults of ``ratio``, ``fancy_upscaling``, ``try_recover_truncated`` and ``acceptable_fraction`` are there;
    ``dct_method`` changes single values by one or two, and nothing here.

    >>> import minitape as tf
    >>> tf.io.decode_jpeg(tf.io.encode_jpeg(tf.zeros([2, 3, 3], tf.uint8))).shape  # doctest: +SKIP
    TensorShape([2, 3, 3])
    """
    if (ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction) != (1, True, False, 1):
        raise NotImplementedError("minitape decodes whole JPEG files in their own size: leave ratio, fancy_upscaling, "
                                  "try_recover_truncated and acceptable_fraction at their defaults.")  # fmt: skip
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise invalid(f"dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got {dct_method}", "DecodeJpeg")
    return _decode(contents, channels, dtypes.uint8, "DecodeJpeg")


def decode_image(
    contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None, expand_animations: bool = True
) -> Tensor:
    """The image in a PNG, JPEG, BMP or GIF file. A GIF gives all its frames, (frames, height, width, 3), unless ``expand_animations`` is False.

    >>> import minitape as tf
    >>> tf.io.decode_image(tf.io.encode_png(tf.zeros([2, 3, 3], tf.uint8)), dtype=tf.float32).shape  # doctest: +SKIP
    TensorShape([2, 3, 3])
    """
    return _decode(contents, channels, dtype, "DecodeImage", frames=expand_animations)


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """An image (height, width, channels) of uint8 or uint16, or several, as PNG files.

    >>> import minitape as tf
    >>> tf.io.encode_png(tf.zeros([2, 3, 1], tf.uint8)).numpy()[1:4]
    b'PNG'
    """
    if not -1 <= compression <= 9:
        raise invalid(f"compression should be in [-1,9], got {compression}", "EncodePng")
    return _encode(image, "EncodePng", (1, 2, 3, 4), lambda one: encoded(one, compression))


def encode_jpeg(image: Any, format: str = "", quality: int = 95, name: str | None = None) -> Tensor:
    """An image (height, width, 1 or 3) of uint8 as a JPEG file.

    >>> import minitape as tf
    >>> tf.io.encode_jpeg(tf.zeros([2, 3, 3], tf.uint8)).numpy()[:2]  # doctest: +SKIP
    b'\\xff\\xd8'
    """
    if format not in ("", "grayscale", "rgb"):
        raise invalid(f"format must be one of {{'', 'grayscale', 'rgb'}}, got {format}", "EncodeJpeg")

    def run(one: np.ndarray) -> bytes:
        data = io.BytesIO()
        _pillow().fromarray(one[..., 0] if one.shape[-1] == 1 else one).save(data, "JPEG", quality=quality)
        return data.getvalue()

    return _encode(image, "EncodeJpeg", {"": (1, 3), "grayscale": (1,), "rgb": (3,)}[format], run)


def _encode(image: Any, op: str, channels: tuple[int, ...], run: Callable[[np.ndarray], bytes]) -> Any:
    given = convert_to_tensor(image)
    if given.dtype not in ((dtypes.uint8, dtypes.uint16) if op == "EncodePng" else (dtypes.uint8,)):
        raise TypeError(f"{op} takes uint8{' or uint16' if op == 'EncodePng' else ''}, not {given.dtype.name}.")

    def made(one: Any) -> Any:
        if one.ndim < 3 or one.shape[-1] not in channels:
            raise invalid(f"image must have 3 dimensions and {channels} channels, got shape {list(one.shape)}", op)
        array = one.array
        files = [run(part) for part in array.reshape(-1, *array.shape[-3:])]
        return wrap(np.array(files, object).reshape(array.shape[:-3]))

    return _now_or_later(made, given, given.shape[:-3] if given.shape.rank is not None else None, dtypes.string)
