"""Choosing and computing in blocks gives what NumPy gives at once."""

import itertools

import numpy as np
import pytest

from minitape.engine.table.primitives import TABLE
from minitape.engine.table.primitives.selecting import LONG, select
from minitape.speed.blocks import LARGE

ROWS, COLUMNS = 300, 400
assert LONG < ROWS * COLUMNS > LARGE


def operands(dtype):
    rng = np.random.default_rng(1)
    array = rng.standard_normal((ROWS, COLUMNS)).astype(dtype)
    return {
        "array": array,
        "turned": rng.standard_normal((COLUMNS, ROWS)).astype(dtype).T,
        "nan": np.full_like(array, np.nan),
        "repeated": np.broadcast_to(dtype(3), array.shape),
        "row": array[0],
        "zero": 0,
        "minus_zero": dtype(-0.0),
        "float": 2.5,
        "number": dtype(7),
        "axis_free": np.array(4, dtype),
        "double": np.float64(2),
        "ints": np.arange(array.size).reshape(array.shape),
        "truth": True,
    }


CONDITIONS = {
    "mask": lambda m: m,
    "turned": lambda m: np.asfortranarray(m),
    "always": lambda m: np.ones_like(m),
    "row": lambda m: m[0],
    "column": lambda m: m[:, :1],
    "number": lambda m: m[0, 0],
    "ints": lambda m: m.astype(int),
}


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("rows", [ROWS, 7, 1])
def test_select_gives_what_where_gives(dtype, condition, rows):
    mask = CONDITIONS[condition](np.random.default_rng(2).random((ROWS, COLUMNS)) > 0.5)
    given = operands(dtype)
    if rows < ROWS:
        given = {k: v[:rows] if getattr(v, "shape", ())[:1] == (ROWS,) else v for k, v in given.items()}
        mask = mask[:rows] if mask.shape[:1] == (ROWS,) else mask
    for x, y in itertools.product(given, given):
        want, got = np.where(mask, given[x], given[y]), select(mask, given[x], given[y])
        assert (got.dtype, got.shape, got.strides) == (want.dtype, want.shape, want.strides), (x, y)
        assert got.tobytes() == want.tobytes(), (x, y)


SPECIAL = [name for name, p in TABLE.items() if p.texts and not p.code and hasattr(p.forward, "__wrapped__")]
BY_BLOCKS = [*SPECIAL, "leaky_relu", "leaky_gate"]


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BY_BLOCKS)
def test_in_blocks_and_at_once_is_the_same(name, dtype):
    rng = np.random.default_rng(3)
    run, attrs = TABLE[name].forward, {"alpha": 0.2} if name.startswith("leaky") else {}
    x, y = (rng.standard_normal((ROWS, COLUMNS)).astype(dtype) for _ in range(2))
    x[::7], y[::5] = 0, 0
    count = run.__wrapped__.__code__.co_argcount
    for inputs in ((x, y), (x, dtype(0.5)), (x, np.broadcast_to(dtype(1), x.shape)), (x.T, y.T), (x, y[0])):
        got, want = run(*inputs[:count], **attrs), run.__wrapped__(*inputs[:count], **attrs)
        np.testing.assert_array_equal(got, want)
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
