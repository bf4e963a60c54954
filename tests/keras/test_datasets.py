"""`tf.keras.datasets` and `get_file`: shapes and types as Keras documents them, and something that a model can learn."""

from __future__ import annotations

import hashlib
import logging

import numpy as np
import pytest

import minitape as tf
from minitape.engine import logs

datasets = tf.keras.datasets
SHAPES = {  # name: (inputs, type, labels, type, to test with), of Keras' documentation
    "mnist": ((60000, 28, 28), "uint8", (60000,), "uint8", 10000),
    "cifar10": ((50000, 32, 32, 3), "uint8", (50000, 1), "uint8", 10000),
    "boston_housing": ((404, 13), "float64", (404,), "float64", 102),
    "california_housing": ((16512, 8), "float32", (16512,), "float32", 4128),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_types(name: str) -> None:
    (x, y), (x_test, y_test) = getattr(datasets, name).load_data()
    assert (x.shape, x.dtype.name, y.shape, y.dtype.name, len(x_test)) == SHAPES[name]
    assert x_test.shape[1:] == x.shape[1:] and len(y_test) == len(x_test) and x_test.dtype == x.dtype


def test_what_they_are_is_said_once(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_logged", {})
    with caplog.at_level(logging.WARNING, "tensorflow"):
        datasets.boston_housing.load_data()
        datasets.boston_housing.load_data()
    (record,) = caplog.records
    assert "tf.keras.datasets.boston_housing gives made-up data" in record.getMessage()


def test_the_same_each_time_and_shuffled_by_the_seed() -> None:
    (x, _), _ = datasets.boston_housing.load_data()
    (again, _), _ = datasets.boston_housing.load_data()
    (other, _), (rest, _) = datasets.boston_housing.load_data(test_split=0.5, seed=7)
    assert np.array_equal(x, again) and not np.array_equal(x[:253], other)
    assert len(other) == len(rest) == 253
    with pytest.raises(ValueError, match="test_split"):
        datasets.boston_housing.load_data(test_split=1.5)


def test_a_model_learns_the_patterns() -> None:
    (x, y), (x_test, y_test) = datasets.mnist.load_data()
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.Input((28, 28)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)]
    model = tf.keras.Sequential(layers)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(x[:2000] / 255.0, y[:2000], verbose=0)
    assert model.evaluate(x_test[:500] / 255.0, y_test[:500], verbose=0)[1] > 0.9


def test_texts() -> None:
    (x, y), (x_test, _) = datasets.reuters.load_data(num_words=500, skip_top=10, maxlen=100, start_char=None, oov_char=2, index_from=5)
    assert all(len(text) < 100 for text in x) and len(x) + len(x_test) < 11228
    numbers = {number for text in x[:300] for number in text}
    assert numbers <= {2, *range(10, 500)} and 2 in numbers and y.min() >= 0 and y.max() < 46
    left_out = datasets.reuters.load_data(num_words=500, oov_char=None)[0][0]
    assert max(map(max, left_out[:300])) < 500
    assert len(datasets.imdb.get_word_index()) == 88584


def test_a_file_that_is_there(tmp_path) -> None:
    path = tmp_path / "datasets" / "a.txt"
    path.parent.mkdir()
    path.write_text("abc")
    ask = {"origin": "https://example.org/a.txt", "cache_dir": str(tmp_path)}
    assert tf.keras.utils.get_file(**ask) == str(path)
    assert tf.keras.utils.get_file(**ask, file_hash=hashlib.sha256(b"abc").hexdigest()) == str(path)
    with pytest.raises(ValueError, match="another hash"):
        tf.keras.utils.get_file(**ask, md5_hash="0" * 32)
    with pytest.raises(FileNotFoundError, match=r"Load https://example.org/b.txt yourself, and put it at .*b\.txt"):
        tf.keras.utils.get_file("b.txt", "https://example.org/b.txt", cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match="unpacks no archives"):
        tf.keras.utils.get_file(**ask, untar=True)
