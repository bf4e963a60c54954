"""Arguments of metrics beyond the default ones."""

import numpy as np
import pytest

import minitape as tf

M = tf.keras.metrics
LABELS = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.float32)
SCORES = np.array([[0.1, 0.8], [0.4, 0.35], [0.8, 0.6], [0.55, 0.2]], np.float32)


def test_accuracies_refuse_shapes_that_do_not_fit():
    for metric in (M.Accuracy, M.BinaryAccuracy, M.CategoricalAccuracy):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            metric()(LABELS[:3], SCORES)
