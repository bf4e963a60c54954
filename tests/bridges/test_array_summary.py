"""What is kept of a large array that is released shows what the array would have shown."""

import warnings
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from minitape.bridges.kept_values import KeptValue
from minitape.picture.shown_values import to_value_fields
from minitape.recording.value_summary import to_float_array

random = np.random.default_rng(0)
ARRAYS = {
    "vector": random.standard_normal(300),
    "float32": random.standard_normal((40, 70)).astype(np.float32),
    "few columns": random.standard_normal((100, 3)).astype(np.float32),
    "images": random.standard_normal((2, 6, 9, 4)).astype(np.float32),
    "zeros": np.zeros((20, 20), np.float32),
    "integers": random.integers(0, 9, (30, 30)),
    "half": random.standard_normal(200).astype(np.float16),
    "bfloat16": random.standard_normal(200).astype(ml_dtypes.bfloat16),
    "not finite": np.array([np.nan, np.inf, -np.inf, 0.0, 2.0, *range(200)]),
    "all NaN": np.full(100, np.nan, np.float32),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_released_value_shows_the_same(name):
    array = ARRAYS[name]
    kept, released = KeptValue(array), KeptValue(array)
    released.reduce_to_summary()
    assert released.content is None and released.compute_zero_and_finite_flags() == kept.compute_zero_and_finite_flags()
    was, now = to_value_fields(array), released.shown()
    assert {key: value for key, value in now.items() if key != "stats"} == {
        key: value for key, value in was.items() if key != "stats"
    }
    exact = [key for key in was["stats"] if key not in ("mean", "std") or isinstance(was["stats"][key], str)]
    assert [now["stats"][key] for key in exact] == [was["stats"][key] for key in exact]
    for key in set(was["stats"]) - set(exact):
        assert now["stats"][key] == pytest.approx(was["stats"][key], rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    "dtype, size", [(t, s) for t in (np.float32, np.float64) for s in (1e-30, 1.0, 1e30, 3e38)] + [(np.float64, 1e200)]
)
@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_numbers_of_any_size_have_a_mean_and_a_deviation(dtype, size, offset):
    numbers = np.random.default_rng(1).uniform(-0.9, 0.9, (10, 30)) * (1.0 - offset) + offset
    array = (numbers * size).astype(dtype)
    with warnings.catch_warnings(action="error"):
        shown = to_value_fields(array)["stats"]
    exact = [Fraction(float(number)) for number in array.ravel()]
    mean = sum(exact) / len(exact)
    variance = sum((number - mean) ** 2 for number in exact) / len(exact) / Fraction(size) ** 2
    assert shown["mean"] == pytest.approx(float(mean), rel=1e-5, abs=1e-6 * size)
    assert shown["std"] == pytest.approx(float(variance) ** 0.5 * size, rel=1e-5)


def test_memory_that_was_not_written_yet_is_read_in_silence():
    """``torch.empty`` may hold a signalling NaN, of which NumPy warns when it becomes a float64."""
    array = np.array([0x7FA00001, 0], np.uint32).view(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(to_float_array(KeptValue(array))).tolist() == [True, False]
        assert KeptValue(array).compute_zero_and_finite_flags() == (False, False)
