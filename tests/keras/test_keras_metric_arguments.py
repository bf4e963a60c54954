"""Arguments of metrics beyond the default ones."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf

M = tf.keras.metrics
LABELS = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.float32)
SCORES = np.array([[0.1, 0.8], [0.4, 0.35], [0.8, 0.6], [0.55, 0.2]], np.float32)


def test_sample_weights_belong_to_rows():
    right = M.CategoricalAccuracy()([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]], sample_weight=[1.0, 3.0])
    assert float(right) == 0.25


def test_names_give_metrics_not_losses():
    assert isinstance(M.get("binary_accuracy"), M.BinaryAccuracy)
    with pytest.raises(ValueError, match="Could not interpret metric identifier: huber"):
        M.get("huber")


def test_accuracies_refuse_shapes_that_do_not_fit():
    for metric in (M.Accuracy, M.BinaryAccuracy, M.CategoricalAccuracy):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            metric()(LABELS[:3], SCORES)


def test_errors_of_integers_have_a_mean():
    assert float(tf.keras.losses.mse([[1, 2]], [[1, 3]])[0]) == 0.5
