"""The names of `tf.tf.debugging`, for editors: see `python tests/repository/make_stubs.py`."""

from typing import Any as _Any
from minitape.graphs.settings import (
    set_log_device_placement as set_log_device_placement,
)
from minitape.ops.assertions import (
    Assert as Assert,
    assert_near as assert_near,
    assert_rank as assert_rank,
    assert_shapes as assert_shapes,
    check_numerics as check_numerics,
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

