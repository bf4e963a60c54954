"""The programs of `tests/explain/cases`, word for word, in TensorFlow itself: the bridge says what the tape says."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest

from minitape.explain.causes import CAUSES
from tests.explain.programs import load_cases

from .cases import compile_program
from .frameworks import FRAMEWORKS

pytestmark = pytest.mark.filterwarnings("ignore")  # TensorFlow's own, about programs that are wrong
FOLDER = Path(__file__).parents[1] / "explain" / "cases"
_, TENSORFLOW, _ = FRAMEWORKS
# TensorFlow's bridge names another line of these, or another cause: where an object was replaced, values left a block
# or a layer was not used, a tape knows more of the program
OTHERS = """
    comparisons/adaptive-weights-clipped-by-python-max dtype/string-split-and-to-number healthy/persistent-many
    no_derivative/tf-data-from-inside-tape not_trainable/frozen-backbone-then-asked-for-all-its-variables
    not_used/reg-losses-only not_used/while-loop-tolerance-only
    not_watched/state-of-a-layer-as-an-attribute-is-not-watched numpy_functions/asked-in-a-worker-after-numpy-in-main
    numpy_values/rnn-state-numpy other_tapes/a-layer-in-what-the-dataset-maps other_tapes/tf-data-map-with-variable
    python_choices/larger-of-two-losses-in-a-list python_numbers/losses-appended-as-floats
    python_numbers/pool-gives-floats python_numbers/visitor-dispatch-by-name rebound/augmented-after-watch
    rebound/maml-kernel-replaced-by-tensor rebound/optimizer-keeps-old-variables rebound_variables/assign-add-chain
    rebound_variables/assign-returns-tensor-in-loop recording_paused/watch-under-pause
    state/model-that-assigns-its-weight state/optimizer-learning-rate-from-a-variable state/scatter-nd-update-buffer
    stop_gradient/asked-in-a-worker stop_gradient/long-vae-with-a-class-and-logging unused_layer/logged-unused-head
    used_elsewhere/extra-losses-not-added used_elsewhere/long-seq2seq-attention
    used_elsewhere/same-number-on-a-logged-line-large wrong_object/fed-twice-from-a-dataset
    wrong_object/gradient-of-value-read wrong_object/gradient-with-respect-to-the-symbol-of-the-layer
    wrong_object/identity-asked-instead wrong_object/layer-output-asked-by-index wrong_object/read-value-asked
    wrong_object/saliency-of-an-array-that-was-made-a-tensor-later
""".split()


@pytest.mark.long(sample=3)
@pytest.mark.parametrize("framework", [TENSORFLOW], ids=["tensorflow"])
@pytest.mark.parametrize(
    "case", [case for case in load_cases(FOLDER) if case.name not in OTHERS], ids=lambda case: case.name
)
def test_a_program_of_the_tape(case, framework):
    tf = framework.module
    framework.seed(tf)
    np.random.seed(1)
    space = {"__name__": "user_code", "tf": tf}
    with contextlib.redirect_stdout(io.StringIO()), framework.bridge.record() as recording:
        exec(compile_program(case.code, f"<{case.name}>"), space)
        if "grads" not in space:
            space["tape"].gradient(space["target"], space["source"])
    for number, (source, causes) in enumerate(zip(tf.nest.flatten(space["source"]), case.causes, strict=True)):
        why = recording.explain(space["target"], source)
        assert why.kind in {CAUSES[cause].kind for cause in causes}, str(why)
        assert why.line in set().union(*(case.list_accepted_lines(number, cause) for cause in [*causes, why.cause])), (
            str(why)
        )
