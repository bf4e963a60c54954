"""Names that TensorFlow has no more; tests/house/test_docs.py walks all namespaces."""

from __future__ import annotations

import pytest

import minitape as tf


@pytest.mark.parametrize("module", ["losses", "metrics"])
@pytest.mark.parametrize("name", ["mean_squared_error", "mean_absolute_error", "kl_divergence"])
def test_names_of_older_versions_are_gone(module, name):
    with pytest.raises(AttributeError, match=f"minitape has no 'tf.keras.{module}.{name}'"):
        getattr(getattr(tf.keras, module), name)


def test_what_was_saved_under_a_long_name_is_found():
    assert tf.keras.losses.get("mean_squared_error") is tf.keras.losses.MSE
    assert tf.keras.metrics.get("mean_squared_error").name == "mean_squared_error"
