"""``tf.summary``: the files are read back here by a reader of the wire format, and by TensorFlow where it is installed."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitape as tf
from minitape.tf.summary.events import crc32c, record

Fields = dict[int, list[Any]]


def test_checksums_are_those_of_rfc_3720() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


def test_a_record_as_tensorflow_writes_it() -> None:
    """The bytes that `tf.io.TFRecordWriter` of TensorFlow 2.21 writes for b"hello"."""
    assert record(b"hello").hex() == "0500000000000000eab2043e68656c6c6fbb1f1c19"


def varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def fields(data: bytes) -> Fields:
    """The fields of a message of protocol buffers, by their numbers."""
    found: Fields = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def events(folder: Path) -> list[Fields]:
    """The events of the one file in a folder."""
    (path,) = folder.iterdir()
    data, found, at = path.read_bytes(), [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        body = data[at + 12 : at + 12 + size]
        assert data[at : at + 16 + size] == record(body)
        found.append(fields(body))
        at += 16 + size
    return found


def values(folder: Path) -> list[tuple[int, str, str, Fields]]:
    """(step, tag, plugin, fields of the tensor) of each value."""
    first, *rest = events(folder)
    assert first[3] == [b"brain.Event:2"]
    out = []
    for event in rest:
        (value,) = fields(event[5][0])[1]
        one = fields(value)
        plugin = fields(fields(one[9][0])[1][0])[1][0]
        out.append((event.get(2, [0])[0], one[1][0].decode(), plugin.decode(), fields(one[8][0])))
    return out


def test_scalars(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), tf.name_scope("train"):
        wrote = [tf.summary.scalar("loss", 0.5**k, step=k) for k in range(3)]
    assert all(w.numpy() for w in wrote)
    found = values(tmp_path)
    assert [(step, tag, plugin) for step, tag, plugin, _ in found] == [(k, "train/loss", "scalars") for k in range(3)]
    assert [struct.unpack("<f", t[4][0])[0] for *_, t in found] == [1.0, 0.5, 0.25]
    assert all(t[1] == [1] for *_, t in found)  # DT_FLOAT


def test_in_a_function_whenever_it_runs(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path))
    x = tf.Variable(3.0)

    @tf.function
    def train(step: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = x * x
        with writer.as_default():
            tf.summary.scalar("loss", loss, step=step)
        return tape.gradient(loss, x)

    for k in range(3):
        x.assign_sub(0.1 * train(tf.constant(k, tf.int64)))
    writer.flush()
    found = values(tmp_path)
    assert [step for step, *_ in found] == [0, 1, 2]
    assert np.allclose([struct.unpack("<f", t[4][0])[0] for *_, t in found], [9.0, 2.4**2, 1.92**2])


def test_histogram_text_and_image(tmp_path: Path) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path))
    pixels = np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3)
    with writer.as_default(step=7):
        tf.summary.histogram("weights", tf.constant([1.0, 2.0, 2.0, 5.0]), buckets=4)
        tf.summary.text("note", "**hello**")
        tf.summary.image("pictures", pixels, max_outputs=1)
    (_, _, kind, table), (step, _, text, note), (_, _, image, shown) = values(tmp_path)
    assert (step, kind, text, image) == (7, "histograms", "text", "images")
    rows = np.frombuffer(table[4][0], "<f8").reshape(4, 3)
    counts, edges = np.histogram([1.0, 2.0, 2.0, 5.0], 4)
    assert np.array_equal(rows[:, 2], counts) and np.allclose(rows[:, 0], edges[:-1]) and np.allclose(rows[:, 1], edges[1:])
    assert note[8] == [b"**hello**"]
    assert shown[8][:2] == [b"5", b"4"] and len(shown[8]) == 3
    data = shown[8][2]
    start = data.index(b"IDAT") + 4
    raw = np.frombuffer(zlib.decompress(data[start : start + struct.unpack(">I", data[start - 8 : start - 4])[0]]), np.uint8)
    assert np.array_equal(raw.reshape(4, 16)[:, 1:].reshape(4, 5, 3), pixels[0])


def test_all_values_equal_or_none() -> None:
    from minitape.tf.summary.values import buckets_of

    assert buckets_of(np.ones(5), 3).tolist() == [[1, 1, 0], [1, 1, 0], [1, 1, 5]]
    assert buckets_of(np.zeros(0), None).shape == (30, 3)


def test_where_nothing_is_written(tmp_path: Path) -> None:
    assert not tf.summary.scalar("loss", 1.0, step=0).numpy()
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            tf.summary.scalar("loss", 1.0)
        with tf.summary.record_if(lambda: False):
            assert not tf.summary.should_record_summaries().numpy()
            assert not tf.summary.scalar("loss", 1.0, step=0).numpy()

        @tf.summary.record_if(False)
        def down(depth: int) -> bool:
            return bool(tf.summary.scalar("loss", 1.0, step=0)) or (depth > 0 and down(depth - 1))

        assert not down(2) and tf.summary.should_record_summaries()
        with pytest.raises(ValueError, match="must be a scalar"):
            tf.summary.scalar("loss", [1.0, 2.0], step=0)
    writer.close()
    assert values(tmp_path) == []
    with pytest.raises(RuntimeError, match="SummaryWriter is already closed"), writer.as_default():
        pass


def test_a_loss_that_is_written_does_not_leave_the_tape(tmp_path: Path) -> None:
    x = tf.Variable(2.0)
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0), tf.GradientTape() as tape:
        y = x * x
        tf.summary.scalar("y", y)
    why = tape.explain(y, x)
    assert why.connected and not why.others


def test_the_callback_of_keras(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.SGD(0.25), "mse")
    board = tf.keras.callbacks.TensorBoard(str(tmp_path), histogram_freq=2, update_freq="batch")
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    history = model.fit(x, y, epochs=2, batch_size=2, validation_data=(x, y), verbose=0, callbacks=[board]).history
    train, validation = values(tmp_path / "train"), values(tmp_path / "validation")
    read = {(step, tag): struct.unpack("<f", t[4][0])[0] for step, tag, kind, t in [*train, *validation] if kind == "scalars"}
    assert np.allclose([read[k, "epoch_loss"] for k in range(2)], history["val_loss"])  # the file of validation was read last
    assert read[0, "epoch_learning_rate"] == 0.25 and (3, "batch_loss") in read
    assert [(step, tag.split("/")[-2:]) for step, tag, kind, _ in train if kind == "histograms"] == [
        (0, ["kernel", "histogram"]), (0, ["bias", "histogram"])
    ]  # fmt: skip
    with pytest.raises(NotImplementedError, match="embeddings"):
        tf.keras.callbacks.TensorBoard(embeddings_freq=1)


def test_tensorflow_reads_the_file(tmp_path: Path) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    if tensorflow is tf:
        pytest.skip("the name stands for minitape here")
    from tensorflow.core.util import event_pb2  # type: ignore[import-not-found, unused-ignore]

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.scalar("loss", 0.25, step=3, description="how wrong")
    (path,) = tmp_path.iterdir()
    _, data = tensorflow.data.TFRecordDataset(str(path))
    event = event_pb2.Event.FromString(data.numpy())
    assert (event.step, event.summary.value[0].tag, event.summary.value[0].metadata.summary_description) == (3, "loss", "how wrong")
    assert tensorflow.make_ndarray(event.summary.value[0].tensor) == 0.25
