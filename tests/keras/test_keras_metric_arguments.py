"""Arguments of metrics beyond the default ones. The numbers were computed by Keras 3 on the same arrays."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf

M = tf.keras.metrics
LABELS = np.array([[0, 1], [1, 0], [1, 1], [0, 0]], np.float32)
SCORES = np.array([[0.1, 0.8], [0.4, 0.35], [0.8, 0.6], [0.55, 0.2]], np.float32)
WEIGHTS = np.array([1, 2, 1, 3], np.float32)

AREAS = {  # curve, summation: one area with weighed columns, mean of the areas of the columns
    ("ROC", "interpolation"): (0.9035, 0.875),
    ("ROC", "minoring"): (0.8421, 0.875),
    ("ROC", "majoring"): (0.9649, 0.875),
    ("PR", "interpolation"): (0.842, 0.8986),
    ("PR", "minoring"): (0.3444, 0.4167),
    ("PR", "majoring"): (0.9333, 0.9167),
    ("PRGAIN", "interpolation"): (0.9078, 0.625),
    ("PRGAIN", "minoring"): (0.8432, 0.4375),
    ("PRGAIN", "majoring"): (0.9725, 0.8125),
}


@pytest.mark.parametrize(("curve", "method"), AREAS)
def test_area_under_each_curve(curve, method):
    for by_label, wanted in zip((False, True), AREAS[curve, method], strict=True):
        metric = M.AUC(6, curve, method, multi_label=by_label, label_weights=[1.0, 3.0])
        found = metric(LABELS, SCORES, sample_weight=WEIGHTS)
        np.testing.assert_allclose(found, wanted, atol=6e-5)
        again = M.AUC.from_config(metric.get_config())
        np.testing.assert_allclose(again(LABELS, SCORES, sample_weight=WEIGHTS), found)


def test_area_from_logits_and_thresholds():
    logits = np.log(SCORES / (1 - SCORES))
    given = {"thresholds": [0.7, 0.3]}
    np.testing.assert_allclose(M.AUC(from_logits=True, **given)(LABELS, logits), M.AUC(**given)(LABELS, SCORES))
    assert M.AUC(**given).get_config()["thresholds"] == [0.3, 0.7]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"curve": "X"}, 'Invalid AUC curve value: "X"'),
        ({"summation_method": "X"}, 'Invalid AUC summation method value: "X"'),
        ({"num_labels": 2}, "`num_labels` is needed only when `multi_label` is True"),
        ({"num_thresholds": 1}, "must be an integer > 1"),
    ],
)
def test_area_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        M.AUC(**arguments)


def test_area_of_labels_needs_columns():
    with pytest.raises(ValueError, match="`y_pred` must have rank 2 when `multi_label=True`"):
        M.AUC(multi_label=True)(LABELS[:, 0], SCORES[:, 0])


@pytest.mark.parametrize(
    ("arguments", "precision", "recall"),
    [
        ({"top_k": 1}, 0.5714, 0.8),
        ({"class_id": 1}, 1.0, 1.0),
        ({"class_id": 0, "top_k": 1}, 0.5, 1.0),
        ({"class_id": 0, "thresholds": [0.3, 0.7]}, [0.5, 1.0], [1.0, 0.3333]),
    ],
)
def test_precision_and_recall_of_some(arguments, precision, recall):
    for metric, wanted in ((M.Precision, precision), (M.Recall, recall)):
        made = metric(**arguments)
        np.testing.assert_allclose(made(LABELS, SCORES, sample_weight=WEIGHTS), wanted, atol=5e-5)
        assert {**made.get_config(), **arguments} == made.get_config()


def test_a_class_needs_columns():
    with pytest.raises(ValueError, match="When class_id is provided, y_pred must be a 2D array"):
        M.Precision(class_id=1)(LABELS[:, 0], SCORES[:, 0])


def test_sample_weights_belong_to_rows():
    counted = M.TruePositives()(LABELS[:2], SCORES[:2], sample_weight=[1.0, 10.0])
    assert float(counted) == 1.0  # row 0 has one, row 1 (of weight 10) none


def test_overlap_of_classes():
    labels, classes = [0, 1, 2, 3, 1, 0], [0, 2, 2, 3, 1, 5]
    assert float(M.MeanIoU(4)(labels, classes)) == pytest.approx(0.75)
    assert float(M.MeanIoU(4, ignore_class=1)(labels, classes)) == pytest.approx(1.0)
    one_hot = np.eye(6)
    dense = M.MeanIoU(4, sparse_y_true=False, sparse_y_pred=False)
    assert float(dense(one_hot[labels], one_hot[classes])) == pytest.approx(0.75)


def test_overlap_counts_in_integers():
    labels, classes, weights = [0, 1, 1], [0, 1, 0], np.array([0.5, 1.0, 0.5])
    with pytest.warns(UserWarning, match="You are passing weight as `float`, but dtype is `int`"):
        truncated = M.MeanIoU(2)(labels, classes, sample_weight=weights)
    assert float(truncated) == pytest.approx(1.0)
    assert float(M.MeanIoU(2, dtype="float32")(labels, classes, sample_weight=weights)) == pytest.approx(
        (0.5 + 2 / 3) / 2
    )


def test_explained_variance():
    true, predicted = LABELS, SCORES
    by_hand = 1 - ((true - predicted) ** 2).sum(0) / ((true - true.mean(0)) ** 2).sum(0)
    np.testing.assert_allclose(M.R2Score(None)(true, predicted), by_hand, rtol=1e-5)
    np.testing.assert_allclose(M.R2Score()(true, predicted), by_hand.mean(), rtol=1e-5)
    np.testing.assert_allclose(M.R2Score("variance_weighted_average")(true, predicted), by_hand.mean(), rtol=1e-5)
    adjusted = 1 - (1 - by_hand.mean()) * 7 / 5  # Keras counts elements, not rows
    np.testing.assert_allclose(M.R2Score(num_regressors=2)(true, predicted), adjusted, rtol=1e-5)
    with pytest.warns(UserWarning, match="More independent predictors than datapoints"):
        np.testing.assert_allclose(M.R2Score(num_regressors=9)(true, predicted), by_hand.mean(), rtol=1e-5)
    with pytest.raises(ValueError, match="Invalid value for argument `class_aggregation`"):
        M.R2Score("mean")
    with pytest.raises(ValueError, match="Expected a value >= 0"):
        M.R2Score(num_regressors=-1)
    with pytest.raises(ValueError, match="R2Score expects 2D inputs"):
        M.R2Score()(true[:, 0], predicted[:, 0])


def test_top_k_counts_ties_and_sorted_numbers():
    assert M.sparse_top_k_categorical_accuracy([[1], [2]], [[0.1, 0.5, 0.5]] * 2, k=1).numpy().tolist() == [
        [1.0],
        [1.0],
    ]
    deep = [[[0.1, 0.5, 0.4], [0.1, 0.6, 0.5]]] * 2
    assert M.sparse_top_k_categorical_accuracy([[1, 2], [2, 0]], deep, k=1).numpy().tolist() == [[1.0, 0.0], [0.0, 0.0]]
    assert float(M.SparseTopKCategoricalAccuracy(2, from_sorted_ids=True)([1, 2], [[0, 1, 2]] * 2)) == 0.5


def test_ignored_class_does_not_count():
    metric = M.SparseCategoricalCrossentropy(ignore_class=0)
    value = metric(np.array([0, 1]), np.array([[0.3, 0.7], [0.4, 0.6]], np.float32))
    assert float(value) == pytest.approx(0.2554128)


def test_names_give_metrics_not_losses():
    aligned = np.array([[1.0, 0.0]], np.float32)
    assert float(M.get("cosine_similarity")(aligned, aligned)) == pytest.approx(1.0)  # the loss of this name gives -1
    assert isinstance(M.get("auc"), M.AUC)
    with pytest.raises(ValueError, match="Could not interpret metric identifier: huber"):
        M.get("huber")


def test_accuracies_refuse_shapes_that_do_not_fit():
    for metric in (M.Accuracy, M.BinaryAccuracy, M.CategoricalAccuracy):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
            metric()(LABELS[:3], SCORES)
    with pytest.raises(ValueError, match="FBetaScore expects 2D inputs"):
        M.F1Score()(LABELS, SCORES[..., None])


def test_scores_have_the_type_that_was_asked_for():
    assert M.FBetaScore(dtype="float64")(LABELS, SCORES).dtype == tf.float64


def test_errors_of_integers_have_a_mean():
    assert float(tf.keras.losses.mse([[1, 2]], [[1, 3]])[0]) == 0.5
