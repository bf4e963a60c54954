"""Compute elementwise functions of large arrays block by block and reuse memory.

NumPy computes ``g * (1 - z * z)`` in three passes over main memory. Each pass creates a new array, and the operating
system first fills its pages with zeros. For a million elements, this takes five times as long as the arithmetic. This
module runs the function on one block after another. The intermediate results of a block stay in the cache, and only the
final result is written to memory. This memory comes from a pool, and a buffer becomes free again once only the pool
refers to it.
"""

import ast
import sys
import threading
from collections.abc import Callable
from functools import cache
from itertools import pairwise, starmap
from math import prod
from typing import Any

import numpy as np
from numpy import ndarray

from ..engine.table.generated_code import OPERATORS, compile_expression, find_names_in_expression, parse_expression
from ..engine.types import Adjoint, Array, NumPyType, Object, OptionalFunction, Sizes

LARGE = 65_536  # Arrays with at least this many elements are computed in blocks.
# The number of elements per block. At this size, inputs and results fit in the cache, and few NumPy calls are needed.
BLOCK_SIZE = 32_768
POOL_BYTES = 2**28  # The pool keeps at most this much memory.

_lock = threading.Lock()
_pool: list[ndarray] = []


def _count_references_of_first(pool: list[ndarray]) -> int:
    """Return the reference count of a buffer that only the pool refers to."""
    for memory in pool:
        return sys.getrefcount(memory)
    raise IndexError


# The number is limited to 3, because a debugger that inspects these variables adds references.
_FREE_REFERENCES = min(_count_references_of_first([np.empty(1)]), 3)
_COUNTS_VARIABLES = sys.version_info < (3, 14)  # From 3.14 on, Python does not count some local variables.
# get_array_if_overwritable counts six references to an adjoint if nothing else refers to it.
# One is in the sweep, three are in variables of the calling functions, and two are in the function itself.
_SWEEP_REFERENCES = 6


def create_uninitialized_array(shape: Sizes, dtype: NumPyType | np.dtype) -> ndarray:
    """Return an uninitialized array. If the pool has a free buffer of this size, the array uses it.

    Args:
        shape: The shape of the array.
        dtype: The dtype of the array, or anything that ``np.dtype`` accepts.
    """
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    with _lock:
        for memory in _pool:
            if memory.nbytes == size and sys.getrefcount(memory) <= _FREE_REFERENCES:
                return memory.view(dtype).reshape(shape)
        memory = np.empty(size, np.uint8)
        _pool.append(memory)
        while len(_pool) > 1 and sum(pooled.nbytes for pooled in _pool) > POOL_BYTES:
            _pool.pop(0)
        return memory.view(dtype).reshape(shape)


def get_array_if_overwritable(array: Array) -> Array:
    """Return the array if a sweep step may overwrite it, and None otherwise.

    A step may overwrite an array in the pool if only the sweep refers to it. In that case, the number of references is
    ``_SWEEP_REFERENCES``, including those held by the callers in this module.

    Args:
        array: The adjoint that the step no longer needs.
    """
    memory = getattr(array, "base", None)
    if (
        not _COUNTS_VARIABLES
        or sys.getrefcount(array) > _SWEEP_REFERENCES
        or all(memory is not pooled for pooled in _pool)
    ):
        return None
    return array if sys.getrefcount(memory) <= _FREE_REFERENCES + 1 else None


def add_share_to_large_adjoint(total: ndarray, share: Adjoint) -> ndarray:
    """Add a share to a large adjoint, using memory from the pool.

    Args:
        total: The sum so far. The array is overwritten if nothing else refers to it.
        share: The array or scalar to add.

    Returns:
        The sum, as an array with the shape of ``total``.
    """
    if getattr(share, "dtype", None) is not total.dtype:
        return total + share
    out = get_array_if_overwritable(total)
    return np.add(total, share, out=create_uninitialized_array(total.shape, total.dtype) if out is None else out)


