"""Each line in the table of operations that are compared with TensorFlow runs and has a gradient."""

import math

import pytest

import minitape as tf
from benchmarks.operations import build_operands, measure_operation, read_operations


@pytest.mark.long(sample=7)
@pytest.mark.parametrize(
    ("name", "inputs", "expression"), read_operations(), ids=[name for name, _, _ in read_operations()]
)
def test_every_operation_that_is_measured_has_a_gradient(name, inputs, expression):
    given = {k: tf.Variable(v) if v.dtype.kind == "f" else tf.constant(v) for k, v in build_operands(inputs).items()}
    found = measure_operation(tf, eval(f"lambda tf, {', '.join(given)}: {expression}"), given, 0)
    assert found["sums"] and all(math.isfinite(s) and s > 0 for s in found["sums"]), found
