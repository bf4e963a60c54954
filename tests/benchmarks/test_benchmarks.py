"""The table of operations that is measured beside TensorFlow: every line of it runs, and has a gradient."""

import math

import pytest

import minitape as tf
from benchmarks.operations import arrays, lines, timed


@pytest.mark.long(sample=7)
@pytest.mark.parametrize(("name", "inputs", "expression"), lines(), ids=[name for name, _, _ in lines()])
def test_every_operation_that_is_measured_has_a_gradient(name, inputs, expression):
    given = {k: tf.Variable(v) if v.dtype.kind == "f" else tf.constant(v) for k, v in arrays(inputs).items()}
    found = timed(tf, eval(f"lambda tf, {', '.join(given)}: {expression}"), given, 0)
    assert found["sums"] and all(math.isfinite(s) and s > 0 for s in found["sums"]), found
