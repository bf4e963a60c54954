"""``recording.explain`` for TensorFlow: what is asked of it alone; ``test_explain`` has the rest."""

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is not installed: pip install 'minitape[tensorflow]'")

from minitape.bridges import tensorflow as bridge  # noqa: E402 - behind the check for TensorFlow


def test_other_answers():
    w = tensorflow.Variable(2.0, name="w")
    with bridge.record() as recording:
        with tensorflow.GradientTape() as tape:
            y = tensorflow.stop_gradient(w * 2.0) * 1.0
        number = y.numpy()
        slope = tape.gradient(y, w)
    assert slope is None
    assert recording.explain(number, w).cause == "target_not_tensor"
    assert [why.cause for why in recording.explain(y, [w])] == ["stop_gradient"]
    with pytest.raises(TypeError, match="takes a tensor or a variable as its source"):
        recording.explain(y, 3.0)
