"""The names of `tf.tf.debugging`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.graphs.settings import (
    get_log_device_placement as get_log_device_placement,
    set_log_device_placement as set_log_device_placement,
)
from minitape.ops.assertions import (
    Assert as Assert,
    assert_all_finite as assert_all_finite,
    assert_integer as assert_integer,
    assert_near as assert_near,
    assert_proper_iterable as assert_proper_iterable,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_same_float_dtype as assert_same_float_dtype,
    assert_scalar as assert_scalar,
    assert_shapes as assert_shapes,
    assert_type as assert_type,
    check_numerics as check_numerics,
    is_numeric_tensor as is_numeric_tensor,
)
def assert_equal(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x == y everywhere."""

def assert_greater(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x > y everywhere."""

def assert_greater_equal(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x >= y everywhere."""

def assert_less(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x < y everywhere."""

def assert_less_equal(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x <= y everywhere."""

def assert_negative(x: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError unless x < 0 for every element."""

def assert_non_negative(x: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError unless x >= 0 for every element."""

def assert_non_positive(x: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError unless x <= 0 for every element."""

def assert_none_equal(x: _Any, y: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError, with the places that differ, unless x != y everywhere."""

def assert_positive(x: _Any, message: _Any = None, summarize: _Any = None, name: _Any = None) -> _Any:
    """Raises InvalidArgumentError unless x > 0 for every element."""

