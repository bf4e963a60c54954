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
_COUNTS = sys.version_info < (3, 14)  # whether Python counts each variable that refers to an object
# references to an adjoint: the sweep's, those of the variables of three functions, spare's own, and its question
_STEPS = 6


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


def spare(array: Any) -> Any:
    """An array of the pool's whose memory a step of a sweep may overwrite, since nothing but our callers refers to it:
    it counts their variables. None for others.
    """
    raw = getattr(array, "base", None)
    if not _COUNTS or sys.getrefcount(array) > _STEPS or all(raw is not known for known in _pool):
        return None
    return array if sys.getrefcount(raw) <= _FREE + 1 else None


def accumulate(total: np.ndarray, share: Any) -> np.ndarray:
    """``total + share``, in memory of the pool: that of ``total`` where that is spare."""
    if getattr(share, "dtype", None) is not total.dtype:
        return total + share
    out = spare(total)
    return np.add(total, share, out=buffer(total.shape, total.dtype) if out is None else out)


@functools.cache
def slices(count: int, block: int = BLOCK) -> list[slice]:
    """Blocks of nearly the same size: a function may treat a small one otherwise."""
    parts = -(-count // block)
    ends = [count * k // parts for k in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def by_formula(text: str, names: str, plain: Callable) -> Callable:
    """``plain``, which computes a formula of arguments called ``names``, for large arrays block by block: into the
    memory of the argument ``over`` where that is spare.
    """
    read = names_in(text)
    if read <= {text}:  # an argument as it is
        return plain

    def run(*values: Any, over: Any = None, **attrs: Any) -> Any:
        out = spare(over)
        given = [value if name in read else None for value, name in zip(values, names, strict=False)]
        arrays = [v for v in given if type(v) is np.ndarray and any(v.strides)]
        like = arrays[0] if arrays else None
        if like is None or like.size < LARGE or like.dtype.kind != "f" or like.dtype.itemsize < 4:
            return plain(*values, **attrs)
        if any(a.shape != like.shape or not a.flags.c_contiguous for a in arrays):
            return plain(*values, **attrs)
        if any(getattr(v, "dtype", like.dtype) != like.dtype for v in given):
            return plain(*values, **attrs)
        # of an array that is one number everywhere that number
        flat = [v if type(v) is not np.ndarray else v.reshape(-1) if any(v.strides) else v.flat[0] for v in given]
        if out is None or out.shape != like.shape:
            out = buffer(like.shape, like.dtype)
        whole, (into, steps) = out.reshape(-1), _into(text, names)
        for part in slices(out.size, BLOCK if steps > 1 else out.size):
            parts = [v[part] if type(v) is np.ndarray else v for v in flat]
            if into is None:
                whole[part] = plain(*parts, **attrs)
            else:
                into(whole[part], *parts)
        return out

    return run


@functools.cache
def _into(text: str, names: str) -> tuple[Callable | None, int]:
    """A formula as a function that takes the array for its result and then its arguments, where the last step of it is
    NumPy's; and how many steps it has.
    """
    from ..engine.table.primitives.formula import ARRAY, LIBRARY

    node: Any = parse(text)
    if isinstance(node, ast.Call):
        name, operands = ast.unparse(node.func), node.args
    elif isinstance(node, ast.BinOp):
        name, operands = OPERATORS[type(node.op)], [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        name, operands = "negative", [node.operand]
    else:
        name, operands = "", []
    # NumPy's own: of some names ARRAY has a function around it, which takes no `out`
    last = _power if name == "pow" else LIBRARY.get(name) or getattr(np, name, None) or ARRAY.get(name)
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
