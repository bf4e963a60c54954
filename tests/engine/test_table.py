"""Wrong derivatives in the table of primitives are found, and what finite differences cannot detect is as in
TensorFlow."""

import numpy as np
import primitive_examples  # noqa: F401 - it completes the table
import pytest
from check_gradients import check_grads

import minitape as tf
from minitape.engine.table.accelerator import Accelerator
from minitape.engine.table.generated_code import replace_operators_with_calls
from minitape.engine.table.primitives import TABLE

RULES = [(p, i) for p in TABLE.values() if p.code for i, rule in enumerate(p.rules) if rule is not None]


@pytest.mark.parametrize(("primitive", "i"), RULES, ids=lambda value: getattr(value, "name", value))
def test_a_derivative_that_is_one_percent_wrong_is_found(primitive, i):
    """The comparison with finite differences in `test_primitives.py` finds it."""
    random = np.random.default_rng(1)
    x, y = (1.5 if primitive.name == "acosh" else 0.5) + 0.2 * random.random(3), 0.2 + 0.2 * random.random(3)
    inputs = (x, y)[: len(primitive.texts) - 1]

    @tf.custom_gradient
    def wrong(*xs):
        z = primitive(*xs)

        def rules(g):
            shares = [rule and rule(g.numpy(), z.numpy(), *(v.numpy() for v in xs)) for rule in primitive.rules]
            return [share if k != i else share * 1.01 for k, share in enumerate(shares)]

        return z, rules

    if np.any(
        primitive.rules[i](np.ones(3), primitive.forward(*inputs), *inputs)
    ):  # A rule that is always zero stays zero.
        with pytest.raises(AssertionError, match=r"finite|differ"):
            check_grads(wrong, inputs, order=1)


def test_kernels_and_what_has_a_derivative_are_named():
    assert [TABLE[name].op for name in ("add", "divide", "reduce_max", "matmul")] == [
        "AddV2", "RealDiv", "Max", "MatMul",
    ]  # fmt: skip
    assert all(TABLE[name].is_nondifferentiable for name in ("floor", "argmax", "floordiv"))
    assert not any(TABLE[name].is_nondifferentiable for name in ("sin", "pow", "matmul"))


def test_a_formula_becomes_calls():
    assert replace_operators_with_calls("2 * g - 1 / x") == "subtract(reflected_multiply(g, 2), reflected_divide(x, 1))"


def test_a_plain_accelerator_runs_what_it_is_given():
    plain = Accelerator()
    assert plain.replace_by_fast_form(np.sin) is np.sin
    assert plain.compile_formula_for_large_arrays("sin(x)", "x", np.sin) is np.sin
    assert plain.get_fast_operation_function(np.sin, None, "sin") is np.sin


def test_extremes_of_nothing_and_of_what_is_no_number():
    assert tf.reduce_max(tf.zeros([0], tf.int32)).numpy() == np.iinfo(np.int32).min
    assert tf.reduce_min(tf.zeros([0], tf.int32)).numpy() == np.iinfo(np.int32).max
    assert tf.reduce_max(tf.zeros([0])).numpy() == -np.inf


def test_places_of_unique_elements_have_the_dtype_that_is_asked_for():
    for dtype in (tf.int32, tf.int64):
        y, places = tf.unique([3, 3, 1], out_idx=dtype)
        assert y.numpy().tolist() == [3, 1] and places.numpy().tolist() == [0, 0, 1] and places.dtype == dtype


def test_the_extreme_is_never_what_is_no_number():
    nan = float("nan")
    assert [int(tf.argmax(x)) for x in ([nan, 1.0, 3.0], [nan, nan])] == [2, 0]
    assert [int(tf.argmin(x)) for x in ([2.0, nan, 1.0], [nan, nan])] == [2, 0]
