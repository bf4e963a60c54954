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
from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Any

import numpy as np

from ..engine.table.code import OPERATORS, compile_text, names_in, parse

LARGE = 65_536  # elements from which on a function runs in blocks
# elements of a block: what a function reads and makes stays in the cache, and NumPy's calls are few enough
BLOCK = 32_768
POOL_BYTES = 2**28  # memory that the pool keeps at most

_lock = threading.Lock()
_pool: list[np.ndarray] = []


def _references(pool: list[np.ndarray]) -> int:
    """The reference count of the first buffer of a pool, which no other object holds; it depends on the interpreter."""
    for raw in pool:
        return sys.getrefcount(raw)
    raise IndexError


_FREE = min(
    _references([np.empty(1)]), 3
)  # a debugger that looks at these variables holds more, which is not the normal


def buffer(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An uninitialised array, in memory of the pool where a buffer of this size is free."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    with _lock:
        for raw in _pool:
            if raw.nbytes == size and sys.getrefcount(raw) <= _FREE:
                return raw.view(dtype).reshape(shape)
        raw = np.empty(size, np.uint8)
        _pool.append(raw)
        while len(_pool) > 1 and sum(r.nbytes for r in _pool) > POOL_BYTES:
            _pool.pop(0)
        return raw.view(dtype).reshape(shape)


def accumulate(total: np.ndarray, share: Any) -> np.ndarray:
    """``total + share``, in memory of the pool."""
    if getattr(share, "dtype", None) is not total.dtype:
        return total + share
    return np.add(total, share, out=buffer(total.shape, total.dtype))


@functools.cache
def slices(count: int, block: int = BLOCK) -> list[slice]:
    """Blocks of nearly the same size: a function may treat a small one otherwise."""
    parts = -(-count // block)
    ends = [count * k // parts for k in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def by_formula(text: str, names: str, plain: Callable) -> Callable:
    """``plain``, which computes a formula of arguments called ``names``, also for large arrays."""
    read = names_in(text)
    if read <= {text}:  # an argument as it is
        return plain
    return _by_blocks(plain, [place for place, name in enumerate(names) if name in read], text, names)


def _by_blocks(plain: Callable, reads: Collection[int], text: str = "", names: str = "") -> Callable:
    """The form in blocks of a function that reads the arguments at these places, and may be a formula."""

    def run(*values: Any, **attrs: Any) -> Any:
        for value in values:
            if type(value) is np.ndarray and value.size >= LARGE:
                break
        else:
            return plain(*values, **attrs)
        read = [value if place in reads else None for place, value in enumerate(values)]
        arrays = [v for v in read if type(v) is np.ndarray and any(v.strides)]
        like = arrays[0] if arrays else None
        if like is None or like.dtype.kind != "f" or like.dtype.itemsize < 4:
            return plain(*values, **attrs)
        if any(a.shape != like.shape or not a.flags.c_contiguous for a in arrays):
            return plain(*values, **attrs)
        if any(getattr(v, "dtype", like.dtype) != like.dtype for v in read):
            return plain(*values, **attrs)
        # of an array that is one number everywhere that number
        numbers = [v if type(v) is not np.ndarray or any(v.strides) else v[(0,) * v.ndim] for v in read]
        into, steps = _into(text, names)
        return in_blocks(into or plain, numbers, like.shape, like.dtype, attrs, BLOCK if steps > 1 else like.size, into)

    return run


def in_blocks(
    function: Callable,
    values: Any,
    shape: tuple[int, ...],
    dtype: Any,
    attrs: Any,
    block: int = BLOCK,
    into: Any = None,
) -> np.ndarray:
    """The result of an elementwise function for arrays of this shape (in order) and single numbers, block by block.

    Where it is one ``into`` memory, it takes that first.
    """
    flat = [v.reshape(-1) if type(v) is np.ndarray and v.ndim else v for v in values]
    out = buffer(shape, dtype)
    whole = out.reshape(-1)
    for part in slices(out.size, block):
        parts = [v[part] if type(v) is np.ndarray and v.ndim else v for v in flat]
        if into is None:
            whole[part] = function(*parts, **attrs)
        else:
            into(whole[part], *parts)
    return out


@functools.cache
def _into(text: str, names: str) -> tuple[Callable | None, int]:
    """A formula as a function that takes the array for its result and then its arguments, where the last step of it is
    NumPy's; and how many steps it has.
    """
    from ..engine.table.primitives.formula import ARRAY, LIBRARY

    node: Any = parse(text) if text else None
    if isinstance(node, ast.Call):
        name, operands = ast.unparse(node.func), node.args
    elif isinstance(node, ast.BinOp):
        name, operands = OPERATORS[type(node.op)], [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        name, operands = "negative", [node.operand]
    else:
        name, operands = "", []
    last = _power if name == "pow" else LIBRARY.get(name) or ARRAY.get(name) or getattr(np, name, None)
    if not isinstance(last, np.ufunc) and last is not _power:
        return None, 2
    made = compile_text(
        f"last({', '.join(map(ast.unparse, operands))}, out=out)",
        ARRAY | {"last": last},
        ", ".join(["out", *names]) + "=None",
    )
    return made, 1 + sum(not isinstance(operand, (ast.Name, ast.Constant)) for operand in operands)


def _power(x: Any, y: Any, out: np.ndarray) -> Any:
    return np.multiply(x, x, out=out) if type(y) is not np.ndarray and y == 2 else np.power(x, y, out=out)
