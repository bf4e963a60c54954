"""``tf.io.decode_png``, ``decode_jpeg``, ``decode_image`` and back. The references are files that Pillow wrote, and the arrays in them."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest

import minitape as tf

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 5, 4), np.uint8)


def file(array: np.ndarray, kind: str, **options: Any) -> bytes:
    image = pytest.importorskip("PIL.Image")
    data = io.BytesIO()
    image.fromarray(array).save(data, kind, **options)
    return data.getvalue()


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_there_and_back(channels: int) -> None:
    image = PIXELS[..., 0] if channels == 1 else PIXELS[..., :channels]
    want = image.reshape(6, 5, channels)
    assert np.array_equal(tf.io.decode_png(file(image, "PNG")).numpy(), want)
    assert np.array_equal(tf.image.decode_png(tf.io.encode_png(want)).numpy(), want)


def test_sixteen_bits() -> None:
    pytest.importorskip("PIL.Image")
    deep = (PIXELS[..., :1].astype(np.uint16) << 8) + 7
    data = tf.io.encode_png(deep)
    assert np.array_equal(tf.io.decode_png(data, dtype=tf.uint16).numpy(), deep)
    assert np.array_equal(tf.io.decode_png(data).numpy(), PIXELS[..., :1])


def test_jpeg() -> None:
    smooth = np.broadcast_to(np.linspace(0, 255, 16, dtype=np.uint8)[:, None, None], (16, 16, 3))
    for data in (file(smooth, "JPEG", quality=95), tf.io.encode_jpeg(smooth).numpy()):
        for decode in (tf.io.decode_jpeg, tf.io.decode_image):
            found = decode(data)
            assert found.dtype == tf.uint8 and np.abs(found.numpy().astype(int) - smooth).max() <= 6
        assert tf.io.decode_jpeg(data, channels=1).shape == (16, 16, 1)


def test_floats_are_from_0_to_1() -> None:
    found = tf.io.decode_image(file(PIXELS[..., :3], "PNG"), dtype=tf.float32)
    assert np.allclose(found.numpy(), PIXELS[..., :3] / 255.0)


def test_frames_of_a_gif(monkeypatch: pytest.MonkeyPatch) -> None:
    image = pytest.importorskip("PIL.Image")
    data = io.BytesIO()
    frames = [image.fromarray(np.full((4, 4), v, np.uint8)) for v in (0, 255)]
    frames[0].save(data, "GIF", save_all=True, append_images=frames[1:])
    assert tf.io.decode_image(data.getvalue()).shape == (2, 4, 4, 3)
    assert tf.io.decode_image(data.getvalue(), expand_animations=False).shape == (4, 4, 3)
    monkeypatch.setattr(image, "MAX_IMAGE_PIXELS", 31)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 frames"):
        tf.io.decode_image(data.getvalue())


def test_in_a_dataset_and_a_function(tmp_path: Any) -> None:
    (tmp_path / "a.png").write_bytes(file(PIXELS[..., :3], "PNG"))
    names = tf.data.Dataset.list_files(str(tmp_path / "*.png"))
    read = names.map(lambda name: tf.image.resize(tf.io.decode_png(tf.io.read_file(name), channels=3), [3, 3]))
    assert [one.shape for one in read] == [(3, 3, 3)]

    @tf.function
    def mean(data: Any) -> Any:
        return tf.reduce_mean(tf.cast(tf.io.decode_png(data, channels=3), tf.float32))

    assert np.isclose(mean(tf.constant(file(PIXELS[..., :3], "PNG"))).numpy(), PIXELS[..., :3].mean())


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PIL.Image")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format. One of JPEG, PNG, GIF, BMP required".replace(".", r"\.")):
        tf.io.decode_image(b"no image")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        tf.io.decode_png(file(PIXELS[..., :3], "PNG")[:60])
    with pytest.raises(tf.errors.InvalidArgumentError, match="channels must be 0, 1, 3, or 4"):
        tf.io.decode_png(b"", channels=2)
    with pytest.raises(NotImplementedError, match="ratio"):
        tf.io.decode_jpeg(b"", ratio=2)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match="minitape\\[images\\]"):
        tf.io.decode_png(b"")


def test_an_image_that_would_fill_the_memory() -> None:
    """A file of a few bytes that says it holds 2 ** 60 pixels."""
    data = bytearray(tf.io.encode_png(np.zeros((1, 1, 1), np.uint8)).numpy())
    import struct
    import zlib

    data[16:24] = struct.pack(">II", 1 << 30, 1 << 30)
    data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    pytest.importorskip("PIL.Image")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unknown image file format"):
        tf.io.decode_png(bytes(data))
