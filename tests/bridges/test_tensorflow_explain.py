"""``recording.explain`` for TensorFlow: the cause and the line of each program, and that what it advises works."""

import pytest

tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is not installed: pip install 'minitape[tensorflow]'")

import numpy as np  # noqa: E402 - behind the check for TensorFlow

from minitape.bridges import tensorflow as bridge  # noqa: E402
from minitape.bridges.tensorflow_texts import TEXT  # noqa: E402

from .cases import blamed, broken, compiled, mended, programs  # noqa: E402
from .tensorflow_cases import CASES  # noqa: E402

PROGRAMS = programs(CASES)


def run(text, name):
    space = {"tf": tensorflow, "__name__": "program"}
    exec(compiled(text, name), space)
    return space


@pytest.mark.parametrize("name", PROGRAMS)
def test_cause_and_line(name):
    cause, text = PROGRAMS[name]
    with bridge.record() as recording:
        space = run(broken(text), f"<{name}>")
    assert recording.failure is None
    grad = space["grad"]
    assert grad is None or not np.isfinite(grad).all() or not np.any(grad)
    why = recording.explain(space["y"], space["w"])
    assert (why.cause, [why.line] if why.line else []) == (cause, blamed(text)), str(why)
    assert why.filename == (f"<{name}>" if blamed(text) else None)
    assert not why.connected and why.message and why.fix
    assert "{" not in why.message + why.fix and str(why) and why._repr_html_()


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_mends_it(name):
    with bridge.record() as recording:
        space = run(mended(PROGRAMS[name][1]), f"<{name} mended>")
    grad = space["grad"]
    assert grad is not None and np.isfinite(grad).all() and np.any(grad)
    why = recording.explain(space["y"], space["w"])
    assert why.connected, str(why)


def test_every_cause_has_words():
    assert {cause for cause, _ in PROGRAMS.values()} == {key.partition(" ")[0] for key in TEXT} - {"connected", "target_not_tensor"}


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
