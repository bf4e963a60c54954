"""Elementwise functions of large arrays, block by block, into memory that is used again.

NumPy computes ``g * (1 - z * z)`` in three passes over main memory, each into a fresh array whose pages the operating
system first has to fill with zeros; for a million numbers that costs five times the arithmetic. Here the function runs
on one block after the other, whose intermediate results stay in the cache, and only its result goes to memory. That
comes from a pool: a buffer is free again when only the pool refers to it.
"""

from __future__ import annotations

import ast
import functools
import math
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..engine.table.generated_code import OPERATORS, compile_expression, find_names, parse_expression

LARGE = 65_536  # elements from which on a function runs in blocks
# elements of a block: what a function reads and makes stays in the cache, and NumPy's calls are few enough
BLOCK_SIZE = 32_768
POOL_BYTES = 2**28  # memory that the pool keeps at most

_lock = threading.Lock()
_pool: list[np.ndarray] = []


def _count_references_of_first(pool: list[np.ndarray]) -> int:
    """Count the references to the first buffer of a pool, which no one else holds; that depends on the interpreter."""
    for memory in pool:
        return sys.getrefcount(memory)
    raise IndexError


# references to a free buffer; a debugger that looks at these variables holds more
_FREE_REFERENCES = min(_count_references_of_first([np.empty(1)]), 3)
_COUNTS_VARIABLES = sys.version_info < (3, 14)  # whether Python counts each variable that refers to an object
# references to an adjoint in find_reusable_array: the sweep's, those of the variables of three functions, its own two
_SWEEP_REFERENCES = 6


def create_buffer(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an uninitialized array, in memory of the pool where a buffer of this size is free."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    with _lock:
        for memory in _pool:
            if memory.nbytes == size and sys.getrefcount(memory) <= _FREE_REFERENCES:
                return memory.view(dtype).reshape(shape)
        memory = np.empty(size, np.uint8)
        _pool.append(memory)
        while len(_pool) > 1 and sum(pooled.nbytes for pooled in _pool) > POOL_BYTES:
            _pool.pop(0)
        return memory.view(dtype).reshape(shape)


def find_reusable_array(array: Any) -> Any:
    """Return ``array`` if a step of a sweep may overwrite it: its memory is the pool's, and nothing but our callers,
    whose variables are counted, refers to it. Else None.
    """
    memory = getattr(array, "base", None)
    if (
        not _COUNTS_VARIABLES
        or sys.getrefcount(array) > _SWEEP_REFERENCES
        or all(memory is not pooled for pooled in _pool)
    ):
        return None
    return array if sys.getrefcount(memory) <= _FREE_REFERENCES + 1 else None


def accumulate_adjoint(total: np.ndarray, share: Any) -> np.ndarray:
    """Return ``total + share``, in memory of the pool: in that of ``total`` where it can be used again."""
    if getattr(share, "dtype", None) is not total.dtype:
        return total + share
    out = find_reusable_array(total)
    return np.add(total, share, out=create_buffer(total.shape, total.dtype) if out is None else out)


@functools.cache
def list_block_slices(element_count: int, block_size: int = BLOCK_SIZE) -> list[slice]:
    """Split so many elements into blocks of nearly the same size: a function may treat a small one otherwise."""
    block_count = -(-element_count // block_size)
    ends = [element_count * k // block_count for k in range(block_count + 1)]
    return [slice(start, end) for start, end in pairwise(ends)]


def compile_formula(text: str, names: str, plain: Callable) -> Callable:
    """Return ``plain``, which computes a formula of arguments called ``names``, as a function that computes large
    arrays block by block: into the memory of the argument ``over`` where that can be used again.
    """
    read_names = find_names(text)
    if read_names <= {text}:  # an argument as it is
        return plain

    def run_in_blocks(*values: Any, over: Any = None, **attrs: Any) -> Any:
        out = find_reusable_array(over)
        read_values = [value if name in read_names else None for value, name in zip(values, names, strict=False)]
        arrays = [v for v in read_values if type(v) is np.ndarray and any(v.strides)]
        first_array = arrays[0] if arrays else None
        if (
            first_array is None
            or first_array.size < LARGE
            or first_array.dtype.kind != "f"
            or first_array.dtype.itemsize < 4
        ):
            return plain(*values, **attrs)
        if any(array.shape != first_array.shape or not array.flags.c_contiguous for array in arrays):
            return plain(*values, **attrs)
        if any(getattr(v, "dtype", first_array.dtype) != first_array.dtype for v in read_values):
            return plain(*values, **attrs)
        # of an array that is one number everywhere that number
        flat_values = [
            v if type(v) is not np.ndarray else v.reshape(-1) if any(v.strides) else v.flat[0] for v in read_values
        ]
        if out is None or out.shape != first_array.shape:
            out = create_buffer(first_array.shape, first_array.dtype)
        flat_out, (write_into, steps) = out.reshape(-1), _build_in_place_function(text, names)
        for block in list_block_slices(out.size, BLOCK_SIZE if steps > 1 else out.size):
            block_values = [v[block] if type(v) is np.ndarray else v for v in flat_values]
            if write_into is None:
                flat_out[block] = plain(*block_values, **attrs)
            else:
                write_into(flat_out[block], *block_values)
        return out

    return run_in_blocks


@functools.cache
def _build_in_place_function(text: str, names: str) -> tuple[Callable | None, int]:
    """Return a formula as a function that takes the array for its result and then its arguments, None where its last
    step is not NumPy's; and how many steps it has.
    """
    from ..engine.table.primitives.formula import ARRAY, LIBRARY

    node: Any = parse_expression(text)
    if isinstance(node, ast.Call):
        name, operands = ast.unparse(node.func), node.args
    elif isinstance(node, ast.BinOp):
        name, operands = OPERATORS[type(node.op)], [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        name, operands = "negative", [node.operand]
    else:
        name, operands = "", []
    # NumPy's own: of some names ARRAY has a function around it, which takes no `out`
    last_function = _compute_power if name == "pow" else LIBRARY.get(name) or getattr(np, name, None) or ARRAY.get(name)
    if not isinstance(last_function, np.ufunc) and last_function is not _compute_power:
        return None, 2
    in_place_function = compile_expression(
        f"last({', '.join(map(ast.unparse, operands))}, out=out)",
        ARRAY | {"last": last_function},
        ", ".join(["out", *names]) + "=None",
    )
    return in_place_function, 1 + sum(not isinstance(operand, (ast.Name, ast.Constant)) for operand in operands)


def _compute_power(x: Any, y: Any, out: np.ndarray) -> Any:
    return np.multiply(x, x, out=out) if type(y) is not np.ndarray and y == 2 else np.power(x, y, out=out)