@cache
def list_block_slices(element_count: int, block_size: int) -> list[slice]:
    """Return slices that split elements into blocks of nearly equal size.

    The sizes are nearly equal because NumPy may compute much smaller blocks differently.

    Args:
        element_count: The number of elements to split.
        block_size: The maximum size of a block.
    """
    block_count = -(-element_count // block_size)
    ends = [element_count * k // block_count for k in range(block_count + 1)]
    return list(starmap(slice, pairwise(ends)))


def compile_formula_for_large_arrays(text: str, names: str, plain: Callable) -> Callable:
    """Return a function that computes a formula block by block if its arguments are large arrays.

    Args:
        text: The formula, such as "g * (1 - z * z)".
        names: The names of the formula's arguments, one letter each, such as "gzxy".
        plain: The function that computes the formula for any arguments.

    Returns:
        A function with the arguments of ``plain`` and an additional argument ``over``, an array whose memory the result
        may reuse. Unless all arguments are scalars or contiguous float arrays of the same shape and dtype, the function
        calls ``plain``.
    """
    read_names = find_names_in_expression(text)
    if read_names <= {text}:  # The formula is one of its arguments and computes nothing.
        return plain

    def run_in_blocks(*values: Array, over: Array = None, **attrs: Object) -> Array:
        out = get_array_if_overwritable(over)
        read_values = [value if name in read_names else None for value, name in zip(values, names, strict=False)]
        arrays = [v for v in read_values if type(v) is ndarray and any(v.strides)]
        if not _can_split_into_blocks(arrays, read_values):
            return plain(*values, **attrs)
        first_array = arrays[0]
        flat_values = [_flatten_or_read_once(value) for value in read_values]
        if out is None or out.shape != first_array.shape:
            out = create_uninitialized_array(first_array.shape, first_array.dtype)
        flat_out = out.reshape(-1)
        write_into, steps = _build_in_place_function(text, names)
        for block in list_block_slices(out.size, BLOCK_SIZE if steps > 1 else out.size):
            block_values = [v[block] if type(v) is ndarray else v for v in flat_values]
            if write_into is None:
                flat_out[block] = plain(*block_values, **attrs)
            else:
                write_into(flat_out[block], *block_values)
        return out

    return run_in_blocks


def _can_split_into_blocks(arrays: list[ndarray], read_values: list[Any]) -> bool:
    """Return whether a formula reads large arrays that can be split.

    All arrays must be large, contiguous and of the same shape, and all values must share a float dtype.

    Args:
        arrays: The arrays that the formula reads, except broadcast scalars.
        read_values: All values that the formula reads.
    """
    if not arrays:
        return False
    first_array = arrays[0]
    dtype = first_array.dtype
    if first_array.size < LARGE or dtype.kind != "f" or dtype.itemsize < 4:
        return False
    if any(array.shape != first_array.shape or not array.flags.c_contiguous for array in arrays):
        return False
    return all(getattr(value, "dtype", dtype) == dtype for value in read_values)


def _flatten_or_read_once(value: Array) -> Array:
    """Prepare a value for the loop over blocks.

    Args:
        value: An array, a scalar or None.

    Returns:
        A large array with a single axis. A broadcast array whose strides are all 0 is reduced to its single distinct
        element. All other values are returned unchanged.
    """
    if type(value) is not ndarray:
        return value
    return value.reshape(-1) if any(value.strides) else value.flat[0]


@cache
def _build_in_place_function(text: str, names: str) -> tuple[OptionalFunction, int]:
    """Return a function that writes a formula's result into an array, together with the formula's number of steps.

    The function takes the array, followed by the formula's arguments. If no NumPy function computes the last step of
    the formula, None replaces the function.
    """
    from ..engine.table.primitives.formula import ARRAY, LIBRARY

    node: Any = parse_expression(text)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        operands = node.args
    elif isinstance(node, ast.BinOp):
        name = OPERATORS[type(node.op)]
        operands = [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        name = "negative"
        operands = [node.operand]
    else:
        name = ""
        operands = []
    # NumPy's own function is needed because ARRAY wraps some functions, and the wrappers do not accept `out`.
    last_function = _compute_power if name == "pow" else LIBRARY.get(name) or getattr(np, name, None) or ARRAY.get(name)
    if not isinstance(last_function, np.ufunc) and last_function is not _compute_power:
        return None, 2
    in_place_function = compile_expression(
        f"last({', '.join(map(ast.unparse, operands))}, out=out)",
        ARRAY | {"last": last_function},
        ", ".join(["out", *names]) + "=None",
    )
    return in_place_function, 1 + sum(not isinstance(operand, (ast.Name, ast.Constant)) for operand in operands)


def _compute_power(x: Array, y: Array, out: ndarray) -> Array:
    return np.multiply(x, x, out=out) if type(y) is not ndarray and y == 2 else np.power(x, y, out=out)
